// The kernels as the page `watch.md` calls them: learners of two features and two classes, one row at a time.
//
// Compiled to WebAssembly by ../hooks/demonstration.py. composition.inc, which it writes, makes each learner by the calls
// that Python makes.
#include "bindings/grove_options.hpp"
#include "ensemble/committee.hpp"
#include "ensemble/damped.hpp"
#include "ensemble/few_classes.hpp"
#include "ensemble/joined.hpp"
#include "ensemble/products.hpp"
#include "ensemble/rate_bank.hpp"
#include "ensemble/scaled.hpp"
#include "forest/forest.hpp"
#include "kernel_mean/kernel_mean.hpp"
#include "linear/baselines.hpp"
#include "linear/logistic.hpp"
#include "linear/passive_aggressive.hpp"
#include "linear/perceptron.hpp"
#include "tilings/tilings.hpp"

using namespace thalweg::THALWEG_LEVEL;

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

// WebAssembly comes without exceptions here. What the kernels throw for, a damaged model file, cannot happen on the page.
extern "C" void *__cxa_allocate_exception(std::size_t) { __builtin_trap(); }
extern "C" void __cxa_throw(void *, void *, void (*)(void *)) { __builtin_trap(); }

namespace {

// The factories of Python's compiled module that composition.inc calls, with the arguments they have there.
namespace factories {

using Core = Owned<Learner>;
using Cores = std::vector<Core>;
using Numbers = std::vector<double>;

template <class Model, class... Options> Core made(Options &&...options) {
  return Core(new Model(std::forward<Options>(options)...));
}
std::vector<const Learner *> raw(const Cores &cores) {
  std::vector<const Learner *> all;
  for (const Core &core : cores) all.push_back(core.get());
  return all;
}

// What no learner of the page asks for is left out.
void expect(bool given) {
  if (!given) __builtin_trap();
}

Core majority(int64_t p, double keep, double doubt) { return made<Majority>(p, keep, doubt); }
Core no_change(int64_t p) { return made<NoChange>(p); }
Core perceptron(int64_t p, RateCode rate, double margin, bool averaged, double start_scale, uint64_t seed) {
  return made<Perceptron<DenseWeights>>(p, PerceptronOptions{margin, start_scale, averaged, true, seed},
                                        make_rate(rate, Rate::kPower, false));
}
Core passive_aggressive(int64_t p, double C, bool second) {
  return made<PassiveAggressive<DenseWeights>>(p, C, second);
}
Core logistic(int64_t p, RateCode rate, double penalty, bool per_feature = false, double forgetting = 0) {
  return made<Logistic<DenseWeights>>(p, LogisticOptions{penalty, per_feature, forgetting},
                                      make_rate(rate, Rate::kPower, false));
}
Core kernel_mean(int64_t p, int64_t budget, double forgetting, double sigma, Numbers rho, Numbers bias, bool single) {
  expect(single);
  return made<KernelMean<float>>(p, KernelMeanOptions{budget, forgetting, sigma, rho, bias});
}
Core tilings(int64_t p, int64_t count, int64_t depth, Numbers steps, Numbers decays, int64_t every, int64_t young,
             double share, uint64_t seed) {
  const TilingOptions options{count, depth, steps, decays, every, young, share, seed};
  return steps.size() == 1 ? made<Tilings<1>>(p, options) : made<Tilings<4>>(p, options);
}
Core forest(int64_t p, const std::vector<Numbers> &groves, int64_t rows, uint64_t seed) {
  return made<Forest>(p, read_groves(groves, rows), rows, seed);
}
Core rate_bank(int64_t p, Numbers rates, double ridge, double discount, double sharpness) {
  return made<RateBank>(p, RateBankOptions{rates, {}, ridge, discount, sharpness});
}
Core products(int64_t p, const Core &inner) { return made<Products>(p, *inner); }
Core damped(const Core &inner) { return made<Damped>(*inner); }
Core few_classes(const Core &inner, double most) { return made<FewClasses>(*inner, most); }
Core scaled(const Core &inner, bool sparse) { return made<Scaled>(*inner, sparse); }
Core joined(const Cores &members) { return made<Joined>(members[0]->features(), raw(members)); }
Core committee(const Cores &members, Numbers discounts, double sharpness, std::string loss, Numbers handicaps) {
  expect(loss == "auto");
  return made<Committee>(members[0]->features(), raw(members),
                         MixingOptions{discounts, sharpness, MixingOptions::kAuto, handicaps});
}

#include "composition.inc"

}  // namespace factories

constexpr int64_t kFeatures = 2, kClasses = 2;

// A learner, and what it keeps of predictions whose labels are late.
struct Watched {
  Owned<Learner> learner;
  std::vector<uint8_t> kept{};

  uint8_t *kept_of(int place) {
    const std::size_t size = learner->traits().kept_size, end = size * (place + 1);
    if (kept.size() < end) kept.resize(end);
    return size ? kept.data() + size * place : nullptr;
  }
};

}  // namespace

EXPORT(make) Watched *make(int which) {
  auto *made = new Watched{factories::compositions[which]()};
  for (int64_t c = 0; c < kClasses; c++) made->learner->announce(c);
  return made;
}
EXPORT(discard) void discard(Watched *model) { delete model; }

// The prediction of a row, which is then learned: the label comes with the row. -1: no prediction yet.
EXPORT(step) int step(Watched *model, double x1, double x2, int label) {
  const double x[kFeatures] = {x1, x2};
  return int(model->learner->step(x, label));
}
// The prediction of a row whose label comes later, or never; what is kept of it has this place.
EXPORT(predict) int predict(Watched *model, double x1, double x2, int place) {
  const double x[kFeatures] = {x1, x2};
  uint8_t *kept = model->kept_of(place);
  if (!kept) return int(model->learner->answer(x));
  double scores[kClasses];
  model->learner->keep(x, scores, kept);
  return int(Learner::highest(scores, kClasses));
}
EXPORT(learn) void learn(Watched *model, double x1, double x2, int label, int place) {
  const double x[kFeatures] = {x1, x2};
  const uint8_t *kept = model->kept_of(place);
  if (kept) model->learner->judge_by(kept);
  model->learner->step(x, label);
  if (kept) model->learner->judge_by(nullptr);
}

// The probability of class 1.
EXPORT(probability) double probability(const Watched *model, double x1, double x2) {
  const double x[kFeatures] = {x1, x2};
  double all[kClasses];
  model->learner->probabilities(x, all);
  return all[1];
}
