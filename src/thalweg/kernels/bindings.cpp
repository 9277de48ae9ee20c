// What Python sees: one maker per algorithm, and the classes that hold what they make.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "adwin.hpp"
#include "arrays.hpp"
#include "baselines.hpp"
#include "committee.hpp"
#include "core_bindings.hpp"
#include "discriminant.hpp"
#include "fading.hpp"
#include "fleet_bindings.hpp"
#include "foreign.hpp"
#include "forecaster.hpp"
#include "hiraoka.hpp"
#include "kernel_mean.hpp"
#include "label_codes.hpp"
#include "logistic.hpp"
#include "passive_aggressive.hpp"
#include "perceptron.hpp"
#include "persistence.hpp"
#include "python_state.hpp"
#include "rate_bank.hpp"
#include "rate_code.hpp"
#include "regression_bindings.hpp"
#include "scaled.hpp"
#include "sweep.hpp"
#include "transform_bindings.hpp"
#include "winnow.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace thalweg::THALWEG_LEVEL;

namespace {

template <int P> Learner *discriminant(int64_t p, const DiscriminantOptions &options, const Rate &rate) {
  if constexpr (P > kMostUnrolled) {
    return new Discriminant<0>(p, options, rate);
  } else {
    return p <= P ? new Discriminant<P>(p, options, rate) : discriminant<next_width(P)>(p, options, rate);
  }
}

// Where changes were found among the values, and what was found: rows since the cut, means before and after it.
nb::tuple detect(Adwin &adwin, Vector values) {
  std::vector<int64_t> at, since;
  std::vector<double> before, after;
  for (std::size_t i = 0; i < values.size(); i++)
    if (!(values.data()[i] >= 0 && values.data()[i] <= 1)) throw std::invalid_argument("values must lie in [0, 1]");
  for (std::size_t i = 0; i < values.size(); i++) {
    const Adwin::Change change = adwin.update(values.data()[i]);
    if (!change.rows) continue;
    at.push_back(i);
    since.push_back(change.rows);
    before.push_back(change.before);
    after.push_back(change.after);
  }
  return nb::make_tuple(owned_array(at.data(), {at.size()}), owned_array(since.data(), {at.size()}),
                        owned_array(before.data(), {at.size()}), owned_array(after.data(), {at.size()}));
}

int lanes() { return kLanes; }

bool processor_has(const std::string &level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (level == "v3")
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  if (level == "v4")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
  return level == "base";
}

}  // namespace

#define THALWEG_NAME_(name) _##name
#define THALWEG_NAME(name) THALWEG_NAME_(name)

NB_MODULE(THALWEG_NAME(THALWEG_LEVEL), module) {
  nb::set_leak_warnings(false);  // a model that lives in a module until the interpreter ends is no leak
  bind_vocabulary(module);
  nb::class_<RowReader>(module, "RowReader")
      .def(nb::init<int64_t>(), "features"_a)
      .def("name", &RowReader::name, "names"_a)
      .def("read", [](RowReader &reader, nb::handle x) { return owned_array(reader.read(x), {reader.features()}); },
           "x"_a.none());
  nb::class_<Adwin>(module, "Adwin")
      .def(nb::init<double>(), "delta"_a)
      .def("update", &detect, "values"_a)
      .def("state",
           [](Adwin &adwin) {
             StateWriter writer;
             adwin.visit(writer);
             return writer.values;
           })
      .def("restore", [](Adwin &adwin, nb::dict values) {
        StateReader reader(values);
        adwin.visit(reader);
      });
  bind_core(module);

  module.def(
      "discriminant",
      [](int64_t p, RateCode code, bool soft_counts, bool covariance_2008, int64_t warmup, double ridge, bool in_floats) {
        const DiscriminantOptions options{soft_counts, covariance_2008, warmup, ridge};
        const Rate rate = make_rate(code, Rate::kPower, true);
        return new Core(in_floats ? new Discriminant<0, float>(p, options, rate) : discriminant<1>(p, options, rate));
      },
      "features"_a, "rate"_a, "soft_counts"_a, "covariance_2008"_a, "warmup"_a, "ridge"_a, "in_floats"_a = false);
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
      "passive_aggressive", [](int64_t p, double C, bool second) { return new Core(new PassiveAggressive(p, C, second)); },
      "features"_a, "C"_a, "second"_a);
  module.def(
      "logistic",
      [](int64_t p, RateCode rate, double penalty) {
        return new Core(new Logistic(p, penalty, make_rate(rate, Rate::kPower, false)));
      },
      "features"_a, "rate"_a, "penalty"_a);
  module.def("foreign", [](int64_t p, nb::object adapter) { return new Core(new Foreign(p, std::move(adapter))); },
             "features"_a, "adapter"_a);
  module.def("persistence", [](int64_t p) { return new Core(new Persistence(p)); }, "features"_a);
  module.def(
      "rate_bank",
      [](int64_t p, std::vector<double> rates, double ridge, double discount, double sharpness, std::vector<double> handicaps) {
        if (rates.empty() || rates.size() > 8) throw std::invalid_argument("one to eight rates");
        if (handicaps.size() > rates.size()) throw std::invalid_argument("more handicaps than rates");
        return new Core(new RateBank(p, RateBankOptions{rates, handicaps, ridge, discount, sharpness}));
      },
      "features"_a, "rates"_a, "ridge"_a, "discount"_a, "sharpness"_a, "handicaps"_a = std::vector<double>());
  module.def(
      "scaled",
      [](const Core &inner) {
        if (inner.learner->classes()) throw std::invalid_argument("needs a fresh learner");
        return new Core(new Scaled(*inner.learner));
      },
      "inner"_a);
  module.def(
      "committee",
      [](std::vector<Core *> members, double discount, double sharpness, int64_t loss, std::vector<double> handicaps) {
        std::vector<const Learner *> learners;
        for (const Core *member : members) {
          if (!member || member->learner->classes() || member->learner->features() != members[0]->learner->features())
            throw std::invalid_argument("needs fresh learners of one width");
          learners.push_back(member->learner.get());
        }
        if (learners.empty()) throw std::invalid_argument("needs a member");
        return new Core(new Committee(learners[0]->features(), learners,
                                      CommitteeOptions{discount, sharpness, CommitteeOptions::Loss(loss), handicaps}));
      },
      "members"_a, "discount"_a, "sharpness"_a, "loss"_a, "handicaps"_a = std::vector<double>());
  module.def(
      "forecaster",
      [](const Core &base, std::vector<int64_t> windows, int64_t horizon, double discount, double sharpness,
         double residual_rate) {
        const auto *means = dynamic_cast<const MeanLearner *>(base.learner.get());
        if (!means || means->classes() || windows.empty()) throw std::invalid_argument("needs a fresh learner of means");
        return new Core(
            new Forecaster(*means, ForecasterOptions{windows, horizon, discount, sharpness, residual_rate}));
      },
      "base"_a, "windows"_a, "horizon"_a, "discount"_a, "sharpness"_a, "residual_rate"_a);
  module.def("forecast",
             [](Core &core, int64_t member) {
               auto *forecaster = dynamic_cast<Forecaster *>(core.learner.get());
               if (!forecaster || member < 0 || member >= forecaster->members())
                 throw std::invalid_argument("no such forecast");
               const BriefLearning alone(core);
               const std::size_t c = forecaster->classes(), p = forecaster->features();
               std::vector<double> means(c * p), errors(c * p);
               forecaster->forecast(member, means.data(), errors.data());
               return std::make_tuple(owned_array(means.data(), {c, p}), owned_array(errors.data(), {c, p}));
             },
             "core"_a, "member"_a);
  module.def(
      "kernel_mean",
      [](int64_t p, int64_t budget, double forgetting, double sigma, std::vector<double> rho, std::vector<double> bias) {
        if (budget < 1 || !(forgetting >= 0 && forgetting < 1) || !(sigma >= 0)) throw std::invalid_argument("out of range");
        return new Core(new KernelMean(p, KernelMeanOptions{budget, forgetting, sigma, std::move(rho), std::move(bias)}));
      },
      "features"_a, "budget"_a, "forgetting"_a, "sigma"_a, "rho"_a, "bias"_a);
  module.def(
      "settle",
      [](Core &core, double sigma, std::vector<double> weights, std::vector<double> biases) {
        auto *machine = dynamic_cast<KernelMean *>(core.learner.get());
        const std::size_t classes = core.learner->classes();
        if (!machine || weights.size() != classes || biases.size() != classes)
          throw std::invalid_argument("needs a kernel mean machine, and a weight and a bias for each of its classes");
        const BriefLearning alone(core);
        machine->settle(sigma, weights.data(), biases.data());
      },
      "core"_a, "sigma"_a, "weights"_a, "biases"_a);
  module.def("no_change", [](int64_t p) { return new Core(new NoChange(p)); }, "features"_a);
  module.def("majority", [](int64_t p) { return new Core(new Majority(p)); }, "features"_a);

  bind_fleet(module);
  bind_sweep(module);
  bind_regression(module);
  bind_transforms(module);

  module.def("first_bad", [](Matrix X) {
    const int64_t at = first_bad(X.data(), X.size());
    return at < 0 ? std::tuple<int64_t, int64_t>(-1, -1)
                  : std::tuple<int64_t, int64_t>(at / int64_t(X.shape(1)), at % int64_t(X.shape(1)));
  }, "X"_a, "Row and column of the first value that is not finite or beyond the limit; (-1, -1) where there is none.");
  module.def("distinct", [](Labels y) { return distinct(y.data(), int64_t(y.size())); }, "y"_a,
             "The labels that occur, sorted; none where they lie too far apart for a table.");
  module.def("encode", &encode, "y"_a, "values"_a, "codes"_a,
             "Write each label's place among the sorted values; the index of the first label not there, or -1.");
  module.def("encode_words", &encode_words, "y"_a, "values"_a, "codes"_a,
             "The same for words, given as rows of code points padded with zeros.");
  module.def("fade", &fade, "values"_a, "keep"_a, "total"_a, "out"_a,
             "Write the fading sum after each value: what was there times keep, plus the value.");
  module.attr("largest_value") = kLargestValue;
  module.def("lanes", &lanes);
  module.def("processor_has", &processor_has, "level"_a);
}
