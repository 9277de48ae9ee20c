// Rows at unit scale, by the running mean and variance of each feature; a feature that has never moved is zero.
#pragma once

#include <algorithm>
#include <cmath>

#include "running_variance.hpp"
#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

class RowScaling {
 public:
  explicit RowScaling(int64_t features) : p(features), moments(p, RunningVariance::kLongRun, true), factor(p) {}

  void scale(const double *x, double *to) const {
    for (int64_t j = 0; j < p; j++) to[j] = std::clamp(factor[j] * (x[j] - moments.mean[j]), -kFarthest, kFarthest);
  }
  void learn(const double *x, double weight) {
    moments.learn(x, p, weight);
    measure();
  }
  void forget() {
    moments.forget();
    measure();
  }
  void visit(State &state) {
    state.real("scaler_rows", moments.rows);
    state.matrix("scaler_mean", moments.mean, 1, p, p);
    state.matrix("scaler_variance", moments.variance, 1, p, p);
    if (!(moments.rows >= 0)) throw BadState("scaler_rows");
    for (int64_t j = 0; j < p; j++)
      if (!std::isfinite(moments.mean[j]) || !(moments.variance[j] >= 0)) throw BadState("scaler_variance");
    measure();
  }

 private:
  static constexpr double kFarthest = RunningVariance::kFarthest;

  void measure() {
    for (int64_t j = 0; j < p; j++) factor[j] = moments.variance[j] > 1e-200 ? 1 / std::sqrt(moments.variance[j]) : 0;
  }

  int64_t p;
  RunningVariance moments;
  Buffer factor;
};

}  // namespace thalweg::THALWEG_LEVEL
