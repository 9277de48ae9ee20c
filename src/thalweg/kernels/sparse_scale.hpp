// The scale of each feature of sparse rows: the root mean square of its values that are not zero, over all rows at first and
// over some number of them later. Nothing is centred, so zeros stay zeros, and a rare feature is as large as a common one.
//
// `cut`: a value counts as at most ten times the root mean square before it, lest one wild value set the scale for good.
//
// O(1) for each value; two numbers for each feature seen.
#pragma once

#include "linear_algebra/buffer.hpp"
#include "rows/sparse_row.hpp"
#include "running_variance.hpp"
#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

class SparseScale {
 public:
  SparseScale(double most_rows, bool cut) : most_rows_(most_rows), cut_(cut) {}

  void appear(const int64_t *, int64_t count) {
    counts.resize(counts.size() + count);
    squares.resize(squares.size() + count);
  }
  void learn(int64_t slot, double value, double weight) {
    if (value == 0) return;
    double &count = counts[slot], &square = squares[slot];
    count = std::min(count + weight, most_rows_);
    double own = value * value;
    if (cut_ && count > RunningVariance::kTrusted)
      own = std::min(own, RunningVariance::kFarthest * RunningVariance::kFarthest * square);
    if (count > 0) square += std::min(1.0, weight / count) * (own - square);
  }
  double scaled(int64_t slot, double value) const {
    return squares[slot] > 0 ? value / std::sqrt(squares[slot]) : scaled_unseen(value);
  }
  // The same with the value itself in the mean: neither the second value of a feature is large because the first was small, nor a
  // wild one beyond the root of the count.
  double scaled_among(int64_t slot, double value) const {
    const double count = std::min(counts[slot] + 1, most_rows_), before = squares[slot];
    const double square = before + (value * value - before) / count;
    return square > 0 ? value / std::sqrt(square) : 0;
  }
  // `scaled_among` of each value of a row, whose features then `learn` them: side by side.
  void scale_and_learn(const SparseRow &x, double weight, double *__restrict out) {
    constexpr int64_t kTogether = 32;
    const double most = most_rows_,
                 farthest = cut_ ? RunningVariance::kFarthest * RunningVariance::kFarthest : __builtin_inf();
    for (int64_t begin = 0; begin < x.count; begin += kTogether) {
      const int64_t count = std::min(kTogether, x.count - begin);
      const int32_t *slots = x.slots + begin;
      const double *__restrict values = x.values + begin;
      double seen[kTogether], before[kTogether];
      for (int64_t i = 0; i < count; i++) {
        seen[i] = counts[slots[i]];
        before[i] = squares[slots[i]];
      }
      for (int64_t i = 0; i < count; i++) {
        const double value = values[i], own = value * value;
        const double among = before[i] + (value * value - before[i]) / std::min(seen[i] + 1, most);
        out[begin + i] = among > 0 ? value / std::sqrt(among) : 0;
        const double grown = std::min(seen[i] + weight, most);
        const double cut = grown > RunningVariance::kTrusted ? std::min(own, farthest * before[i]) : own;
        const double after = grown > 0 ? before[i] + std::min(1.0, weight / grown) * (cut - before[i]) : before[i];
        seen[i] = value == 0 ? seen[i] : grown;
        before[i] = value == 0 ? before[i] : after;
      }
      for (int64_t i = 0; i < count; i++) {
        counts[slots[i]] = seen[i];
        squares[slots[i]] = before[i];
      }
    }
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
    state.matrix("scaler_counts", counts, 1, slots, slots, amount);
    state.matrix("scaler_squares", squares, 1, slots, slots, amount);
  }

 private:
  double most_rows_;
  bool cut_;
  Buffer counts, squares;  // of each feature: rows that had it, and their mean square
};

}  // namespace thalweg::THALWEG_LEVEL
