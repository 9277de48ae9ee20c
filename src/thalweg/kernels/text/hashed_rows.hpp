// Texts as sparse rows: the n-grams of each, hashed and counted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "text/hashing.hpp"

namespace thalweg::THALWEG_LEVEL {

enum class Norm { none, l1, l2 };

// Rows in the CSR layout, with sorted indices and one value for each index of a row.
class HashedRows {
 public:
  HashedRows(int bits, bool is_signed, Norm norm) : space_(bits), signed_(is_signed), norm_(norm) {}

  std::vector<int64_t> indptr{0};
  std::vector<int32_t> indices;
  std::vector<double> values;

  void add(const uint8_t *bytes, std::size_t size) {
    const int32_t hash = murmur_hash(bytes, size);
    keys_.push_back(space_.index(hash) << 1 | (signed_ && HashSpace::negative(hash)));
  }

  void end_row() {
    std::sort(keys_.begin(), keys_.end());
    double total = 0;
    for (std::size_t i = 0; i < keys_.size();) {
      const uint32_t index = keys_[i] >> 1;
      int64_t value = 0;
      for (; i < keys_.size() && keys_[i] >> 1 == index; i++) value += keys_[i] & 1 ? -1 : 1;
      indices.push_back(int32_t(index));
      values.push_back(double(value));
      total += norm_ == Norm::l2 ? double(value) * double(value) : std::fabs(double(value));
    }
    keys_.clear();
    if (norm_ == Norm::l2) total = std::sqrt(total);
    if (norm_ != Norm::none && total > 0)
      for (std::size_t i = indptr.back(); i < values.size(); i++) values[i] /= total;
    indptr.push_back(int64_t(indices.size()));
  }

 private:
  HashSpace space_;
  bool signed_;
  Norm norm_;
  std::vector<uint32_t> keys_;  // index and sign of each n-gram of the row at hand
};

}  // namespace thalweg::THALWEG_LEVEL
