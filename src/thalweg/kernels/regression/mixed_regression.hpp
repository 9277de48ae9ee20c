// A mixture of regressors over rows scaled on line, with nothing to choose: linear ones (linear_bank.hpp), a quadratic one of few
// features (quadratic.hpp), tilings (number_tilings.hpp) over the target itself or over what a mixture of these smooth ones
// leaves of it, the last target and the mean of all; weighted by their recent squared errors (error_mixing.hpp).
//
// All is relative to the first target, which saves the digits of a large offset. A member's answer is held to the range of the
// targets so far and a tenth of it on either side. Each target of a row has a mixture of its own; all share the scaling.
//
// `robust`: residuals beyond a limit count by their size and not by its square (Huber 1964). The limit is twice the mean
// absolute residual of the last hundred rows, of which each counts at most three times as much as those before it.
#pragma once

#include <limits>
#include <optional>

#include "prefixed_state.hpp"
#include "regression/error_mixing.hpp"
#include "regression/linear_bank.hpp"
#include "regression/number_tilings.hpp"
#include "regression/quadratic.hpp"
#include "regression/regressor.hpp"
#include "regression/row_scaling.hpp"

namespace thalweg::THALWEG_LEVEL {

struct MixedOptions {
  std::vector<double> rates;            // of the linear bank; none: no bank
  std::vector<TilingOptions> tilings;   // over the target itself
  std::vector<TilingOptions> residual;  // over what the smooth members leave
  bool quadratic = false, baselines = true, robust = false;
};

class MixedTarget {
 public:
  MixedTarget(int64_t p, const MixedOptions &options)
      : options(options), smooth(smooth_members(options) + 1, {kSmoothDiscount}, kSmoothSharpness),
        mixing(members_of(options), {0.98, 0.995, 0.999}, 0.25) {
    if (!options.rates.empty()) bank.emplace(p, options.rates);
    if (options.quadratic) surface.emplace(p);
    for (const auto *group : {&options.tilings, &options.residual})
      for (const TilingOptions &each : *group) sets.emplace_back(p, each);
  }

  static int64_t smooth_members(const MixedOptions &o) { return int64_t(o.rates.size()) + o.quadratic; }
  static int64_t members_of(const MixedOptions &o) {
    int64_t all = smooth_members(o) + 2 * o.baselines;
    for (const auto *group : {&o.tilings, &o.residual})
      for (const TilingOptions &each : *group) all += int64_t(each.steps.size());
    return all;
  }
  int64_t members() const { return mixing.members(); }
  const Buffer &weights() const { return mixing.weights(); }
  bool awake() const { return rows > 0; }

  double answer(const double *z) const {
    if (!awake()) return 0;
    Scratch room(members());
    opinions(z, room.data());
    return origin + mixing.mix(room.data());
  }
  void member_answers(const double *z, double *out) const {
    opinions(z, out);
    for (int64_t i = 0; i < members(); i++) out[i] += origin;
  }

  // The answer before the row, which is then learned. Members are judged by what they answered when it was predicted, where that
  // is known (`before`), and else by what they answer now.
  double learn(const double *z, double target, double times, const double *before = nullptr, double delay = 0) {
    const bool first = !awake();
    if (first) origin = target;
    const double y = target - origin;
    Scratch room(members());
    double *answers = room.data(), *next = answers;
    const Lanes lines = bank ? bank->answers(z) : Lanes(0.0);
    const double curve = surface ? surface->answer(z) : 0, base = take_smooth(lines, curve, next);
    for (std::size_t i = 0; i < sets.size(); i++)
      take_set(sets[i].answers(z), base_of(i, base), sets[i].members(), next);
    if (options.baselines) *next++ = last, *next++ = mean;
    const double given = mixing.mix(answers), limit = first ? kNone : limit_now();
    if (!first) {
      Scratch then(members());
      if (before && !std::isnan(*before)) {
        std::transform(before, before + members(), then.data(), [this](double each) { return each - origin; });
        answers = then.data();
      }
      const double calm = answers == then.data() ? times * std::min(1.0, kSeries / std::max(delay, 1.0)) : times;
      if (!options.residual.empty()) judge_smooth(answers, y, calm, limit);
      mixing.judge(answers, y, calm, limit);
    }
    if (bank) bank->learn(z, Lanes(y) - lines, times, limit);
    if (surface) surface->learn(y - curve, times, limit);
    for (std::size_t i = 0; i < sets.size(); i++) sets[i].learn(y - base_of(i, base), times, limit);
    follow(y, first ? y : given + std::clamp(y - given, -limit, limit), given, times);
    return first ? 0 : origin + given;
  }

  void begin() {
    if (bank) bank->begin();
    if (surface) surface->begin();
    for (NumberTilings &set : sets) set.begin();
    smooth.begin();
    mixing.begin();
    rows = origin = lowest = highest = mean = last = size = 0;
  }

  void visit(State &state) {
    state.real("rows", rows);
    state.real("origin", origin);
    state.real("lowest", lowest);
    state.real("highest", highest);
    state.real("mean", mean);
    state.real("last", last);
    state.real("residual_size", size);
    if (!(rows >= 0)) throw BadState("rows");
    if (!(size >= 0)) throw BadState("residual_size");
    for (double value : {origin, lowest, highest, mean, last})
      if (!std::isfinite(value)) throw BadState("mean");
    if (!(lowest <= highest)) throw BadState("lowest");
    PrefixedState of_mixing(state, "mixing_");
    mixing.visit(of_mixing);
    PrefixedState of_smooth(state, "smooth_mixing_"), of_bank(state, "bank_"), of_surface(state, "quadratic_");
    if (!options.residual.empty()) smooth.visit(of_smooth);
    if (bank) bank->visit(of_bank);
    if (surface) surface->visit(of_surface);
    for (std::size_t i = 0; i < sets.size(); i++) {
      PrefixedState of_set(state, "tilings" + std::to_string(i) + "_");
      sets[i].visit(of_set);
    }
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  static constexpr double kBeyond = 0.1;         // of the range of the targets, by which an answer may leave it
  static constexpr double kHuber = 2, kCut = 3;  // mean absolute residuals: the limit, and the most that one may be
  // Errors of late predictions come in series as long as the delay: beyond so many rows each counts for less in proportion, or the
  // weights would follow the last series.
  static constexpr double kSeries = 10;
  static constexpr double kSizeGain = 0.01, kTrusted = 20;
  static constexpr double kSmoothDiscount = 0.99, kSmoothSharpness = 0.5;

  double held(double answer) const {
    const double more = kBeyond * (highest - lowest);
    return std::clamp(answer, lowest - more, highest + more);
  }
  double base_of(std::size_t set, double base) const { return set < options.tilings.size() ? 0 : base; }
  double limit_now() const { return options.robust && rows >= kTrusted ? kHuber * size : kNone; }

  template <class Act> auto with_mean(const double *answers, Act act) const {
    double all[Lanes::kCount + 2];
    *std::copy_n(answers, smooth.members() - 1, all) = mean;
    return act(all);
  }
  // The answers of the smooth members, and that of their mixture with the mean.
  double take_smooth(const Lanes &lines, double curve, double *&next) const {
    const double *first = next;
    for (int64_t i = 0; bank && i < bank->members(); i++) *next++ = held(lines[int(i)]);
    if (surface) *next++ = held(curve);
    return options.residual.empty() ? 0 : with_mean(first, [this](const double *all) { return smooth.mix(all); });
  }
  void take_set(const double *sums, double base, int64_t count, double *&next) const {
    for (int64_t i = 0; i < count; i++) *next++ = held(base + sums[i]);
  }
  void opinions(const double *z, double *next) const {
    const double base = take_smooth(bank ? bank->answers(z) : Lanes(0.0), surface ? surface->answer(z) : 0, next);
    for (std::size_t i = 0; i < sets.size(); i++) {
      double sums[NumberTilings::kSteps];
      sets[i].answers(z, sums);
      take_set(sums, base_of(i, base), sets[i].members(), next);
    }
    if (options.baselines) *next++ = last, *next++ = mean;
  }
  void judge_smooth(const double *answers, double y, double times, double limit) {
    with_mean(answers, [&](const double *all) { smooth.judge(all, y, times, limit); });
  }

  // The target, and the same within the limit of the answer.
  void follow(double y, double near, double given, double times) {
    const double residual = std::fabs(y - given);
    if (awake()) {
      const double cut = rows >= kTrusted && size > 0 ? std::min(residual, kCut * size) : residual;
      size += std::max(times / rows, repeated(kSizeGain, times)) * (cut - size);
    }
    rows += times;
    mean += times / rows * (near - mean);
    lowest = std::min(lowest, near);
    highest = std::max(highest, near);
    last = y;
  }

  MixedOptions options;
  std::optional<LinearBank> bank;
  std::optional<Quadratic> surface;
  std::vector<NumberTilings> sets;
  ErrorMixing smooth, mixing;
  double rows = 0;                                                 // weight of all rows
  double origin = 0, lowest = 0, highest = 0, mean = 0, last = 0;  // the rest is relative to the origin
  double size = 0;                                                 // mean absolute residual
};

class MixedRegression final : public Regressor {
 public:
  MixedRegression(int64_t p, const MixedOptions &options) : Regressor(p), options(options), scaling(p), z(p) {}

  MixedRegression *copy() const override { return new MixedRegression(*this); }
  int64_t members() const override { return MixedTarget::members_of(options); }
  void shares(double *out) const override {
    std::fill_n(out, outputs() * members(), 1 / double(members()));
    for (const MixedTarget &target : targets) out = std::copy(target.weights().begin(), target.weights().end(), out);
  }
  void member_answers(const double *x, double *out) const override {
    Scratch room(features());
    scaling.scale(x, room.data());
    std::fill_n(out, outputs() * members(), 0.0);
    for (const MixedTarget &target : targets) {
      target.member_answers(room.data(), out);
      out += members();
    }
  }

  void answer(const double *x, double *out) const override {
    Scratch room(features());
    scaling.scale(x, room.data());
    std::fill_n(out, outputs(), 0.0);
    for (const MixedTarget &target : targets) *out++ = target.answer(room.data());
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
      PrefixedState own(state, "target" + std::to_string(o) + "_");
      targets[o].visit(own);
    }
  }

  void learn_late(const double *x, const double *y, double weight, const double *opinions, double delay) override {
    Scratch unasked(outputs());
    if (weight > 0) learn(x, y, weight, unasked.data(), opinions, delay);
  }

 protected:
  void make_room() override { targets.clear(); }
  void learn(const double *x, const double *y, double weight, double *given) override {
    learn(x, y, weight, given, nullptr, 0);
  }

 private:
  // The row is learned at the scale it is answered at; then the scale learns the row.
  void learn(const double *x, const double *y, double weight, double *given, const double *opinions, double delay) {
    have_targets(outputs());
    scaling.scale(x, z.data());
    for (int64_t o = 0; o < outputs(); o++)
      given[o] = targets[o].learn(z.data(), y[o], weight, opinions ? opinions + o * members() : nullptr, delay);
    scaling.learn(x, weight);
  }
  void have_targets(int64_t count) {
    while (int64_t(targets.size()) < count) targets.emplace_back(features(), options);
  }

  MixedOptions options;
  std::vector<MixedTarget> targets;
  RowScaling scaling;
  Buffer z;
};

}  // namespace thalweg::THALWEG_LEVEL
