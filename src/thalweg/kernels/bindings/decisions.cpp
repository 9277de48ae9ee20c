// Makers of learners that decide by another's probabilities, and what Python tells and asks them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "decisions/class_weighted.hpp"
#include "decisions/cost_sensitive.hpp"
#include "decisions/online_threshold.hpp"
#include "decisions/prediction_sets.hpp"
#include "decisions/recalibrated.hpp"
#include "keyed/keyed.hpp"

namespace thalweg::THALWEG_LEVEL {

// Calls `change` on the outermost learner of a kind; behind a wrapper that keeps copies, on each of them.
template <class Kind, class Change> static bool change_all(Learner &learner, const Change &change) {
  if (auto *found = dynamic_cast<Kind *>(&learner)) {
    change(*found);
    return true;
  }
  bool any = false;
  if (auto *wrapper = dynamic_cast<Wrapper *>(&learner))
    for (const auto &inside : wrapper->all()) any |= change_all<Kind>(*inside, change);
  if (auto *keyed = dynamic_cast<Keyed *>(&learner)) any |= change_all<Kind>(keyed->inside(), change);
  return any;
}
template <class Kind, class Change> static void change_all(Core &core, const Change &change) {
  if (!change_all<Kind>(*core.learner, change)) throw std::invalid_argument("another kind of learner");
}

// Functions that take many rows, dense (Rows is Matrix) or sparse (const SparseRows &).
template <class Rows> void bind_rows(nb::module_ &module) {
  using namespace nb::literals;
  Binder def(module);
  def("expected_costs", "core"_a, "X"_a, "out"_a) = [](const Core &core, Rows X, OutMatrix out) {
    const Reading together(core);
    const auto &learner = as<CostSensitive>(core);
    const int64_t c = learner.classes();
    auto rows = core.access(X);
    refuse_shapes(int64_t(out.shape(0)) != rows.rows || int64_t(out.shape(1)) != c);
    Scratch room(c);
    for (int64_t i = 0; i < rows.rows; i++) {
      learner.inside().probabilities(rows.at(i), room.data());
      learner.expected_costs(room.data(), out.data() + i * c);
    }
  };
}

void bind_decisions(nb::module_ &module) {
  using namespace nb::literals;
  Binder def(module);
  bind_rows<Matrix>(module);
  bind_rows<const SparseRows &>(module);
  def("class_weighted", "inner"_a, "balanced"_a) = [](const Core &inner, bool balanced) {
    return new Core(new ClassWeighted(fresh(inner), balanced));
  };
  def("set_class_weights", "core"_a, "weights"_a) = [](Core &core, Vector weights) {
    const BriefLearning alone(core);
    refuse_shapes(int64_t(weights.size()) != core.learner->classes());
    change_all<ClassWeighted>(core, [&](ClassWeighted &found) { found.set_weights(weights.data()); });
  };
  def("recalibrated", "inner"_a, "memory"_a, "delay"_a) = [](const Core &inner, double memory, int64_t delay) {
    return new Core(new Recalibrated(fresh(inner), memory, delay));
  };
  def("cost_sensitive", "inner"_a, "balanced"_a) = [](const Core &inner, bool balanced) {
    return new Core(new CostSensitive(fresh(inner), balanced));
  };
  def("set_costs", "core"_a, "costs"_a) = [](Core &core, Matrix costs) {
    const BriefLearning alone(core);
    const int64_t c = core.learner->classes();
    refuse_shapes(int64_t(costs.shape(0)) != c || int64_t(costs.shape(1)) != c);
    change_all<CostSensitive>(core, [&](CostSensitive &found) { found.set_costs(costs.data()); });
  };
  def("online_threshold", "inner"_a, "objective"_a, "target"_a, "false_positive"_a, "false_negative"_a, "memory"_a,
      "delay"_a) = [](const Core &inner, int64_t objective, double target, double false_positive, double false_negative,
                      double memory, int64_t delay) {
    const ThresholdOptions options{ThresholdOptions::Objective(objective), target, false_positive, false_negative,
                                   memory};
    return new Core(new OnlineThreshold(fresh(inner), options, delay));
  };
  def("set_positive", "core"_a, "index"_a) = [](Core &core, int64_t index) {
    const BriefLearning alone(core);
    if (index < OnlineThreshold::kUnknown || index >= core.learner->classes())
      throw std::invalid_argument("no such class");
    change_all<OnlineThreshold>(core, [&](OnlineThreshold &found) { found.set_positive(index); });
  };
  def("threshold", "core"_a,
      "Index of the positive class, negative where it is not known; the threshold in log-odds, or NaN.") =
      [](const Core &core) {
        const BriefReading together(core);
        const auto &learner = as<OnlineThreshold>(core);
        return std::make_tuple(learner.positive(), learner.threshold());
      };
  def("prediction_sets", "inner"_a, "coverage"_a, "step"_a, "delay"_a) = [](const Core &inner, double coverage,
                                                                            double step, int64_t delay) {
    return new Core(new PredictionSets(fresh(inner), coverage, step, delay));
  };
  def("keyed", "inner"_a, "key_at"_a, "spread"_a, "drift"_a, "budget"_a = 0,
      "file"_a = -1) = [](const Core &inner, int64_t key_at, double spread, double drift, int64_t budget, int file) {
    const Learner &learner = fresh(inner);
    if (key_at < 0 || key_at > learner.features()) throw std::invalid_argument("no such feature");
    return new Core(new Keyed(learner, {key_at, spread, drift}, budget, file));
  };
  def("key_counts", "core"_a,
      "Keys, those of them in memory, and the bytes that they take there.") = [](const Core &core) {
    const BriefReading together(core);
    const KeyTree &keys = as<Keyed>(core).keys();
    return std::make_tuple(keys.size(), keys.size() - keys.on_disk(), keys.bytes());
  };
  def("describe_key", "core"_a, "key"_a,
      "Rows of a key, rows of others since, mistakes, share of recent ones, weight of its own part; none without a "
      "row.") = [](const Core &core,
                   double key) -> std::optional<std::tuple<int64_t, int64_t, int64_t, double, double>> {
    const BriefReading together(core);
    const auto &learner = as<Keyed>(core);
    KeyCounts own;
    if (!learner.describe(key, own)) return {};
    return std::make_tuple(own.rows, learner.n_rows() - own.last, own.mistakes, double(own.recent),
                           Keyed::share(own.gain));
  };
}

}  // namespace thalweg::THALWEG_LEVEL
