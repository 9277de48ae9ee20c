// A regressor as Python holds it: behind a gate, with the reader of its rows, and with intervals where they are tracked.
#pragma once

#include "bindings/core.hpp"
#include "regression/with_intervals.hpp"
#include "rows/vocabulary.hpp"

namespace thalweg::THALWEG_LEVEL {

struct RegressionCore : Gated, RegressorWithIntervals {
  explicit RegressionCore(Regressor *raw) : RegressorWithIntervals(raw), row(raw->features()) {}
  RowReader row;

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
    step(row.read(x), y, given.data());
    return untroubled && regressor->cuts().count > 0;
  }
};

}  // namespace thalweg::THALWEG_LEVEL
