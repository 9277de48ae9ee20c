// A regressor as Python holds it: behind a gate, with the reader of its rows, and with intervals where they are tracked.
#pragma once

#include <optional>

#include "bindings/core.hpp"
#include "regression/intervals.hpp"
#include "regression/regressor.hpp"
#include "rows/vocabulary.hpp"

namespace thalweg::THALWEG_LEVEL {

struct RegressionCore : Gated {
  explicit RegressionCore(Regressor *raw) : regressor(raw), row(raw->features()) {}
  std::unique_ptr<Regressor> regressor;
  std::optional<Intervals> intervals;
  RowReader row;

  void widen(int64_t outputs) {
    regressor->widen(outputs);
    if (intervals) intervals->begin(outputs);
  }
  void track(std::vector<double> coverages, double step, bool local) {
    intervals.emplace(regressor->features(), std::move(coverages), step, local);
    if (regressor->outputs()) intervals->begin(regressor->outputs());
  }
  void begin(const double *X, const double *Y, const double *weights, int64_t rows) {
    if (!intervals) return regressor->begin(X, Y, weights, rows);
    regressor->begin(X, Y, weights, 0);  // the residuals that count are those of rows not yet learned
    intervals->begin(regressor->outputs());
    run(X, Y, weights, rows, {}, nullptr, 0);
  }
  // Test-then-train; `half` gets, of each row, by how much the interval of a coverage reaches beyond the answer.
  void run(const double *X, const double *Y, const double *weights, int64_t rows, RegressionOutputs out, double *half,
           int64_t coverage) {
    const int64_t m = regressor->outputs();
    Buffer unasked;
    if (intervals && !out.answers) {
      unasked.resize(rows * m);
      out.answers = unasked.data();
    }
    regressor->run(X, Y, weights, rows, out);
    if (!intervals) return;
    for (int64_t i = 0; i < rows; i++)
      intervals->learn(X + i * regressor->features(), out.answers + i * m, Y + i * m, weights ? weights[i] : 1,
                       half ? half + i * m : nullptr, coverage);
  }
  // Rows that were predicted `delay` rows before, with these intervals of a coverage.
  void learn_late(const double *X, const double *Y, const double *weights, int64_t rows, const double *lower,
                  const double *upper, int64_t coverage, double delay) {
    const int64_t m = regressor->outputs();
    regressor->run(X, Y, weights, rows, {});
    for (int64_t i = 0; i < rows; i++)
      intervals->learn_late(X + i * regressor->features(), lower + i * m, upper + i * m, coverage, delay, Y + i * m,
                            weights ? weights[i] : 1);
  }
  void visit(State &state) {
    regressor->visit(state);
    if (!intervals) return;
    if (intervals->outputs() != regressor->outputs()) intervals->begin(regressor->outputs());
    intervals->visit(state);
  }

  void require(int64_t coverage) const {
    if (!intervals || coverage < 0 || coverage >= int64_t(intervals->coverages().size()))
      throw std::invalid_argument("no such interval is tracked");
  }
  void check(const Matrix &X, const Matrix &Y, const std::optional<Vector> &masses) const {
    if (int64_t(X.shape(1)) != regressor->features() || int64_t(Y.shape(1)) != regressor->outputs() ||
        X.shape(0) != Y.shape(0) || (masses && masses->size() != X.shape(0)))
      throw std::invalid_argument("shapes do not agree");
  }

  void check_answers(const Matrix &X, const OutMatrix &out) const {
    if (int64_t(X.shape(1)) != regressor->features() || out.shape(0) != X.shape(0) ||
        int64_t(out.shape(1)) != regressor->outputs())
      throw std::invalid_argument("shapes do not agree");
  }

  // True where the step had to be cut, for the first time.
  bool learn(Row x, const double *y, std::size_t count) {
    const BriefLearning alone(*this);
    if (int64_t(count) != regressor->outputs())
      refuse("a row must have the model's " + std::to_string(regressor->outputs()) + " targets, got " +
             std::to_string(count));
    if (first_bad(y, count) >= 0) refuse("y must be finite and within ±1e50");
    Scratch given(count);
    const bool untroubled = regressor->cuts().count == 0;
    const double *values = row.read(x);
    regressor->step(values, y, 1, given.data());
    if (intervals) intervals->learn(values, given.data(), y, 1, nullptr, 0);
    return untroubled && regressor->cuts().count > 0;
  }
};

}  // namespace thalweg::THALWEG_LEVEL
