// A regressor as Python holds it: behind a gate, with the reader of its rows, and with intervals where they are tracked.
#pragma once

#include "bindings/core.hpp"
#include "regression/with_intervals.hpp"
#include "rows/vocabulary.hpp"

namespace thalweg::THALWEG_LEVEL {

struct RegressionCore : Gated, RegressorWithIntervals {
  explicit RegressionCore(Regressor *raw)
      : RegressorWithIntervals(raw), row(raw->features()), sparse(raw->features() == 0) {}
  RowReader row;
  SparseCore sparse;

  // Rows are dense or sparse as the regressor takes them.
  DenseAccess access(const Matrix &X) const {
    if (sparse || int64_t(X.shape(1)) != regressor->features()) throw std::invalid_argument("shapes do not agree");
    return {X.data(), int64_t(X.shape(0)), regressor->features()};
  }
  SparseAccess<Regressor> access(const SparseRows &X) const { return sparse.access(X, *regressor); }
  const double *read_to_learn(nb::handle x) { return sparse ? sparse.read_to_learn(x, *regressor) : row.read(x); }
  const double *read(nb::handle x, SparseRoom &room) {
    return sparse ? sparse.reader->read_one(x, room, false).as_row() : row.read(x);
  }

  void require(int64_t coverage) const {
    if (!intervals || coverage < 0 || coverage >= int64_t(intervals->coverages().size()))
      throw std::invalid_argument("no such interval is tracked");
  }
  void check(std::size_t rows, const Matrix &Y, const std::optional<Vector> &masses) const {
    if (int64_t(Y.shape(1)) != regressor->outputs() || rows != Y.shape(0) || (masses && masses->size() != rows))
      throw std::invalid_argument("shapes do not agree");
  }
  void check_answers(std::size_t rows, const OutMatrix &out) const {
    if (out.shape(0) != rows || int64_t(out.shape(1)) != regressor->outputs())
      throw std::invalid_argument("shapes do not agree");
  }

  void begin(const DenseAccess &X, const double *Y, const double *masses) {
    RegressorWithIntervals::begin(X.X, Y, masses, X.rows);
  }
  void begin(const SparseAccess<Regressor> &X, const double *Y, const double *masses) {
    RegressorWithIntervals::begin(nullptr, Y, masses, 0);
    run(X, Y, masses, {}, nullptr, 0);
  }
  void run(const DenseAccess &X, const double *Y, const double *masses, const RegressionOutputs &out, double *half,
           int64_t coverage) {
    RegressorWithIntervals::run(X.X, Y, masses, X.rows, out, half, coverage);
  }
  void run(SparseAccess<Regressor> X, const double *Y, const double *masses, const RegressionOutputs &out, double *half,
           int64_t coverage) {
    const int64_t m = regressor->outputs();
    for (int64_t i = 0; i < X.rows; i++)
      RegressorWithIntervals::run(X.to_learn(i), Y + i * m, masses ? masses + i : nullptr, 1,
                                  {out.answers ? out.answers + i * m : nullptr, nullptr, nullptr},
                                  half ? half + i * m : nullptr, coverage);
  }
  void learn_late(const DenseAccess &X, const double *Y, const double *masses, const double *lower, const double *upper,
                  int64_t coverage, double delay, const double *opinions) {
    RegressorWithIntervals::learn_late(X.X, Y, masses, X.rows, lower, upper, coverage, delay, opinions);
  }
  void learn_late(SparseAccess<Regressor> X, const double *Y, const double *masses, const double *lower,
                  const double *upper, int64_t coverage, double delay, const double *opinions) {
    const int64_t m = regressor->outputs(), all = m * regressor->opinion_count();
    for (int64_t i = 0; i < X.rows; i++)
      RegressorWithIntervals::learn_late(X.to_learn(i), Y + i * m, masses ? masses + i : nullptr, 1, lower + i * m,
                                         upper + i * m, coverage, delay, opinions ? opinions + i * all : nullptr);
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
