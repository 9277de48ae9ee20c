// Which slot each feature of a sparse stream has: a number in the order of arrival.
//
// Numbers below 2^22 are looked up in a table, which reaches to the largest one seen and takes at most 16 MB; greater ones in
// a hash table with open addressing, at most half full. O(1) a value; 8 bytes for each feature seen beside the table, 40 to
// 72 in the hash table.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "linear_algebra/buffer.hpp"
#include "rows/sparse_row.hpp"

namespace thalweg::THALWEG_LEVEL {

class FeatureSlots {
 public:
  int64_t size() const { return int64_t(ids_.size()); }
  const std::vector<int64_t> &ids() const { return ids_; }

  // -1 where the feature has none.
  THALWEG_INLINE int32_t find(int64_t id) const {
    if (uint64_t(id) < small_.size()) return small_[id] - 1;
    return id < kSmall ? -1 : hashed_[place_of(id)].slot;
  }
  THALWEG_INLINE int32_t find_or_add(int64_t id) {
    const int32_t slot = find(id);
    return slot >= 0 ? slot : add(id);
  }

  // The slots of features in rising order, where all have one and their numbers are small; false where not all do. The values
  // of the row, which are read next, are fetched on the way.
  template <class Index>
  bool find_all(const Index *ids, const double *values, int64_t count, int32_t *__restrict slots) const {
    if (count == 0) return true;
    if (uint64_t(ids[count - 1]) >= small_.size()) return false;
    const int32_t *__restrict table = small_.data();
    int32_t none = 0;  // negative where one has none
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
      __builtin_prefetch(values + i);
      __builtin_prefetch(values + i + 8);
      for (int k = 0; k < 16; k++) none |= slots[i + k] = table[ids[i + k]] - 1;
    }
    for (; i < count; i++) none |= slots[i] = table[ids[i]] - 1;
    return none >= 0;
  }

  // The features in the order of their slots; false where they cannot be that.
  bool restore(const std::vector<int64_t> &ids) {
    *this = FeatureSlots();
    for (int64_t id : ids)
      if (id < 0 || find_or_add(id) != int64_t(ids_.size()) - 1) return false;
    return ids_.size() == ids.size();
  }

 private:
  struct Entry {
    int64_t id = 0;
    int32_t slot = -1;
  };

  // Where it is, or where it would come.
  std::size_t place_of(int64_t id) const {
    std::size_t at = uint64_t(id) * 0x9e3779b97f4a7c15ull >> shift_;
    while (hashed_[at].slot >= 0 && hashed_[at].id != id) at = (at + 1) & (hashed_.size() - 1);
    return at;
  }
  THALWEG_NOINLINE int32_t add(int64_t id) {
    if (ids_.size() >= std::size_t(INT32_MAX)) throw std::length_error("more than 2^31 - 1 different features");
    const auto slot = int32_t(ids_.size());
    ids_.push_back(id);
    if (id < kSmall) {
      if (id >= int64_t(small_.size())) small_.resize(std::min(kSmall, std::max(id + 1, 2 * int64_t(small_.size()))));
      small_[id] = slot + 1;
      return slot;
    }
    if (2 * ++large_ > hashed_.size()) {
      shift_--;
      std::vector<Entry> fewer = std::move(hashed_);
      hashed_.assign(2 * fewer.size(), Entry());
      for (const Entry &entry : fewer)
        if (entry.slot >= 0) hashed_[place_of(entry.id)] = entry;
    }
    hashed_[place_of(id)] = {id, slot};
    return slot;
  }

  static constexpr int64_t kSmall = int64_t(1) << 22;
  int shift_ = 60;
  std::size_t large_ = 0;
  std::vector<int32_t> small_;  // one more than the slot; 0: none
  std::vector<Entry> hashed_ = std::vector<Entry>(16);
  std::vector<int64_t> ids_;  // of each slot
};

// Room for a row with slots in place of the numbers of its features.
class SparseRoom {
 public:
  // `count` values of a row, their features in rising order. A feature without a slot is one that no learned row had; of a row
  // to be learned, whose slots are not constant, it gets one.
  template <class Slots, class Index>
  const SparseRow &read(Slots &features, const Index *ids, const double *values, int64_t count) {
    if (int64_t(slots_.size()) < count) slots_.resize(count);
    row_ = {slots_.data(), values, count, nullptr, nullptr, 0};
    if (features.find_all(ids, values, count, slots_.data())) return row_;  // most rows: nothing is new
    values_.clear();
    unseen_.clear();
    unseen_values_.clear();
    for (int64_t i = 0; i < count; i++) {
      int32_t slot;
      if constexpr (std::is_const_v<Slots>) slot = features.find(ids[i]);
      else slot = features.find_or_add(ids[i]);
      if (slot >= 0) {
        slots_[values_.size()] = slot;
        values_.push_back(values[i]);
      } else {
        unseen_.push_back(ids[i]);
        unseen_values_.push_back(values[i]);
      }
    }
    row_ = {slots_.data(),  values_.data(),        int64_t(values_.size()),
            unseen_.data(), unseen_values_.data(), int64_t(unseen_.size())};
    return row_;
  }

 private:
  std::vector<int32_t> slots_;
  std::vector<double> values_, unseen_values_;
  std::vector<int64_t> unseen_;
  SparseRow row_;
};

}  // namespace thalweg::THALWEG_LEVEL
