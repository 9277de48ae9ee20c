// Sets of classes that hold the true one in a given share of the rows, whatever the stream does.
//
// A class is in the set where its score, the log-odds against it, is at most a threshold q. A miss raises q by (1 - a) step, a
// hit lowers it by a step, with a = 1 - coverage: q <- q + step (1[miss] - a). As scores are bounded so is q, and the share of
// misses over T judged rows differs from a by at most (range of q) / (step T), for any sequence at all (Angelopoulos, Candès &
// Tibshirani 2023, "quantile tracking"; Gibbs & Candès 2021 move a instead of q).
#pragma once

#include <limits>

#include "decisions/wrapper.hpp"

namespace thalweg::THALWEG_LEVEL {

class PredictionSets final : public Wrapper {
 public:
  PredictionSets(const Learner &inner, double coverage, double stride, int64_t delay)
      : Wrapper(inner, delay), misses(1 - coverage), stride(stride), threshold(start()) {
    traits_.decides = inner.traits().decides;
  }
  Learner *copy() const override { return new PredictionSets(*this); }

  int64_t answer(RowView x) const override { return inside().answer(x); }
  double least_in_set() const override {
    if (threshold >= log_odds(1)) return std::numeric_limits<double>::lowest();
    return threshold < log_odds(0) ? __builtin_inf() : -std::log1p(std::exp(threshold));
  }

 protected:
  int64_t decide(const double *, int64_t answer_inside) const override { return answer_inside; }
  // A late label counts half by the set that was given and half by the one that would be: the first alone moves the threshold
  // on before its effect is known, the second alone never learns of misses that come in series.
  void judge(const double *p, int64_t k, double weight, double limit_then) override {
    const double score = -log_odds(p[k]);
    const double missed = seen(k) ? 0.5 * (score > threshold) + 0.5 * (score > limit_then) : 1;
    threshold = std::clamp(threshold + stride * weight * (missed - misses), -kFarthest, kFarthest);
  }
  double limit() const override { return threshold; }
  void make_room(int64_t) override {}
  void forget_own() override { threshold = start(); }
  void visit_own(State &state) override { state.real("threshold", threshold, within(-kFarthest, kFarthest)); }

 private:
  static constexpr double kFarthest = 15;  // beyond every score
  // Where calibrated probabilities of two classes would have it.
  double start() const { return log_odds(1 - misses); }

  double misses, stride, threshold;
};

}  // namespace thalweg::THALWEG_LEVEL
