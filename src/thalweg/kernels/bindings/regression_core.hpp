// A regressor as Python holds it: behind a gate, with the reader of its rows, and with intervals where they are tracked.
#pragma once

#include "bindings/core.hpp"
#include "regression/with_intervals.hpp"
#include "rows/vocabulary.hpp"

namespace thalweg::THALWEG_LEVEL {

struct RegressionCore : RowCore<RegressionCore>, RegressorWithIntervals {
  explicit RegressionCore(Regressor *raw) : RowCore(raw->features()), RegressorWithIntervals(raw) {}
  Regressor &model() const { return *regressor; }

  void require(int64_t coverage) const {
    if (!intervals || coverage < 0 || coverage >= int64_t(intervals->coverages().size()))
      throw std::invalid_argument("no such interval is tracked");
  }
  void check(std::size_t rows, const Matrix &Y, const std::optional<Vector> &masses) const {
    refuse_shapes(int64_t(Y.shape(1)) != regressor->outputs() || rows != Y.shape(0) ||
                  (masses && masses->size() != rows));
  }
  void check_answers(std::size_t rows, const OutMatrix &out) const {
    refuse_shapes(out.shape(0) != rows || int64_t(out.shape(1)) != regressor->outputs());
  }

  void visit(State &state) {
    sparse.visit(state, *regressor);
    RegressorWithIntervals::visit(state);
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
    step(read_to_learn(x), y, given.data());
    return untroubled && regressor->cuts().count > 0;
  }
};

}  // namespace thalweg::THALWEG_LEVEL
