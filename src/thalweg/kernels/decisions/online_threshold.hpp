// A threshold on the probability of one class, the positive one, that follows the stream.
//
// Fading histograms of the log-odds of that probability, one of the positive rows and one of the others, say for every
// threshold what it would have done recently; after each row the best one is taken anew. O(kBins) a row.
#pragma once

#include "decisions/wrapper.hpp"

namespace thalweg::THALWEG_LEVEL {

struct ThresholdOptions {
  enum Objective : int64_t { kF1 = 0, kCost = 1, kRecall = 2, kAlerts = 3 };
  Objective objective = kF1;
  double target = 0;                              // share of the positive rows (recall), or of all rows (alerts)
  double false_positive = 1, false_negative = 1;  // costs
  double memory = 5000;                           // rows
};

class OnlineThreshold final : public Decider {
 public:
  // The positive class: an index, the last class seen, or one that is not known yet.
  static constexpr int64_t kLast = -1, kUnknown = -2;

  OnlineThreshold(const Learner &inner, ThresholdOptions options, int64_t delay)
      : Decider(inner, delay), options(options), histograms(2 * kBins) {}
  Learner *copy() const override { return new OnlineThreshold(*this); }

  void set_positive(int64_t index) { chosen = index; }

  // In log-odds; NaN where there is nothing to go by yet.
  double threshold() const { return positive() >= 0 && positive() == watched ? threshold_ : std::nan(""); }
  int64_t positive() const {
    if (chosen != kLast) return chosen >= 0 && seen(chosen) ? chosen : kUnknown;
    for (int64_t c = classes() - 1; c >= 0; c--)
      if (seen(c)) return c;
    return kUnknown;
  }

 protected:
  int64_t decide(const double *p, int64_t) const override {
    const double limit = threshold();
    if (std::isnan(limit)) return highest_seen(p);
    const int64_t one = positive();
    if (log_odds(p[one]) >= limit) return one;
    int64_t best = -1;
    for (int64_t c = 0; c < classes(); c++)
      if (c != one && seen(c) && (best < 0 || p[c] > p[best])) best = c;
    return best < 0 ? one : best;
  }
  void judge(const double *p, int64_t k, double weight, double) override {
    const int64_t one = positive();
    if (one < 0) return;
    if (one != watched) {
      forget_own();
      watched = one;
    }
    unit /= 1 - 1 / options.memory;
    const double at = (log_odds(p[one]) + kFarthest) / kWidth;
    histograms[(k == one) * kBins + std::clamp<int64_t>(int64_t(at), 0, kBins - 1)] += weight * unit;
    if (unit >= kLargestUnit) {
      for (double &count : histograms) count /= unit;
      unit = 1;
    }
    choose();
  }
  void make_room(int64_t at) override {
    for (int64_t *index : {&chosen, &watched})
      if (*index >= at) ++*index;
  }
  void forget_own() override {
    watched = kUnknown;
    unit = 1;
    threshold_ = std::nan("");
    histograms.fill(0);
  }
  void visit_own(State &state) override {
    for (auto [name, index] : {std::pair("chosen", &chosen), {"watched", &watched}})
      state.integer(name, *index, within(kUnknown, classes() - 1));
    state.real("unit", unit, within(1.0, kLargestUnit));
    state.matrix("histograms", histograms, 2, kBins, kBins, amount);
    choose();
  }

 private:
  static constexpr int64_t kBins = 80;
  static constexpr double kFarthest = 10, kWidth = 2 * kFarthest / kBins, kLargestUnit = 1e100;

  // Bins from the top: what lies at or above the lower edge of each would be flagged.
  void choose() {
    double positives = 0, others = 0;
    for (int64_t b = 0; b < kBins; b++) others += histograms[b], positives += histograms[kBins + b];
    threshold_ = std::nan("");
    const bool by_alerts = options.objective == ThresholdOptions::kAlerts;
    if (by_alerts ? !(positives + others > 0) : !(positives > 0 && others > 0)) return;
    double found = 0, wrong = 0, best = -__builtin_inf();
    for (int64_t b = kBins; b >= 0; b--) {
      const double edge = b * kWidth - kFarthest;
      if (b < kBins) {
        const double hits = histograms[kBins + b], misses = histograms[b];
        const double wanted =
            by_alerts ? options.target * (positives + others) - found - wrong : options.target * positives - found;
        const double here = by_alerts ? hits + misses : hits;
        if (options.objective >= ThresholdOptions::kRecall && here >= wanted && here > 0) {
          threshold_ = edge + kWidth * (1 - std::clamp(wanted / here, 0.0, 1.0));
          return;
        }
        found += hits;
        wrong += misses;
      }
      const double value = options.objective == ThresholdOptions::kF1
                               ? 2 * found / (found + wrong + positives)
                               : -options.false_positive * wrong - options.false_negative * (positives - found);
      if (value > best) {
        best = value;
        threshold_ = edge;
      }
    }
  }

  ThresholdOptions options;
  int64_t chosen = kLast, watched = kUnknown;
  double unit = 1, threshold_ = std::nan("");
  Buffer histograms;
};

}  // namespace thalweg::THALWEG_LEVEL
