// The running mean and variance of each feature (Welford 1962): of all rows at first, later of the last 1 / forgetting.
#pragma once

#include "linear_algebra/buffer.hpp"

namespace thalweg::THALWEG_LEVEL {

class RunningVariance {
 public:
  // `cut`: deviations are cut at ten standard deviations, lest one wild value set the scale for good. `count`: the share of
  // values that are not zero is kept too. `trusted`: rows before a value can be wild.
  RunningVariance(int64_t size, double forgetting, bool cut, bool count = false, double trusted = kTrusted)
      : mean(size), variance(size), filled(count ? size : 0), forgetting_(forgetting), trusted_(trusted), cut_(cut) {}

  // A row that counts so many times is as many copies of it. The padding behind the features stays zero.
  void learn(const double *x, int64_t features, double times);
  void forget();

  Buffer mean, variance, filled;
  double rows = 0;

  static constexpr double kLongRun = 2e-4;  // a memory of 5,000 rows
  static constexpr double kFarthest = 10;   // standard deviations
  static constexpr double kTrusted = 4;

 private:
  double forgetting_, trusted_;
  bool cut_;
};

}  // namespace thalweg::THALWEG_LEVEL
