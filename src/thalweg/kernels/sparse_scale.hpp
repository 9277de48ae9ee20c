// The scale of each feature of sparse rows: the root mean square of its values that are not zero, over all rows at first and
// over some number of them later. Nothing is centred, so zeros stay zeros, and a rare feature is as large as a common one.
//
// O(1) for each value; two numbers for each feature seen.
#pragma once

#include <algorithm>
#include <cmath>

#include "linear_algebra/buffer.hpp"
#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

class SparseScale {
 public:
  explicit SparseScale(double most_rows) : most_rows_(most_rows) {}

  void appear(const int64_t *, int64_t count) {
    counts.resize(counts.size() + count);
    squares.resize(squares.size() + count);
  }
  void learn(int64_t slot, double value, double weight) {
    if (value == 0) return;
    double &count = counts[slot], &square = squares[slot];
    count = std::min(count + weight, most_rows_);
    if (count > 0) square += std::min(1.0, weight / count) * (value * value - square);
  }
  double scaled(int64_t slot, double value) const {
    return squares[slot] > 0 ? value / std::sqrt(squares[slot]) : scaled_unseen(value);
  }
  // A value that its feature has for the first time is 1 or -1.
  static double scaled_unseen(double value) { return double(value > 0) - double(value < 0); }

  // The slots stay.
  void forget() {
    counts.fill(0);
    squares.fill(0);
  }
  void visit(State &state) {
    const auto slots = int64_t(counts.size());
    state.matrix("scaler_counts", counts, 1, slots, slots);
    state.matrix("scaler_squares", squares, 1, slots, slots);
    for (const Buffer *values : {&counts, &squares})
      for (double value : *values)
        if (!(value >= 0 && std::isfinite(value))) throw BadState("scaler_squares");
  }

 private:
  double most_rows_;
  Buffer counts, squares;  // of each feature: rows that had it, and their mean square
};

}  // namespace thalweg::THALWEG_LEVEL
