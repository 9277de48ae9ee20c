// Intervals around answers that hold the target in a given share of the rows, whatever the stream does.
//
// An interval reaches from its answer by q s n to either side, where s is the mean absolute residual of the last fifty rows, so
// that the width follows the noise, and n is 1 or what local_noise.hpp says of the row; s is then that of residuals over n. A miss raises q by (1 - a) step, a hit lowers it by a step, with a = 1 - coverage: q <- q +
// step (1[miss] - a). The share of misses over T rows differs from a by at most (range of q) / (step T), for any sequence at all
// (Angelopoulos, Candès & Tibshirani 2023, "quantile tracking"; decisions/prediction_sets.hpp does the same for classes).
// Several coverages are tracked side by side. O(coverages) a row and target.
//
// Where targets come late a miss is one of the interval that was given, not of the narrower one that the model would give by now.
// Misses then come in series, and q would swing: of delays beyond kCalm rows the step is smaller in proportion.
#pragma once

#include <optional>

#include "regression/local_noise.hpp"

namespace thalweg::THALWEG_LEVEL {

class Intervals {
 public:
  // `local`: the width depends on the row, too.
  Intervals(int64_t features, std::vector<double> coverages, double step, bool local)
      : coverages_(std::move(coverages)), step(step) {
    if (local) noise.emplace(features);
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
    if (noise) noise->begin(outputs);
  }

  // By how much an interval reaches beyond its answer: at a row of usual noise, and of each target at a row.
  double half_width(int64_t output, int64_t coverage) const {
    return std::max(0.0, reach[output * count() + coverage]) * sizes[output];
  }
  void half_widths(const double *x, int64_t coverage, double *out) const {
    if (noise) noise->factors(x, out);
    for (int64_t o = 0; o < outputs(); o++) out[o] = (noise ? out[o] : 1) * half_width(o, coverage);
  }

  // The targets of a row that was answered so; `half`, unless it is null, gets the half-widths of a coverage before. Before the
  // first row nothing was known, and before the second no residual.
  void learn(const double *x, const double *answers, const double *y, double weight, double *half, int64_t coverage) {
    if (!(weight > 0)) {
      if (half) half_widths(x, coverage, half);
      return;
    }
    Scratch room(outputs());
    const double *local = look(x, room.data());
    for (int64_t o = 0; o < outputs(); o++) {
      if (half) half[o] = local[o] * half_width(o, coverage);
      if (answered == 0) continue;
      const double residual = std::fabs(y[o] - answers[o]);
      for (int64_t i = 0; answered > 1 && i < count(); i++)
        move(o, i, residual > local[o] * half_width(o, i), step * weight);
      follow(o, residual, local[o], weight);
    }
    if (answered > 0) row_learned(x, weight);
    answered = std::min<int64_t>(answered + 1, 2);
  }
  // The same where an interval of one of the coverages was given `delay` rows before; a row without one (NaN) says nothing. The
  // other coverages are judged as if they had been wider or narrower in the same proportion as now.
  void learn_late(const double *x, const double *lower, const double *upper, int64_t given, double delay,
                  const double *y, double weight) {
    if (!(weight > 0) || std::isnan(lower[0])) return;
    Scratch room(outputs());
    const double *local = look(x, room.data());
    const double calm = step * weight * std::min(1.0, kCalm / std::max(delay, 1.0));
    for (int64_t o = 0; o < outputs(); o++) {
      const double residual = std::fabs(y[o] - (lower[o] + 0.5 * (upper[o] - lower[o]))),
                   half = 0.5 * (upper[o] - lower[o]), q = reach[o * count() + given];
      // Of no width were the intervals before any residual was known.
      const bool judged = half > 0 || (rows > 0 && q <= 0);
      for (int64_t i = 0; judged && i < count(); i++) {
        if (i == given) continue;
        const double other = q > 0 ? half * std::max(0.0, reach[o * count() + i]) / q : local[o] * half_width(o, i);
        move(o, i, residual > other, calm);
      }
      if (judged) move(o, given, y[o] < lower[o] || y[o] > upper[o], calm);
      follow(o, residual, local[o], weight);
    }
    row_learned(x, weight);
    answered = 2;
  }

  void visit(State &state) {
    const int64_t m = int64_t(sizes.size());
    state.integer("interval_answered", answered, within<int64_t>(0, 2));
    state.real("interval_rows", rows, not_negative);
    state.matrix("interval_sizes", sizes, 1, m, m, not_negative);
    state.matrix("interval_reach", reach, m, count(), count(), within(-kFarthest, kFarthest));
    if (noise) state.part("interval_noise_", *noise);
  }

 private:
  static constexpr double kGain = 0.02, kFarthest = 1000, kCalm = 50;
  static constexpr double kWild = 30, kFew = 10;  // mean absolute residuals that one counts at most, after so many rows

  int64_t count() const { return int64_t(coverages_.size()); }
  void move(int64_t output, int64_t coverage, bool missed, double by) {
    double &q = reach[output * count() + coverage];
    q = std::clamp(q + by * (double(missed) - (1 - coverages_[coverage])), -kFarthest, kFarthest);
  }
  // The factors of a row: of each target.
  const double *look(const double *x, double *room) {
    if (noise) noise->look(x, room);
    else std::fill_n(room, outputs(), 1.0);
    return room;
  }
  void follow(int64_t output, double residual, double local, double weight) {
    residual = std::min(residual, rows < kFew || !(sizes[output] > 0) ? residual : kWild * local * sizes[output]);
    sizes[output] += std::max(weight / (rows + weight), repeated(kGain, weight)) * (residual / local - sizes[output]);
    if (noise) noise->learn(output, residual, weight);
  }
  void row_learned(const double *x, double weight) {
    rows += weight;
    if (noise) noise->row_learned(x, weight);
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
  std::optional<LocalNoise> noise;
};

}  // namespace thalweg::THALWEG_LEVEL
