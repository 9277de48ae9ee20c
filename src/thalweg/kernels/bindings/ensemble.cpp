// Makers of learners made of others: banks of rates, committees, forecasts, members that live in Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "bindings/python_state.hpp"
#include "decisions/wrapper.hpp"
#include "ensemble/centred_columns.hpp"
#include "ensemble/committee.hpp"
#include "ensemble/damped.hpp"
#include "ensemble/dense_columns.hpp"
#include "ensemble/few_classes.hpp"
#include "ensemble/forecaster.hpp"
#include "ensemble/foreign.hpp"
#include "ensemble/joined.hpp"
#include "ensemble/products.hpp"
#include "ensemble/rate_bank.hpp"
#include "ensemble/scaled.hpp"
#include "ensemble/sparse_scaled.hpp"
#include "keyed/keyed.hpp"

namespace thalweg::THALWEG_LEVEL {

void collect_adapters(const Learner &learner, nb::list &into) {
  if (const auto *foreign = dynamic_cast<const Foreign *>(&learner)) into.append(foreign->in_python());
  if (const auto *committee = dynamic_cast<const Committee *>(&learner))
    for (const auto &member : committee->all()) collect_adapters(*member, into);
  if (const auto *wrapper = dynamic_cast<const Wrapper *>(&learner))
    for (const auto &member : wrapper->all()) collect_adapters(*member, into);
  if (const auto *keyed = dynamic_cast<const Keyed *>(&learner)) collect_adapters(keyed->inside(), into);
}

static std::vector<const Learner *> fresh_learners(const std::vector<Core *> &members) {
  std::vector<const Learner *> learners;
  for (const Core *member : members) {
    if (!member || member->learner->classes() || member->learner->features() != members[0]->learner->features())
      throw std::invalid_argument("needs fresh learners of one width");
    learners.push_back(member->learner.get());
  }
  if (learners.empty()) throw std::invalid_argument("needs a member");
  return learners;
}

static MixingOptions::Loss loss_of(const std::string &name) {
  if (name == "brier") return MixingOptions::kBrier;
  if (name == "log") return MixingOptions::kLog;
  if (name == "auto") return MixingOptions::kAuto;
  if (name == "zero-one") return MixingOptions::kZeroOne;
  throw std::invalid_argument("no such loss: " + name);
}

void bind_ensemble(nb::module_ &module) {
  using namespace nb::literals;
  Binder def(module);
  def("foreign", "features"_a, "adapter"_a) = [](int64_t p, nb::object adapter) {
    return new Core(new Foreign(p, std::move(adapter)));
  };
  def("rate_bank", "features"_a, "rates"_a, "ridge"_a, "discount"_a, "sharpness"_a,
      "handicaps"_a = std::vector<double>()) = [](int64_t p, std::vector<double> rates, double ridge, double discount,
                                                  double sharpness, std::vector<double> handicaps) {
    if (rates.empty() || rates.size() > 8) throw std::invalid_argument("one to eight rates");
    if (handicaps.size() > rates.size()) throw std::invalid_argument("more handicaps than rates");
    return new Core(new RateBank(p, RateBankOptions{rates, handicaps, ridge, discount, sharpness}));
  };
  def("scaled", "inner"_a, "sparse"_a = false) = [](const Core &inner, bool sparse) {
    if (inner.sparse) return new Core(new SparseScaled(fresh(inner)));
    return new Core(new Scaled(fresh(inner), sparse));
  };
  def("dense_columns", "inner"_a,
      "A learner of sparse rows, of whose first columns a learner of dense rows learns.") = [](const Core &inner) {
    if (inner.sparse) throw std::invalid_argument("needs a learner of dense rows");
    return new Core(new DenseColumns(fresh(inner)));
  };
  def("centred_columns", "inner"_a, "columns"_a,
      "A learner of sparse rows whose first columns are centred and scaled before it.") = [](const Core &inner,
                                                                                             int64_t columns) {
    if (!inner.sparse || columns < 1) throw std::invalid_argument("needs a learner of sparse rows");
    return new Core(new CentredColumns(fresh(inner), columns));
  };
  def("products", "features"_a, "inner"_a,
      "A learner of a row's first features and of the products of any two of them, at unit scale.") =
      [](int64_t p, const Core &inner) {
        const int64_t first = features_of_terms(inner.learner->features());
        if (first < 1 || first > p)
          throw std::invalid_argument("needs a learner of k + k (k + 1) / 2 features, k up to p");
        return new Core(new Products(p, fresh(inner)));
      };
  def("damped", "inner"_a) = [](const Core &inner) { return new Core(new Damped(fresh(inner))); };
  def("few_classes", "inner"_a, "most"_a, "A learner that retires where there are more classes.") =
      [](const Core &inner, double most) { return new Core(new FewClasses(fresh(inner), most)); };
  def("joined", "members"_a, "Learners as one, with the probabilities of them all.") = [](std::vector<Core *> members) {
    const auto learners = fresh_learners(members);
    return new Core(new Joined(learners[0]->features(), learners));
  };
  def("committee", "members"_a, "discounts"_a, "sharpness"_a, "loss"_a, "handicaps"_a = std::vector<double>()) =
      [](std::vector<Core *> members, std::vector<double> discounts, double sharpness, const std::string &loss,
         std::vector<double> handicaps) {
        const auto learners = fresh_learners(members);
        return new Core(new Committee(learners[0]->features(), learners,
                                      MixingOptions{discounts, sharpness, loss_of(loss), handicaps}));
      };
  def("forecaster", "base"_a, "windows"_a, "horizon"_a, "discount"_a, "sharpness"_a,
      "residual_rate"_a) = [](const Core &base, std::vector<int64_t> windows, int64_t horizon, double discount,
                              double sharpness, double residual_rate) {
    if (base.learner->classes() || windows.empty()) throw std::invalid_argument("needs a fresh learner and a window");
    const ForecasterOptions options{windows, horizon, discount, sharpness, residual_rate};
    return new Core(new Forecaster(as<MeanLearner>(base), options));
  };
  def("forecast", "core"_a, "member"_a) = [](Core &core, int64_t member) {
    auto &forecaster = as<Forecaster>(core);
    if (member < 0 || member >= forecaster.members()) throw std::invalid_argument("no such forecast");
    const BriefLearning alone(core);
    const std::size_t c = forecaster.classes(), p = forecaster.features();
    std::vector<double> means(c * p), errors(c * p);
    forecaster.forecast(member, means.data(), errors.data());
    return std::make_tuple(owned_array(means.data(), {c, p}), owned_array(errors.data(), {c, p}));
  };
}

}  // namespace thalweg::THALWEG_LEVEL
