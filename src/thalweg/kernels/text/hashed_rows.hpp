// Texts as sparse rows: the n-grams of each, hashed and counted.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "text/hashing.hpp"

namespace thalweg::THALWEG_LEVEL {

enum class Norm { none, l1, l2 };

// Rows in the CSR layout, with sorted indices and one value for each index of a row.
class HashedRows {
 public:
  HashedRows(int bits, bool is_signed, Norm norm) : bits_(bits), space_(bits), signed_(is_signed), norm_(norm) {}

  std::vector<int64_t> indptr{0};
  std::vector<int32_t> indices;
  std::vector<double> values;

  void add(const uint8_t *bytes, std::size_t size) {
    const int32_t hash = murmur_hash(bytes, size);
    keys_.push_back(space_.index(hash) << 1 | (signed_ && HashSpace::negative(hash)));
  }

  void end_row() {
    sort_keys();
    const std::size_t start = indices.size();
    indices.resize(start + keys_.size());
    values.resize(start + keys_.size());
    int32_t *index = indices.data() + start;
    double *value = values.data() + start, total = 0;
    for (std::size_t i = 0; i < keys_.size(); index++, value++) {
      *index = int32_t(keys_[i] >> 1);
      int64_t count = 0;
      for (; i < keys_.size() && int32_t(keys_[i] >> 1) == *index; i++) count += keys_[i] & 1 ? -1 : 1;
      *value = double(count);
      total += norm_ == Norm::l2 ? *value * *value : std::fabs(*value);
    }
    indices.resize(index - indices.data());
    values.resize(indices.size());
    keys_.clear();
    if (norm_ == Norm::l2) total = std::sqrt(total);
    if (norm_ != Norm::none && total > 0)
      for (std::size_t i = indptr.back(); i < values.size(); i++) values[i] /= total;
    indptr.push_back(int64_t(indices.size()));
  }

 private:
  // Without a branch that depends on the keys, unlike a sort by comparison, which mispredicts most of them.
  void sort_keys() {
    sorted_.resize(keys_.size());
    if (keys_.size() <= kFew) return sort_few();
    // By bytes, lowest first.
    for (int shift = 0; shift <= bits_; shift += 8) {
      uint32_t places[257] = {};
      for (const uint32_t key : keys_) places[(key >> shift & 0xff) + 1]++;
      for (int i = 0; i < 256; i++) places[i + 1] += places[i];
      for (const uint32_t key : keys_) sorted_[places[key >> shift & 0xff]++] = key;
      keys_.swap(sorted_);
    }
  }

  // Each key to the place that the number of smaller ones gives it.
  void sort_few() {
    uint32_t all[kFew];
    std::fill(std::copy(keys_.begin(), keys_.end(), all), all + kFew, ~uint32_t(0));
    for (std::size_t i = 0; i < keys_.size(); i++) {
      const uint32_t own = all[i];
      uint32_t smaller = 0, before = 0;
      for (std::size_t j = 0; j < kFew; j++) smaller += all[j] < own;
      for (std::size_t j = 0; j < i; j++) before += all[j] == own;
      sorted_[smaller + before] = own;
    }
    keys_.swap(sorted_);
  }

  static constexpr std::size_t kFew = 48;
  int bits_;
  HashSpace space_;
  bool signed_;
  Norm norm_;
  std::vector<uint32_t> keys_, sorted_;  // index and sign (the lowest bit) of each n-gram of the row at hand
};

}  // namespace thalweg::THALWEG_LEVEL
