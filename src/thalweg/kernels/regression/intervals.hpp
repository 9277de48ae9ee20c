// Intervals around answers that hold the target in a given share of the rows, whatever the stream does.
//
// An interval reaches from its answer by q s to either side, where s is the mean absolute residual of the last fifty rows, so
// that the width follows the noise. A miss raises q by (1 - a) step, a hit lowers it by a step, with a = 1 - coverage: q <- q +
// step (1[miss] - a). The share of misses over T rows differs from a by at most (range of q) / (step T), for any sequence at all
// (Angelopoulos, Candès & Tibshirani 2023, "quantile tracking"; decisions/prediction_sets.hpp does the same for classes).
// Several coverages are tracked side by side. O(coverages) a row and target.
//
// Where targets come late a miss is one of the interval that was given, not of the narrower one that the model would give by now.
// Misses then come in series, and q would swing: of delays beyond kCalm rows the step is smaller in proportion.
#pragma once

#include <algorithm>
#include <cmath>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class Intervals {
 public:
  Intervals(std::vector<double> coverages, double step) : coverages_(std::move(coverages)), step(step) {
    for (double coverage : coverages_)
      if (!(coverage > 0 && coverage < 1)) throw std::invalid_argument("a coverage lies between 0 and 1");
  }

  const std::vector<double> &coverages() const { return coverages_; }
  int64_t outputs() const { return int64_t(sizes.size()); }
  void begin(int64_t outputs) {
    sizes.assign(outputs, 0.0);
    reach.clear();
    for (int64_t o = 0; o < outputs; o++)
      for (double coverage : coverages_) reach.push_back(normal_reach(coverage));
    answered = rows = 0;
  }

  // By how much an interval reaches beyond its answer.
  double half_width(int64_t output, int64_t coverage) const {
    return std::max(0.0, reach[output * count() + coverage]) * sizes[output];
  }

  // The target of a row that was answered so. Before the first row nothing was known, and before the second no residual.
  void learn(const double *answers, const double *y, double weight) {
    if (!(weight > 0)) return;
    for (int64_t o = 0; answered > 0 && o < int64_t(sizes.size()); o++) {
      const double residual = std::fabs(y[o] - answers[o]);
      for (int64_t i = 0; answered > 1 && i < count(); i++) move(o, i, residual > half_width(o, i), step * weight);
      follow(o, residual, weight);
    }
    if (answered > 0) rows += weight;
    answered = std::min<int64_t>(answered + 1, 2);
  }
  // The same where an interval of one of the coverages was given `delay` rows before; a row without one (NaN) says nothing. The
  // other coverages are judged as if they had been wider or narrower in the same proportion as now.
  void learn_late(const double *lower, const double *upper, int64_t given, double delay, const double *y,
                  double weight) {
    if (!(weight > 0) || std::isnan(lower[0])) return;
    const double calm = step * weight * std::min(1.0, kCalm / std::max(delay, 1.0));
    for (int64_t o = 0; o < int64_t(sizes.size()); o++) {
      const double residual = std::fabs(y[o] - (lower[o] + 0.5 * (upper[o] - lower[o]))),
                   half = 0.5 * (upper[o] - lower[o]), q = reach[o * count() + given];
      // Of no width were the intervals before any residual was known.
      const bool judged = half > 0 || (rows > 0 && q <= 0);
      for (int64_t i = 0; judged && i < count(); i++) {
        if (i == given) continue;
        const double other = q > 0 ? half * std::max(0.0, reach[o * count() + i]) / q : half_width(o, i);
        move(o, i, residual > other, calm);
      }
      if (judged) move(o, given, y[o] < lower[o] || y[o] > upper[o], calm);
      follow(o, residual, weight);
    }
    rows += weight;
    answered = 2;
  }

  void visit(State &state) {
    const int64_t m = int64_t(sizes.size());
    state.integer("interval_answered", answered);
    state.real("interval_rows", rows);
    state.matrix("interval_sizes", sizes, 1, m, m);
    state.matrix("interval_reach", reach, m, count(), count());
    if (answered < 0 || answered > 2) throw BadState("interval_answered");
    if (!(rows >= 0)) throw BadState("interval_rows");
    for (double size : sizes)
      if (!(size >= 0)) throw BadState("interval_sizes");
    for (double q : reach)
      if (!(std::fabs(q) <= kFarthest)) throw BadState("interval_reach");
  }

 private:
  static constexpr double kGain = 0.02, kFarthest = 1000, kCalm = 50;

  int64_t count() const { return int64_t(coverages_.size()); }
  void move(int64_t output, int64_t coverage, bool missed, double by) {
    double &q = reach[output * count() + coverage];
    q = std::clamp(q + by * (double(missed) - (1 - coverages_[coverage])), -kFarthest, kFarthest);
  }
  void follow(int64_t output, double residual, double weight) {
    sizes[output] += std::max(weight / (rows + weight), repeated(kGain, weight)) * (residual - sizes[output]);
  }
  // Where normal residuals would have it, in mean absolute residuals: by bisection.
  static double normal_reach(double coverage) {
    double low = 0, high = 40;
    for (int i = 0; i < 60; i++) {
      const double middle = 0.5 * (low + high);
      (std::erf(middle * std::sqrt(1 / M_PI)) < coverage ? low : high) = middle;
    }
    return low;
  }

  std::vector<double> coverages_;
  double step, rows = 0;  // rows: weight of those with a residual
  int64_t answered = 0;   // rows so far, at most 2
  Buffer sizes, reach;    // of each target: the mean absolute residual; q for each coverage
};

}  // namespace thalweg::THALWEG_LEVEL
