// Rows at unit scale: every feature relative to its mean and standard deviation, of all rows at first and of some thousands of
// them later, so that a change of level or of units is followed. Rows far off count as less far; a feature that has never
// moved is zero.
//
// `sparse`: a feature that is mostly zero is scaled by the deviation it would have if its other values were as common, its
// variance over the share of values that are not zero; else a rare indicator would be as large as it is rare.
#pragma once

#include "running_variance.hpp"
#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

class RowScaling {
 public:
  explicit RowScaling(int64_t features, bool sparse = false)
      : p(features), sparse(sparse), moments(p, RunningVariance::kLongRun, true, sparse), factor(p) {}

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
  // Of a sparse scaling, the shares of values that are not zero.
  const double *filled() const { return moments.filled.data(); }
  void visit(State &state) {
    state.real("scaler_rows", moments.rows, not_negative);
    state.matrix("scaler_mean", moments.mean, 1, p, p, finite);
    state.matrix("scaler_variance", moments.variance, 1, p, p, not_negative);
    if (sparse) state.matrix("scaler_filled", moments.filled, 1, p, p, within(0.0, 1 + 1e-9));
    measure();
  }

 private:
  static constexpr double kFarthest = RunningVariance::kFarthest;

  void measure() {
    for (int64_t j = 0; j < p; j++) {
      const double variance = sparse ? moments.variance[j] / moments.filled[j] : moments.variance[j];
      factor[j] = moments.variance[j] > 1e-200 ? 1 / std::sqrt(variance) : 0;
    }
  }

  int64_t p;
  bool sparse;
  RunningVariance moments;
  Buffer factor;
};

}  // namespace thalweg::THALWEG_LEVEL
