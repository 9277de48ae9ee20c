// A row of which only the values that are not zero are given.
//
// Features are numbered in the order in which learned rows had them first (feature_slots.hpp): frequent features come early,
// so that their weights lie together in the cache, and memory grows with the features seen and not with the width.
#pragma once

#include <cstdint>

namespace thalweg::THALWEG_LEVEL {

struct SparseRow {
  const int32_t *slots = nullptr;
  const double *values = nullptr;
  int64_t count = 0;
  // Features that no learned row had, by the number that the caller gave them.
  const int64_t *unseen = nullptr;
  const double *unseen_values = nullptr;
  int64_t unseen_count = 0;

  // Of all values; negative where nobody has asked yet.
  mutable double square = -1;

  double squared_norm() const {
    if (square >= 0) return square;
    double sums[4] = {};  // that do not wait for one another
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
      for (int k = 0; k < 4; k++) sums[k] += values[i + k] * values[i + k];
    for (; i < count; i++) sums[0] += values[i] * values[i];
    return square = (sums[0] + sums[1]) + (sums[2] + sums[3]) + unseen_square();
  }
  double unseen_square() const {
    double sum = 0;
    for (int64_t i = 0; i < unseen_count; i++) sum += unseen_values[i] * unseen_values[i];
    return sum;
  }
  // The same features with other values.
  SparseRow with(const double *others) const {
    SparseRow row = *this;
    row.values = others;
    row.square = -1;
    return row;
  }
};

// A row as a learner takes it: p numbers, or a sparse row where it was made for 0 features. Learners made of others pass it on
// as it is. Whoever reads one kind as the other gets a null pointer.
class RowView {
 public:
  RowView(const double *numbers) : numbers_(numbers) {}   // NOLINT: p numbers are a row
  RowView(const SparseRow &sparse) : sparse_(&sparse) {}  // NOLINT
  operator const double *() const { return numbers_; }    // NOLINT
  const SparseRow &sparse() const { return *sparse_; }

 private:
  const double *numbers_ = nullptr;
  const SparseRow *sparse_ = nullptr;
};

}  // namespace thalweg::THALWEG_LEVEL
