// Makers of learners with one weight vector per class, of Hiraoka's LDA and of the baselines.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "linear/baselines.hpp"
#include "linear/hiraoka.hpp"
#include "linear/logistic.hpp"
#include "linear/logistic_bank.hpp"
#include "linear/passive_aggressive.hpp"
#include "linear/perceptron.hpp"
#include "linear/winnow.hpp"
#include "rate.hpp"

namespace thalweg::THALWEG_LEVEL {

// A learner for rows of so many features; for sparse rows where there are 0.
template <template <class> class Algorithm, class... Options> Core *make_linear(int64_t p, Options... options) {
  if (p == 0) return new Core(new Algorithm<SparseWeights>(p, std::move(options)...));
  return new Core(new Algorithm<DenseWeights>(p, std::move(options)...));
}

void bind_linear(nb::module_ &module) {
  using namespace nb::literals;
  Binder def(module);
  def("perceptron", "features"_a, "rate"_a, "margin"_a, "averaged"_a, "start_scale"_a, "seed"_a, "intercept"_a = true) =
      [](int64_t p, RateCode rate, double margin, bool averaged, double start_scale, uint64_t seed, bool intercept) {
        return make_linear<Perceptron>(p, PerceptronOptions{margin, start_scale, averaged, intercept, seed},
                                       make_rate(rate, Rate::kPower, false));
      };
  def("winnow", "features"_a, "rate"_a, "seed"_a) = [](int64_t p, RateCode rate, uint64_t seed) {
    const bool decaying = std::get<0>(rate) == Rate::kInverseSqrt;
    return make_linear<Winnow>(p, seed, decaying, make_rate(rate, Rate::kProduct, !decaying));
  };
  def("hiraoka", "features"_a, "rate"_a, "components"_a,
      "full_gradient"_a) = [](int64_t p, RateCode rate, int64_t components, bool full_gradient) {
    return new Core(new Hiraoka(p, components, full_gradient, make_rate(rate, Rate::kPower, true)));
  };
  def("passive_aggressive", "features"_a, "C"_a, "second"_a) = [](int64_t p, double C, bool second) {
    return make_linear<PassiveAggressive>(p, C, second);
  };
  def("logistic", "features"_a, "rate"_a, "penalty"_a, "per_feature"_a = false, "forgetting"_a = 0.0,
      "initial_squares"_a = 1.0) = [](int64_t p, RateCode rate, double penalty, bool per_feature, double forgetting,
                                      double initial_squares) {
    return make_linear<Logistic>(p, LogisticOptions{penalty, per_feature, forgetting, initial_squares},
                                 make_rate(rate, Rate::kPower, false));
  };
  def("logistic_bank", "rates"_a, "initial_squares"_a) = [](const std::vector<double> &rates,
                                                            const std::vector<double> &initial_squares) {
    return new Core(new LogisticBank(rates, initial_squares));
  };
  def("persistence", "features"_a) = [](int64_t p) { return new Core(new Persistence(p)); };
  def("no_change", "features"_a) = [](int64_t p) { return new Core(new NoChange(p)); };
  def("majority", "features"_a, "keep"_a = 1.0, "doubt"_a = 0.0,
      "Counts of labels are multiplied by `keep` with each row; `doubt` is added to each that is not zero.") =
      [](int64_t p, double keep, double doubt) { return new Core(new Majority(p, keep, doubt)); };
}

}  // namespace thalweg::THALWEG_LEVEL
