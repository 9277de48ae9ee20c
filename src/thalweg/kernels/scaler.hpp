// Every feature relative to its running mean and standard deviation (Welford 1962), the last rows weighing more where it
// forgets. O(p) a row.
#pragma once

#include "transformer.hpp"

namespace thalweg::THALWEG_LEVEL {

struct ScalerOptions {
  bool with_mean, with_std;
  double forgetting, clip;
};

class Scaler final : public Transformer {
 public:
  Scaler(int64_t p, const ScalerOptions &options)
      : Transformer(p, p), options(options), mean(p, 0.0), variance(p, 0.0) {}

  void transform(const double *X, int64_t count, double *out) const override {
    const int64_t p = features();
    Scratch room(2 * p);
    double *centre = room.data(), *factor = centre + p;
    for (int64_t j = 0; j < p; j++) {
      centre[j] = options.with_mean ? mean[j] : 0;
      factor[j] = factor_of(j);
    }
    for (int64_t i = 0; i < count; i++)
      for (int64_t j = 0; j < p; j++)
        out[i * p + j] = std::clamp(factor[j] * (X[i * p + j] - centre[j]), -options.clip, options.clip);
  }

  // A row that counts c times is c copies of it, ours.
  void learn(const double *x, double times) override {
    rows += times;
    const double gain = std::max(times / rows, repeated(options.forgetting, times));
    for (int64_t j = 0; j < features(); j++) {
      const double d = x[j] - mean[j];
      mean[j] += gain * d;
      variance[j] = (1 - gain) * (variance[j] + gain * d * d);
    }
  }

  void forget() override {
    rows = 0;
    std::fill(mean.begin(), mean.end(), 0.0);
    std::fill(variance.begin(), variance.end(), 0.0);
  }

  void visit(State &state) override {
    state.real("rows", rows);
    state.matrix("mean", mean, 1, features(), features());
    state.matrix("variance", variance, 1, features(), features());
    if (!(rows >= 0 && rows < 1e300)) throw BadState("rows");
    for (double m : mean)
      if (!std::isfinite(m)) throw BadState("mean");
    for (double v : variance)
      if (!(v >= 0 && std::isfinite(v))) throw BadState("variance");
  }

 private:
  // Rounding alone moves a feature by this share of its mean.
  static constexpr double kRounding = 8 * 2.220446049250313e-16;

  // A feature that has never moved tells nothing: it is its mean, which is 0, or itself where the mean stays in.
  double factor_of(int64_t j) const {
    if (rows == 0 && options.with_mean) return 0;  // any row would be its own mean
    if (!options.with_std) return 1;
    const double deviation = std::sqrt(variance[j]);
    if (deviation > kRounding * std::fabs(mean[j]) && deviation > kLeast) return 1 / deviation;
    return options.with_mean ? 0 : 1;
  }
  static constexpr double kLeast = 1e-150;

  ScalerOptions options;
  Buffer mean, variance;
  double rows = 0;
};

}  // namespace thalweg::THALWEG_LEVEL
