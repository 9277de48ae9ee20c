// A step size for each feature (AdaGrad: Duchi, Hazan & Singer 2011): eta / sqrt(g + G_j), where G_j sums the squared
// gradients of feature j from `initial` g on, so that a rare feature still takes large steps when frequent ones have settled.
// With forgetting, G fades: what the gradients were long ago no longer holds the steps down.
//
// O(1) for each value that is not zero, an inverse square root among it.
#pragma once

#include "linear/weights.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class Weights> class FeatureSteps {
 public:
  using Row = typename Weights::Row;

  FeatureSteps(const Weights &weights, double forgetting, double initial = 1)
      : keep_(1 - forgetting), initial_(initial) {
    if constexpr (!Weights::kSparse) {
      squares_.assign(weights.stride(), 0.0);
      scaled_.assign(weights.stride(), 0.0);
    }
  }

  // Takes in the gradients of a row, whose squares are `square` times those of its values. Returns x'Sx, S the steps at rate 1.
  double learn(Row x, double square) {
    if (keep_ < 1) fade();
    const double grown = square / unit_;
    bias_square_ += grown;
    bias_step_ = 1 / std::sqrt(initial_ + unit_ * bias_square_);
    double sum = bias_step_;
    if constexpr (Weights::kSparse) {
      if (int64_t(scaled_.size()) < x.count) scaled_.resize(x.count);
      // In three loops, of which the roots and quotients are computed side by side.
      const double unit = unit_, initial = initial_, *__restrict values = x.values;
      double *__restrict scaled = scaled_.data();
      for (int64_t i = 0; i < x.count; i++) {
        double &total = squares_[x.slots[i]];
        scaled[i] = total += grown * values[i] * values[i];
      }
      for (int64_t i = 0; i < x.count; i++) scaled[i] = values[i] / std::sqrt(initial + unit * scaled[i]);
      sum = add_products(sum, scaled, values, x.count);
      row_ = x.with(scaled_.data());
    } else {
      for (int64_t j = 0; j < int64_t(squares_.size()); j++) {
        squares_[j] += grown * x[j] * x[j];
        scaled_[j] = x[j] / std::sqrt(initial_ + unit_ * squares_[j]);
        sum += scaled_[j] * x[j];
      }
    }
    return sum;
  }
  // S x, and the step of the constant.
  Row scaled() const {
    if constexpr (Weights::kSparse) return row_;
    else return scaled_.data();
  }
  double bias_step() const { return bias_step_; }

  void appear(int64_t count) { squares_.resize(squares_.size() + count); }
  void clear() {
    squares_.fill(0);
    bias_square_ = 0;
    unit_ = 1;
  }
  void visit(State &state, int64_t features) {
    state.matrix("squares", squares_, 1, features, int64_t(squares_.size()), amount);
    state.real("bias_square", bias_square_, amount);
    state.real("squares_unit", unit_, [](double u) { return u > 0 && u <= 1; });
  }

 private:
  // In the order of the values, each product fused with its sum where the processor can: as in one loop with the above.
  THALWEG_NOINLINE THALWEG_NO_VECTORIZE static double add_products(double sum, const double *a, const double *b,
                                                                   int64_t count) {
    for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
  }
  void fade() {
    unit_ *= keep_;
    if (unit_ > 1e-60) return;
    for (double &square : squares_) square *= unit_;
    bias_square_ *= unit_;
    unit_ = 1;
  }

  double keep_, initial_, unit_ = 1;  // G is `unit_` times what is kept of it: all of it fades at once
  double bias_square_ = 0, bias_step_ = 1;
  Buffer squares_, scaled_;
  SparseRow row_;  // of sparse rows: with values times steps
};

}  // namespace thalweg::THALWEG_LEVEL
