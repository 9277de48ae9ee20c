// Makers of learners with one weight vector per class, of Hiraoka's LDA and of the baselines.
#include <nanobind/stl/tuple.h>

#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "linear/baselines.hpp"
#include "linear/hiraoka.hpp"
#include "linear/logistic.hpp"
#include "linear/passive_aggressive.hpp"
#include "linear/perceptron.hpp"
#include "linear/winnow.hpp"
#include "rate.hpp"

namespace thalweg::THALWEG_LEVEL {

void bind_linear(nb::module_ &module) {
  using namespace nb::literals;
  module.def(
      "perceptron",
      [](int64_t p, RateCode rate, double margin, bool averaged, double start_scale, uint64_t seed, bool intercept) {
        return new Core(new Perceptron(p, PerceptronOptions{margin, start_scale, averaged, intercept, seed},
                                       make_rate(rate, Rate::kPower, false)));
      },
      "features"_a, "rate"_a, "margin"_a, "averaged"_a, "start_scale"_a, "seed"_a, "intercept"_a = true);
  module.def(
      "winnow",
      [](int64_t p, RateCode rate, uint64_t seed) {
        const bool decaying = std::get<0>(rate) == Rate::kInverseSqrt;
        return new Core(new Winnow(p, seed, decaying, make_rate(rate, Rate::kProduct, !decaying)));
      },
      "features"_a, "rate"_a, "seed"_a);
  module.def(
      "hiraoka",
      [](int64_t p, RateCode rate, int64_t components, bool full_gradient) {
        return new Core(new Hiraoka(p, components, full_gradient, make_rate(rate, Rate::kPower, true)));
      },
      "features"_a, "rate"_a, "components"_a, "full_gradient"_a);
  module.def(
      "passive_aggressive",
      [](int64_t p, double C, bool second) { return new Core(new PassiveAggressive(p, C, second)); }, "features"_a,
      "C"_a, "second"_a);
  module.def(
      "logistic",
      [](int64_t p, RateCode rate, double penalty) {
        return new Core(new Logistic(p, penalty, make_rate(rate, Rate::kPower, false)));
      },
      "features"_a, "rate"_a, "penalty"_a);
  module.def("persistence", [](int64_t p) { return new Core(new Persistence(p)); }, "features"_a);
  module.def("no_change", [](int64_t p) { return new Core(new NoChange(p)); }, "features"_a);
  module.def("majority", [](int64_t p) { return new Core(new Majority(p)); }, "features"_a);
}

}  // namespace thalweg::THALWEG_LEVEL
