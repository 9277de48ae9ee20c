// A mixture of regressors over rows scaled on line, with nothing to choose: linear ones (linear_bank.hpp), a quadratic one of few
// features (quadratic.hpp), tilings (number_tilings.hpp) over the target itself or over what a mixture of these smooth ones
// leaves of it, a forest over the rows as they come (number_forest.hpp), the last target and the mean of all; weighted by their recent squared errors (error_mixing.hpp), and where
// targets come late by what they had predicted (late_mixing.hpp).
//
// Each target of a row has a mixture of its own (target_level.hpp says what else is kept of it); all share the scaling.
#pragma once

#include <optional>

#include "forest/number_forest.hpp"
#include "regression/late_mixing.hpp"
#include "regression/linear_bank.hpp"
#include "regression/number_tilings.hpp"
#include "regression/quadratic.hpp"
#include "regression/regressor.hpp"
#include "row_scaling.hpp"
#include "regression/target_level.hpp"

namespace thalweg::THALWEG_LEVEL {

struct MixedOptions {
  std::vector<double> rates;            // of the linear bank; none: no bank
  std::vector<TilingOptions> tilings;   // over the target itself
  std::vector<TilingOptions> residual;  // over what the smooth members leave
  bool quadratic = false, baselines = true, robust = false;
  std::vector<NumberForestOptions> forests = {};  // over the target, or what the smooth members leave
};

class MixedTarget {
 public:
  MixedTarget(int64_t p, const MixedOptions &options)
      : options(options), level(options.robust),
        smooth(smooth_members(options) + 1, {kSmoothDiscount}, kSmoothSharpness),
        mixing(members_of(options), members_of(options) - 1) {
    if (!options.rates.empty()) bank.emplace(p, options.rates);
    if (options.quadratic) surface.emplace(p);
    for (const auto *group : {&options.tilings, &options.residual})
      for (const TilingOptions &each : *group) sets.emplace_back(p, each);
    for (const NumberForestOptions &each : options.forests) forests.emplace_back(p, each);
  }

  static int64_t smooth_members(const MixedOptions &o) { return int64_t(o.rates.size()) + o.quadratic; }
  static int64_t members_of(const MixedOptions &o) {
    int64_t all = smooth_members(o) + 2 * o.baselines;
    for (const NumberForestOptions &each : o.forests) all += NumberForest::members_of(each);
    for (const auto *group : {&o.tilings, &o.residual})
      for (const TilingOptions &each : *group) all += int64_t(each.steps.size());
    return all;
  }
  int64_t members() const { return mixing.members(); }
  const Buffer &weights() const { return mixing.weights(); }

  // `x` is a row as it came, and `z` as it is scaled; `filled` are the shares of values that are not zero.
  double answer(const double *x, const double *z) const {
    if (!level.awake()) return 0;
    Scratch room(members());
    member_answers(x, z, room.data());
    return level.origin + mixing.mix(room.data());
  }
  // What the members and mixtures of them answer; the answer.
  double opinions(const double *x, const double *z, double *out) const {
    member_answers(x, z, out);
    return mixing.complete(out, level.origin);
  }

  // The answer before the row, which is then learned. Members are judged by what they answered when it was predicted, where that
  // is known (`before`), and else by what they answer now.
  double learn(const double *x, const double *z, const double *filled, double target, double times,
               const double *before = nullptr, double delay = 0) {
    const bool first = !level.awake();
    if (first) level.origin = target;
    Scratch room(members());
    double *answers = room.data(), *next = answers;
    const Lanes lines = bank ? bank->answers(z) : Lanes(0.0);
    const double curve = surface ? surface->answer(z) : 0, base = take_smooth(lines, curve, next);
    for (std::size_t i = 0; i < sets.size(); i++)
      take_set(sets[i].answers(z), base_of(i, base), sets[i].members(), next);
    for (std::size_t i = 0; i < forests.size(); i++) take_forest(forests[i], i, x, base, next);
    if (options.baselines) *next++ = level.last, *next++ = level.mean;
    const double given = mixing.mix(answers), limit = level.limit(), far = target - level.origin;
    const double y = level.tamed(far, given);
    const LateAnswers late(before, mixing.opinion_count(), level.origin, delay);
    if (late.come_late) mixing.come_late(delay);
    if (!first) {
      if (!options.residual.empty()) judge_smooth(late.answers ? late.answers : answers, y, times * late.weight, limit);
      if (late.answers || !late.come_late) mixing.judge(answers, late.answers, y, times, limit, delay);
    }
    if (bank) bank->learn(z, filled, Lanes(y) - lines, times, limit);
    if (surface) surface->learn(y - curve, times, limit);
    for (std::size_t i = 0; i < sets.size(); i++) sets[i].learn(y - base_of(i, base), times, limit);
    const double cut = std::fabs(y - given) <= limit ? y : given + std::clamp(y - given, -limit, limit);
    for (std::size_t i = 0; i < forests.size(); i++) forests[i].learn(cut - rest_base(i, base), times);
    const double answered = first ? 0 : level.origin + given;
    level.hold_within(mixing.reach());
    if (level.follow(far, given, limit, times)) {
      begin();
      learn(x, z, filled, target, times);
    }
    return answered;
  }

  void begin() {
    if (bank) bank->begin();
    if (surface) surface->begin();
    for (NumberTilings &set : sets) set.begin();
    for (NumberForest &forest : forests) forest.begin();
    smooth.begin();
    mixing.begin();
    level.begin();
  }

  void visit(State &state) {
    level.visit(state);
    state.part("mixing_", mixing);
    level.hold_within(mixing.reach());
    if (!options.residual.empty()) state.part("smooth_mixing_", smooth);
    if (bank) state.part("bank_", *bank);
    if (surface) state.part("quadratic_", *surface);
    for (std::size_t i = 0; i < sets.size(); i++) state.part("tilings" + std::to_string(i) + "_", sets[i]);
    for (std::size_t i = 0; i < forests.size(); i++) state.part("forest" + std::to_string(i) + "_", forests[i]);
  }

 private:
  static constexpr double kSmoothDiscount = 0.99, kSmoothSharpness = 0.5;

  double base_of(std::size_t set, double base) const { return set < options.tilings.size() ? 0 : base; }

  template <class Act> auto with_mean(const double *answers, Act act) const {
    double all[Lanes::kCount + 2];
    *std::copy_n(answers, smooth.members() - 1, all) = level.mean;
    return act(all);
  }
  // The answers of the smooth members, and that of their mixture with the mean.
  double take_smooth(const Lanes &lines, double curve, double *&next) const {
    const double *first = next;
    for (int64_t i = 0; bank && i < bank->members(); i++) *next++ = level.held(lines[int(i)]);
    if (surface) *next++ = level.held(curve);
    return options.residual.empty() ? 0 : with_mean(first, [this](const double *all) { return smooth.mix(all); });
  }
  void take_set(const double *sums, double base, int64_t count, double *&next) const {
    for (int64_t i = 0; i < count; i++) *next++ = level.held(base + sums[i]);
  }
  double rest_base(std::size_t forest, double base) const { return options.forests[forest].of_rest ? base : 0; }
  template <class Forest>
  void take_forest(Forest &forest, std::size_t i, const double *x, double base, double *&next) const {
    forest.answers(x, next);
    for (int64_t k = 0; k < forest.members(); k++, next++) *next = level.held(rest_base(i, base) + *next);
  }
  void member_answers(const double *x, const double *z, double *next) const {
    const double base = take_smooth(bank ? bank->answers(z) : Lanes(0.0), surface ? surface->answer(z) : 0, next);
    for (std::size_t i = 0; i < sets.size(); i++) {
      double sums[NumberTilings::kSteps];
      sets[i].answers(z, sums);
      take_set(sums, base_of(i, base), sets[i].members(), next);
    }
    for (std::size_t i = 0; i < forests.size(); i++) take_forest(forests[i], i, x, base, next);
    if (options.baselines) *next++ = level.last, *next++ = level.mean;
  }
  void judge_smooth(const double *answers, double y, double times, double limit) {
    with_mean(answers, [&](const double *all) { smooth.judge(all, y, times, limit); });
  }

  MixedOptions options;
  std::optional<LinearBank> bank;
  std::optional<Quadratic> surface;
  std::vector<NumberTilings> sets;
  std::vector<NumberForest> forests;
  TargetLevel level;
  ErrorMixing smooth;
  TargetMixing mixing;
};

class MixedRegression final : public Regressor {
 public:
  MixedRegression(int64_t p, const MixedOptions &options)
      : Regressor(p), options(options), scaling(p, !options.rates.empty()), z(p) {}

  MixedRegression *copy() const override { return new MixedRegression(*this); }
  int64_t members() const override { return MixedTarget::members_of(options); }
  void shares(double *out) const override {
    std::fill_n(out, outputs() * members(), 1 / double(members()));
    for (const MixedTarget &target : targets) out = std::copy(target.weights().begin(), target.weights().end(), out);
  }
  int64_t opinion_count() const override { return members() + LateMixing::kMixtures; }
  void answer_with_opinions(RowView x, double *out, double *given) const override {
    Scratch room(features());
    scaling.scale(x, room.data());
    std::fill_n(out, outputs(), 0.0);
    std::fill_n(given, outputs() * opinion_count(), 0.0);
    for (const MixedTarget &target : targets) {
      *out++ = target.opinions(x, room.data(), given);
      given += opinion_count();
    }
  }

  void answer(RowView x, double *out) const override {
    Scratch room(features());
    scaling.scale(x, room.data());
    std::fill_n(out, outputs(), 0.0);
    for (const MixedTarget &target : targets) *out++ = target.answer(x, room.data());
  }
  void begin(const double *X, const double *Y, const double *weights, int64_t rows) override {
    scaling.forget();
    for (MixedTarget &target : targets) target.begin();
    run(X, Y, weights, rows, {});
  }
  void visit(State &state) override {
    visit_outputs(state);
    scaling.visit(state);
    for (int64_t o = 0; o < outputs(); o++) {
      have_targets(o + 1);  // one by one: a forged number of them ends at the first that is missing
      state.part("target" + std::to_string(o) + "_", targets[o]);
    }
  }

 protected:
  void make_room() override { targets.clear(); }
  // The row is learned at the scale it is answered at; then the scale learns the row.
  void learn(RowView x, const double *y, double weight, double *given, const double *opinions, double delay) override {
    have_targets(outputs());
    scaling.scale(x, z.data());
    for (int64_t o = 0; o < outputs(); o++)
      given[o] = targets[o].learn(x, z.data(), scaling.filled(), y[o], weight,
                                  opinions ? opinions + o * opinion_count() : nullptr, delay);
    scaling.learn(x, weight);
  }

 private:
  void have_targets(int64_t count) {
    while (int64_t(targets.size()) < count) targets.emplace_back(features(), options);
  }

  MixedOptions options;
  std::vector<MixedTarget> targets;
  RowScaling scaling;
  Buffer z;
};

}  // namespace thalweg::THALWEG_LEVEL
