// Every feature relative to its running mean and standard deviation (Welford 1962), the last rows weighing more where it
// forgets. O(p) a row.
#pragma once

#include "running_variance.hpp"
#include "transform/transformer.hpp"

namespace thalweg::THALWEG_LEVEL {

struct ScalerOptions {
  bool with_mean, with_std;
  double forgetting, clip;
  bool robust;
};

class Scaler final : public Transformer {
 public:
  Scaler(int64_t p, const ScalerOptions &options)
      : Transformer(p, p), options(options), moments(p, options.forgetting, options.robust) {}

  void transform(const double *X, int64_t count, double *out) const override {
    const int64_t p = features();
    Scratch room(2 * p);
    double *centre = room.data(), *factor = centre + p;
    for (int64_t j = 0; j < p; j++) {
      centre[j] = options.with_mean ? moments.mean[j] : 0;
      factor[j] = factor_of(j);
    }
    for (int64_t i = 0; i < count; i++)
      for (int64_t j = 0; j < p; j++)
        out[i * p + j] = std::clamp(factor[j] * (X[i * p + j] - centre[j]), -options.clip, options.clip);
  }

  void learn(const double *x, double times) override { moments.learn(x, features(), times); }
  void forget() override { moments.forget(); }

  void visit(State &state) override {
    state.real("rows", moments.rows, within(0.0, 1e300));
    state.matrix("mean", moments.mean, 1, features(), features(), finite);
    state.matrix("variance", moments.variance, 1, features(), features(), amount);
  }

 private:
  // Rounding alone moves a feature by this share of its mean.
  static constexpr double kRounding = 8 * 2.220446049250313e-16;

  // A feature that has never moved tells nothing: it is its mean, which is 0, or itself where the mean stays in.
  double factor_of(int64_t j) const {
    if (moments.rows == 0 && options.with_mean) return 0;  // any row would be its own mean
    if (!options.with_std) return 1;
    const double deviation = std::sqrt(moments.variance[j]);
    if (deviation > kRounding * std::fabs(moments.mean[j]) && deviation > kLeast) return 1 / deviation;
    return options.with_mean ? 0 : 1;
  }
  static constexpr double kLeast = 1e-150;

  ScalerOptions options;
  RunningVariance moments;
};

}  // namespace thalweg::THALWEG_LEVEL
