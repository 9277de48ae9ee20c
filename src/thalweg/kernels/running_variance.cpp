#include "running_variance.hpp"

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace {

// Deviations whose square is below so many variances are not cut, and need no square root to know it.
constexpr double kNear = 0.99 * RunningVariance::kFarthest * RunningVariance::kFarthest;

THALWEG_NOINLINE double cut_deviation(double d, double variance) {
  if (!(variance > 0)) return d;
  const double most = RunningVariance::kFarthest * std::sqrt(variance);
  return std::clamp(d, -most, most);
}

}  // namespace

void RunningVariance::learn(const double *x, int64_t features, double times) {
  rows += times;
  const double gain = std::max(times / rows, repeated(forgetting_, times));
  const bool cut = cut_ && rows > trusted_;
  for (int64_t j = 0; j < features; j++) {
    double d = x[j] - mean[j];
    if (cut && d * d > kNear * variance[j]) d = cut_deviation(d, variance[j]);
    mean[j] += gain * d;
    variance[j] = (1 - gain) * (variance[j] + gain * d * d);
  }
  for (std::size_t j = 0; j < filled.size(); j++) filled[j] += gain * ((x[j] != 0) - filled[j]);
}

void RunningVariance::forget() {
  rows = 0;
  mean.fill(0);
  variance.fill(0);
  filled.fill(0);
}

}  // namespace thalweg::THALWEG_LEVEL
