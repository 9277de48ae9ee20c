// The first columns of sparse rows, where they are dense.
#pragma once

#include "rows/sparse_row.hpp"

namespace thalweg::THALWEG_LEVEL {

class DensePart {
 public:
  explicit DensePart(int64_t columns) : columns_(columns) {}

  int64_t columns() const { return columns_; }
  void appear(const int64_t *ids, int64_t count) {
    for (int64_t i = 0; i < count; i++) of_slot_.push_back(ids[i] < columns_ ? ids[i] : -1);
  }
  bool holds(int64_t slot) const { return of_slot_[slot] >= 0; }
  // All dense columns of a row; 0 where it gives none.
  void read(const SparseRow &row, double *to) const {
    std::fill_n(to, columns_, 0.0);
    for (int64_t i = 0; i < row.count; i++)
      if (holds(row.slots[i])) to[of_slot_[row.slots[i]]] = row.values[i];
    for (int64_t i = 0; i < row.unseen_count; i++)
      if (row.unseen[i] < columns_) to[row.unseen[i]] = row.unseen_values[i];
  }

 private:
  int64_t columns_;
  std::vector<int64_t> of_slot_;  // the column of each slot; -1: it is not dense
};

}  // namespace thalweg::THALWEG_LEVEL
