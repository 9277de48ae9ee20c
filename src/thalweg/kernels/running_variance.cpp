#include "running_variance.hpp"

#include <algorithm>
#include <cmath>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

void RunningVariance::learn(const double *x, int64_t features, double times) {
  rows += times;
  const double gain = std::max(times / rows, repeated(forgetting_, times));
  const bool cut = cut_ && rows > kTrusted;
  for (int64_t j = 0; j < features; j++) {
    double d = x[j] - mean[j];
    if (cut && variance[j] > 0) {
      const double most = kFarthest * std::sqrt(variance[j]);
      d = std::clamp(d, -most, most);
    }
    mean[j] += gain * d;
    variance[j] = (1 - gain) * (variance[j] + gain * d * d);
  }
}

void RunningVariance::forget() {
  rows = 0;
  mean.fill(0);
  variance.fill(0);
}

}  // namespace thalweg::THALWEG_LEVEL
