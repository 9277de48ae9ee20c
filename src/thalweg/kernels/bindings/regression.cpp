// The compiled regressors as Python sees them: one class, `RegressionCore`, and one maker per algorithm.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "bindings/python_state.hpp"
#include "rate.hpp"
#include "regression/gradient_regression.hpp"
#include "regression/least_squares.hpp"
#include "rows/vocabulary.hpp"

namespace thalweg::THALWEG_LEVEL {

struct RegressionCore : Gated {
  explicit RegressionCore(Regressor *raw) : regressor(raw), row(raw->features()) {}
  std::unique_ptr<Regressor> regressor;
  RowReader row;

  void check(const Matrix &X, const Matrix &Y, const std::optional<Vector> &masses) const {
    if (int64_t(X.shape(1)) != regressor->features() || int64_t(Y.shape(1)) != regressor->outputs() ||
        X.shape(0) != Y.shape(0) || (masses && masses->size() != X.shape(0)))
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
    regressor->step(row.read(x), y, 1, given.data());
    return untroubled && regressor->cuts().count > 0;
  }
};

template <int P> Regressor *least_squares(int64_t p, const LeastSquaresOptions &options) {
  if constexpr (P > 8) {
    return new LeastSquares<0>(p, options);
  } else {
    return p <= P ? new LeastSquares<P>(p, options) : least_squares<P == 2 ? 4 : next_width(P)>(p, options);
  }
}

void bind_regression(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<RegressionCore>(module, "RegressionCore")
      .def_prop_ro("n_features", [](const RegressionCore &c) { return c.regressor->features(); })
      .def_prop_ro("n_outputs", [](const RegressionCore &c) { return c.regressor->outputs(); })
      .def_prop_ro("rate",
                   [](const RegressionCore &c) {
                     const BriefReading together(c);
                     return c.regressor->rate();
                   })
      .def_prop_ro("cuts",
                   [](const RegressionCore &c) {
                     const BriefReading together(c);
                     const Regressor::Cuts cuts = c.regressor->cuts();
                     return std::tuple<int64_t, int64_t, double>(cuts.count, cuts.first_row, cuts.square);
                   })
      .def(
          "name_features", [](RegressionCore &c, NamesOrVocabulary names) { c.row.name(names); }, "names"_a)
      .def(
          "widen",
          [](RegressionCore &c, int64_t outputs) {
            const BriefLearning alone(c);
            c.regressor->widen(outputs);
          },
          "outputs"_a)
      .def(
          "begin",
          [](RegressionCore &c, Matrix X, Matrix Y, std::optional<Vector> masses) {
            const Learning alone(c);
            c.check(X, Y, masses);
            c.regressor->begin(X.data(), Y.data(), masses ? masses->data() : nullptr, X.shape(0));
          },
          "X"_a, "Y"_a, "masses"_a = nb::none())
      .def(
          "run",
          [](RegressionCore &c, Matrix X, Matrix Y, std::optional<OutMatrix> answers, std::optional<OutCube> weights,
             std::optional<OutMatrix> intercepts, std::optional<Vector> masses) {
            const Learning alone(c);
            c.check(X, Y, masses);
            const auto fits = [&](const std::optional<OutMatrix> &out) {
              return !out || (out->shape(0) == Y.shape(0) && out->shape(1) == Y.shape(1));
            };
            if (!fits(answers) || !fits(intercepts) || weights.has_value() != intercepts.has_value() ||
                (weights && (weights->shape(0) != Y.shape(0) || weights->shape(1) != Y.shape(1) ||
                             weights->shape(2) != X.shape(1))))
              throw std::invalid_argument("shapes do not agree");
            const RegressionOutputs out{answers ? answers->data() : nullptr, weights ? weights->data() : nullptr,
                                        intercepts ? intercepts->data() : nullptr};
            c.regressor->run(X.data(), Y.data(), masses ? masses->data() : nullptr, X.shape(0), out);
          },
          "X"_a, "Y"_a, "answers"_a = nb::none(), "weights"_a = nb::none(), "intercepts"_a = nb::none(),
          "masses"_a = nb::none())
      .def(
          "answers",
          [](const RegressionCore &c, Matrix X, OutMatrix out) {
            const Reading together(c);
            if (int64_t(X.shape(1)) != c.regressor->features() || out.shape(0) != X.shape(0) ||
                int64_t(out.shape(1)) != c.regressor->outputs())
              throw std::invalid_argument("shapes do not agree");
            for (std::size_t i = 0; i < X.shape(0); i++)
              c.regressor->answer(X.data() + i * X.shape(1), out.data() + i * out.shape(1));
          },
          "X"_a, "out"_a)
      .def(
          "answer_one",
          [](RegressionCore &c, Row x) {
            const BriefReading together(c);
            Scratch answers(c.regressor->outputs());
            c.regressor->answer(c.row.read(x), answers.data());
            return owned_array(answers.data(), {std::size_t(c.regressor->outputs())});
          },
          "x"_a.none())
      .def(
          "answer_number",
          [](RegressionCore &c, Row x) {
            const BriefReading together(c);
            if (c.regressor->outputs() != 1) throw std::invalid_argument("more than one number");
            double answer;
            c.regressor->answer(c.row.read(x), &answer);
            return answer;
          },
          "x"_a.none())
      .def(
          "learn_one", [](RegressionCore &c, Row x, double y) { return c.learn(x, &y, 1); }, "x"_a.none(), "y"_a)
      .def(
          "learn_one", [](RegressionCore &c, Row x, Vector y) { return c.learn(x, y.data(), y.size()); }, "x"_a.none(),
          "y"_a)
      .def(
          "check_one", [](RegressionCore &c, Row x) { c.row.read(x); }, "x"_a.none())
      .def("coefficients",
           [](const RegressionCore &c) {
             const BriefReading together(c);
             const std::size_t m = c.regressor->outputs(), p = c.regressor->features();
             std::vector<double> weights(m * p), intercepts(m);
             c.regressor->coefficients(weights.data(), intercepts.data());
             return std::make_tuple(owned_array(weights.data(), {m, p}), owned_array(intercepts.data(), {m}));
           })
      .def("state",
           [](RegressionCore &c) {
             const BriefLearning alone(c);
             StateWriter writer;
             c.regressor->visit(writer);
             return writer.values;
           })
      .def(
          "restore",
          [](RegressionCore &c, StateDict values) {
            const BriefLearning alone(c);
            StateReader reader(values);
            c.regressor->visit(reader);
          },
          "state"_a);

  module.def(
      "gradient_regression",
      [](int64_t p, RateCode rate, bool intercept, bool averaged, double penalty, double forgetting) {
        return new RegressionCore(new GradientRegression(p, GradientOptions{intercept, averaged, penalty, forgetting},
                                                         make_rate(rate, Rate::kPower, false)));
      },
      "features"_a, "rate"_a, "intercept"_a, "averaged"_a, "penalty"_a, "forgetting"_a);
  module.def(
      "least_squares",
      [](int64_t p, bool intercept, double penalty, double forgetting) {
        return new RegressionCore(least_squares<2>(p, LeastSquaresOptions{intercept, penalty, forgetting}));
      },
      "features"_a, "intercept"_a, "penalty"_a, "forgetting"_a);
}

}  // namespace thalweg::THALWEG_LEVEL
