// The compiled regressors as Python sees them: one class, `RegressionCore`, and one maker per algorithm.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core_methods.hpp"
#include "bindings/grove_options.hpp"
#include "bindings/regression_core.hpp"
#include "rate.hpp"
#include "regression/gradient_regression.hpp"
#include "regression/least_squares.hpp"
#include "regression/mixed_regression.hpp"
#include "regression/sparse_mixed_regression.hpp"

namespace thalweg::THALWEG_LEVEL {

template <int P> Regressor *least_squares(int64_t p, const LeastSquaresOptions &options) {
  if constexpr (P > 8) {
    return new LeastSquares<0>(p, options);
  } else {
    return p <= P ? new LeastSquares<P>(p, options) : least_squares<P == 2 ? 4 : next_width(P)>(p, options);
  }
}

// Methods that take many rows, dense (Rows is Matrix) or sparse (const SparseRows &).
template <class Rows> void bind_rows(nb::class_<RegressionCore> &core) {
  using namespace nb::literals;
  Binder def(core);
  def("begin", "X"_a, "Y"_a, "masses"_a = nb::none()) = [](RegressionCore &c, Rows X, Matrix Y,
                                                           std::optional<Vector> masses) {
    const Learning alone(c);
    const auto rows = c.access(X);
    c.check(rows.rows, Y, masses);
    c.begin(rows, Y.data(), data_of(masses));
  };
  def("run", "X"_a, "Y"_a, "answers"_a = nb::none(), "weights"_a = nb::none(), "intercepts"_a = nb::none(),
      "masses"_a = nb::none(), "half_widths"_a = nb::none(),
      "coverage"_a = 0) = [](RegressionCore &c, Rows X, Matrix Y, std::optional<OutMatrix> answers,
                             std::optional<OutCube> weights, std::optional<OutMatrix> intercepts,
                             std::optional<Vector> masses, std::optional<OutMatrix> half_widths, int64_t coverage) {
    const Learning alone(c);
    const auto rows = c.access(X);
    c.check(rows.rows, Y, masses);
    const auto fits = [&](const std::optional<OutMatrix> &out) {
      return !out || (out->shape(0) == Y.shape(0) && out->shape(1) == Y.shape(1));
    };
    if (half_widths) c.require(coverage);
    refuse_shapes(!fits(answers) || !fits(intercepts) || !fits(half_widths) ||
                  weights.has_value() != intercepts.has_value() ||
                  (weights && (weights->shape(0) != Y.shape(0) || weights->shape(1) != Y.shape(1) ||
                               int64_t(weights->shape(2)) != c.regressor->features())));
    const RegressionOutputs out{data_of(answers), data_of(weights), data_of(intercepts)};
    c.run(rows, Y.data(), data_of(masses), out, data_of(half_widths), coverage);
  };
  def("half_widths_of", "X"_a, "out"_a, "coverage"_a, "The same at each row, for one of the coverages.") =
      [](const RegressionCore &c, Rows X, OutMatrix out, int64_t coverage) {
        const Reading together(c);
        c.require(coverage);
        auto rows = c.access(X);
        c.check_answers(rows.rows, out);
        for (int64_t i = 0; i < rows.rows; i++)
          c.intervals->half_widths(rows.at(i), coverage, out.data() + i * out.shape(1));
      };
  def("answers", "X"_a, "out"_a) = [](const RegressionCore &c, Rows X, OutMatrix out) {
    const Reading together(c);
    auto rows = c.access(X);
    c.check_answers(rows.rows, out);
    for (int64_t i = 0; i < rows.rows; i++) c.regressor->answer(rows.at(i), out.data() + i * out.shape(1));
  };
  def("opinions", "X"_a,
      "What members and mixtures of them answer: rows x outputs x as many.") = [](const RegressionCore &c, Rows X) {
    const BriefReading together(c);
    auto rows = c.access(X);
    const std::size_t m = c.regressor->outputs(), n = c.regressor->opinion_count();
    Buffer given(rows.rows * m * n);
    for (int64_t i = 0; i < rows.rows; i++) c.regressor->opinions(rows.at(i), given.data() + i * m * n);
    return owned_array(given.data(), {std::size_t(rows.rows), m, n});
  };
  def("follow", "X"_a, "Y"_a, "order"_a, "number"_a, "newest"_a, "answers"_a, "lower"_a, "upper"_a, "opinions"_a,
      "coverage"_a, "by_step"_a = false) = [](RegressionCore &c, Rows X, Matrix Y, Labels order, Labels number,
                                              int64_t newest, OutMatrix answers, OutMatrix lower, OutMatrix upper,
                                              OutFloats opinions, int64_t coverage, bool by_step) {
    const Learning alone(c);
    const auto rows = c.access(X);
    const std::size_t count = Y.shape(0), all = c.regressor->outputs() * c.regressor->opinion_count();
    c.require(coverage);
    c.check(count, Y, std::nullopt);
    for (const OutMatrix &out : {answers, lower, upper}) c.check_answers(count, out);
    refuse_shapes(number.size() != count || opinions.shape(0) != count || opinions.shape(1) != all ||
                  std::size_t(rows.rows) != (by_step ? order.size() : count));
    for (std::size_t i = 0; i < order.size(); i++) {
      const int64_t step = order.data()[i];
      if ((step < 0 ? -1 - step : step) >= int64_t(count)) throw std::invalid_argument("no such row");
    }
    return c.follow(rows, Y.data(), order.data(), order.size(), number.data(), newest, coverage,
                    {answers.data(), lower.data(), upper.data(), opinions.data()}, by_step);
  };
}

static void bind_regression_core(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<RegressionCore> core(module, "RegressionCore");
  Binder def(core);
  bind_rows<Matrix>(core);
  bind_rows<const SparseRows &>(core);
  bind_reader(core);
  bind_state(core);
  core.def_prop_ro("n_outputs", [](const RegressionCore &c) { return c.regressor->outputs(); });
  core.def_prop_ro("rate", reading<RegressionCore>([](const RegressionCore &c) { return c.regressor->rate(); }));
  core.def_prop_ro("cuts", reading<RegressionCore>([](const RegressionCore &c) {
                     const Regressor::Cuts cuts = c.regressor->cuts();
                     return std::tuple<int64_t, int64_t, double>(cuts.count, cuts.first_row, cuts.square);
                   }));
  def("widen", "outputs"_a) = [](RegressionCore &c, int64_t outputs) {
    const BriefLearning alone(c);
    c.widen(outputs);
  };
  def("track_intervals", "coverages"_a, "step"_a, "local"_a,
      "Track intervals of these coverages from here on; local: of widths that depend on the row.") =
      [](RegressionCore &c, std::vector<double> coverages, double step, bool local) {
        const BriefLearning alone(c);
        c.track(std::move(coverages), step, local);
      };
  core.def_prop_ro("coverages", [](const RegressionCore &c) {
    return c.intervals ? c.intervals->coverages() : std::vector<double>();
  });
  def("half_widths",
      "By how much an interval reaches beyond its answer at a row of usual noise: outputs x coverages.") =
      [](const RegressionCore &c) {
        const BriefReading together(c);
        if (!c.intervals) throw std::invalid_argument("no interval is tracked");
        const std::size_t m = c.regressor->outputs(), n = c.intervals->coverages().size();
        std::vector<double> widths(m * n);
        for (std::size_t i = 0; i < m * n; i++) widths[i] = c.intervals->half_width(i / n, i % n);
        return owned_array(widths.data(), {m, n});
      };
  core.def_prop_ro("n_members", [](const RegressionCore &c) { return c.regressor->members(); });
  core.def_prop_ro("n_opinions", [](const RegressionCore &c) { return c.regressor->opinion_count(); });
  def("shares") = [](const RegressionCore &c) {
    const BriefReading together(c);
    const std::size_t m = c.regressor->outputs(), n = c.regressor->members();
    std::vector<double> weights(m * n);
    c.regressor->shares(weights.data());
    return owned_array(weights.data(), {m, n});
  };
  def("answer_one", "x"_a.none()) = [](RegressionCore &c, Row x) {
    const BriefReading together(c);
    Scratch answers(c.regressor->outputs());
    SparseRoom room;
    c.regressor->answer(c.read(x, room), answers.data());
    return owned_array(answers.data(), {std::size_t(c.regressor->outputs())});
  };
  def("answer_number", "x"_a.none()) = [](RegressionCore &c, Row x) {
    const BriefReading together(c);
    if (c.regressor->outputs() != 1) throw std::invalid_argument("more than one number");
    double answer;
    SparseRoom room;
    c.regressor->answer(c.read(x, room), &answer);
    return answer;
  };
  def("learn_one", "x"_a.none(), "y"_a) = [](RegressionCore &c, Row x, double y) { return c.learn(x, &y, 1); };
  def("learn_one", "x"_a.none(), "y"_a) = [](RegressionCore &c, Row x, Vector y) {
    return c.learn(x, y.data(), y.size());
  };
  def("coefficients") = [](const RegressionCore &c) {
    const BriefReading together(c);
    const std::size_t m = c.regressor->outputs(), p = c.regressor->coefficient_count();
    std::vector<double> weights(m * p), intercepts(m);
    c.regressor->coefficients(weights.data(), intercepts.data());
    return std::make_tuple(owned_array(weights.data(), {m, p}), owned_array(intercepts.data(), {m}));
  };
}

void bind_regression(nb::module_ &module) {
  using namespace nb::literals;
  Binder def(module);
  bind_regression_core(module);
  def("gradient_regression", "features"_a, "rate"_a, "intercept"_a, "averaged"_a, "penalty"_a, "forgetting"_a,
      "per_feature"_a = false) = [](int64_t p, RateCode rate, bool intercept, bool averaged, double penalty,
                                    double forgetting, bool per_feature) {
    const GradientOptions options{intercept, averaged, penalty, forgetting, per_feature};
    const Rate steps = make_rate(rate, Rate::kPower, false);
    if (p == 0) return new RegressionCore(new GradientRegression<SparseWeights>(p, options, steps));
    return new RegressionCore(new GradientRegression<DenseWeights>(p, options, steps));
  };
  def("least_squares", "features"_a, "intercept"_a, "penalty"_a,
      "forgetting"_a) = [](int64_t p, bool intercept, double penalty, double forgetting) {
    return new RegressionCore(least_squares<2>(p, LeastSquaresOptions{intercept, penalty, forgetting}));
  };
  using Tilings = std::tuple<int64_t, int64_t, std::vector<double>, int64_t, int64_t, double, uint64_t>;
  using Forest = std::tuple<std::vector<std::vector<double>>, int64_t, uint64_t, bool>;
  def("mixed_regression", "features"_a, "rates"_a, "tilings"_a, "residual"_a, "quadratic"_a, "baselines"_a, "robust"_a,
      "forests"_a,
      "Tilings: count, depth, steps, rows between replacements, least age, share replaced, seed.\n"
      "Forests: groves, rows, seed, whether for what smooth members leave.") =
      [](int64_t p, std::vector<double> rates, std::vector<Tilings> tilings, std::vector<Tilings> residual,
         bool quadratic, bool baselines, bool robust, std::vector<Forest> forests) {
        const auto options = [](const std::vector<Tilings> &given) {
          std::vector<TilingOptions> all;
          for (const auto &[count, depth, steps, every, young, share, seed] : given) {
            if (count < 1 || depth < 1 || depth > 3 || every < 0 || steps.empty())
              throw std::invalid_argument("out of range");
            all.push_back({count, depth, steps, {}, every, young, share, seed});
          }
          return all;
        };
        MixedOptions of{std::move(rates), options(tilings), options(residual), quadratic, baselines, robust};
        for (const auto &[groves, rows, seed, of_rest] : forests)
          of.forests.push_back({read_groves(groves, rows), rows, seed, of_rest});
        if (MixedTarget::members_of(of) < 1) throw std::invalid_argument("needs a member");
        return new RegressionCore(new MixedRegression(p, of));
      };
  def("sparse_mixed_regression", "rates"_a, "forgetting"_a, "dense"_a.none(), "robust"_a,
      "`dense` learns the first columns of the rows; None where none is dense.") =
      [](std::vector<double> rates, std::vector<double> forgetting, const RegressionCore *dense, bool robust) {
        if (rates.empty() || rates.size() != forgetting.size()) throw std::invalid_argument("out of range");
        const SparseMixedOptions options{std::move(rates), std::move(forgetting), robust};
        return new RegressionCore(new SparseMixedRegression(dense ? dense->regressor.get() : nullptr, options));
      };
}

}  // namespace thalweg::THALWEG_LEVEL
