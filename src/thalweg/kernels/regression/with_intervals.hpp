// A regressor with its intervals, where they are tracked: what is learned, judged and saved together.
#pragma once

#include "regression/intervals.hpp"
#include "regression/regressor.hpp"

namespace thalweg::THALWEG_LEVEL {

// What rows were predicted with, a row each: written when one is predicted, read when its targets are learned. NaN: not known.
// An end of NaN beside an answer stands for an interval without a width.
struct LatePredictions {
  double *answers, *lower, *upper;
  float *opinions;  // relative to the answer
};

struct RegressorWithIntervals {
  explicit RegressorWithIntervals(Regressor *raw) : regressor(raw) {}
  Owned<Regressor> regressor;
  std::optional<Intervals> intervals;

  void widen(int64_t outputs) {
    regressor->widen(outputs);
    if (intervals) intervals->begin(outputs);
  }
  void track(std::vector<double> coverages, double step, bool local) {
    intervals.emplace(regressor->features(), std::move(coverages), step, local);
    if (regressor->outputs()) intervals->begin(regressor->outputs());
  }
  template <class Access> void begin(const Access &X, const double *Y, const double *weights) {
    if constexpr (kDense<Access>)
      if (!intervals) return regressor->begin(X.X, Y, weights, X.rows);
    regressor->begin(nullptr, Y, weights, 0);  // the residuals that count are those of rows not yet learned
    if (intervals) intervals->begin(regressor->outputs());
    run(X, Y, weights, {}, nullptr, 0);
  }
  // Test-then-train; `half` gets, of each row, by how much the interval of a coverage reaches beyond the answer.
  template <class Access>
  void run(Access X, const double *Y, const double *weights, RegressionOutputs out, double *half, int64_t coverage) {
    const int64_t m = regressor->outputs();
    Buffer unasked;
    if (intervals && !out.answers) {
      unasked.resize(X.rows * m);
      out.answers = unasked.data();
    }
    if constexpr (kDense<Access>) regressor->run(X.X, Y, weights, X.rows, out);
    Scratch room(m);
    for (int64_t i = 0; i < X.rows && !(kDense<Access> && !intervals); i++) {
      const double *y = Y + i * m, weight = weights ? weights[i] : 1;
      const RowView x = kDense<Access> ? X.at(i) : X.to_learn(i);
      double *answers = out.answers ? out.answers + i * m : room.data();
      if (!kDense<Access>) regressor->step(x, y, weight, answers);
      if (intervals) intervals->learn(x, answers, y, weight, half ? half + i * m : nullptr, coverage);
    }
  }
  // Predicts and learns in any order: i stands for "predict row i", -1 - i for "learn row i". `number` is that of each row in the
  // stream, `newest` that of the last row predicted before, and is returned. `by_step`: X holds a row for each step.
  template <class Access>
  int64_t follow(Access X, const double *Y, const int64_t *order, int64_t steps, const int64_t *number, int64_t newest,
                 int64_t coverage, const LatePredictions &given, bool by_step) {
    const int64_t m = regressor->outputs(), each = regressor->opinion_count(), all = m * each;
    Buffer opinions(all), half(m);
    for (int64_t i = 0; i < steps; i++) {
      const int64_t row = order[i] < 0 ? -1 - order[i] : order[i], at = by_step ? i : row;
      double *answers = given.answers + row * m, *lower = given.lower + row * m, *upper = given.upper + row * m;
      float *kept = given.opinions + row * all;
      if (order[i] < 0) {
        const bool is_narrow = std::isnan(*lower);
        for (int64_t j = 0; j < all; j++) opinions[j] = answers[j / each] + kept[j];
        const double delay = double(std::max<int64_t>(0, newest - number[row]));
        const RowView x = X.to_learn(at);
        regressor->learn_late(x, Y + row * m, 1, all ? opinions.data() : nullptr, delay);
        intervals->learn_late(x, is_narrow ? answers : lower, is_narrow ? answers : upper, coverage, delay, Y + row * m,
                              1);
        continue;
      }
      newest = number[row];
      const RowView x = X.at(at);
      regressor->answer_with_opinions(x, answers, opinions.data());
      for (int64_t j = 0; j < all; j++) kept[j] = float(opinions[j] - answers[j / each]);
      intervals->half_widths(x, coverage, half.data());
      for (int64_t o = 0; o < m; o++) {
        lower[o] = answers[o] - half[o];
        upper[o] = answers[o] + half[o];
      }
    }
    return newest;
  }
  void visit(State &state) {
    regressor->visit(state);
    if (!intervals) return;
    if (intervals->outputs() != regressor->outputs()) intervals->begin(regressor->outputs());
    intervals->visit(state);
  }
  // One row; the answers before it are written to `given`.
  void step(RowView x, const double *y, double *given) {
    regressor->step(x, y, 1, given);
    if (intervals) intervals->learn(x, given, y, 1, nullptr, 0);
  }
};

}  // namespace thalweg::THALWEG_LEVEL
