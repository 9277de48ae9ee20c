// A mixture of regressors over sparse rows, with nothing to choose. The first columns may be dense: a regressor made of others
// (mixed_regression.hpp) learns these, and its members are members here. Linear members over the other columns learn what the
// mixture of those leaves of the target, or what the mean of all targets leaves where no column is dense; the last target and the
// mean are then members, too. All are weighted by their recent squared errors (error_mixing.hpp).
//
// Values are relative to the root mean square of their feature's, the present one among them, so that none is far from 1.
// O(1) for each value that is not zero and each linear member, and what the dense columns take.
#pragma once

#include "linear/feature_steps.hpp"
#include "regression/late_mixing.hpp"
#include "rows/dense_part.hpp"
#include "regression/regressor.hpp"
#include "regression/target_level.hpp"
#include "sparse_scale.hpp"

namespace thalweg::THALWEG_LEVEL {

// A linear regression with a step size for each feature. A step leaves nothing of its own row's residual at the most: rows of many
// values would overshoot.
class SparseLinear {
 public:
  SparseLinear(double rate, double forgetting, int64_t slots) : rate(rate), weights(0), steps(weights, forgetting) {
    weights.assign(1);
    appear(slots);
  }
  void appear(int64_t count) {
    weights.appear(count);
    steps.appear(count);
  }
  double answer(const SparseRow &z) const { return bias + weights.dot(0, z); }
  void learn(const SparseRow &z, double residual, double times) {
    const double square = steps.learn(z, times), by = std::min(times * rate, 1 / square) * residual;
    bias += steps.bias_step() * by;
    weights.add(0, by, steps.scaled());
  }
  void visit(State &state) {
    state.real("bias", bias, finite);
    weights.visit(state, "weights", 1);
    steps.visit(state, weights.features());
    for (int64_t j = 0; j < weights.features(); j++)
      if (!std::isfinite(weights.at(0, j))) throw BadState("weights");
  }

 private:
  double rate, bias = 0;
  SparseWeights weights;
  FeatureSteps<SparseWeights> steps;
};

struct SparseMixedOptions {
  std::vector<double> rates, forgetting;  // of each linear member
  bool robust = false;
};

class SparseMixedTarget {
 public:
  // `dense`: how many members the dense columns have.
  SparseMixedTarget(const SparseMixedOptions &options, int64_t dense, int64_t slots)
      : options(options), dense(dense), slots(slots), level(options.robust),
        mixing(members_of(options, dense), dense ? dense - 1 : members_of(options, dense) - 1) {
    begin();
  }
  void begin() {
    linear.clear();
    for (std::size_t i = 0; i < options.rates.size(); i++)
      linear.emplace_back(options.rates[i], options.forgetting[i], slots);
    mixing.begin();
    level.begin();
  }

  static int64_t members_of(const SparseMixedOptions &o, int64_t dense) {
    return dense + int64_t(o.rates.size()) + (dense ? 0 : 2);
  }
  int64_t members() const { return mixing.members(); }
  const Buffer &weights() const { return mixing.weights(); }
  void appear(int64_t count) {
    slots += count;
    for (SparseLinear &each : linear) each.appear(count);
  }

  // The mixture of the dense columns' members, and what each of them answers, are `base` and `theirs`.
  double answer(const SparseRow &z, double base, const double *theirs) const {
    if (!level.awake()) return 0;
    Scratch room(members());
    member_answers(z, base_of(base), theirs, room.data());
    return level.origin + mixing.mix(room.data());
  }
  // What the members and mixtures of them answer; the answer.
  double opinions(const SparseRow &z, double base, const double *theirs, double *out) const {
    member_answers(z, base_of(base), theirs, out);
    return mixing.complete(out, level.origin);
  }
  int64_t opinion_count() const { return mixing.opinion_count(); }
  double learn(const SparseRow &z, double base, const double *theirs, double target, double times, const double *before,
               double delay) {
    const bool first = !level.awake();
    if (first) level.origin = target;
    const double far = target - level.origin, rest = first ? far : base_of(base);
    Scratch room(members());
    member_answers(z, rest, theirs, room.data());
    const double given = mixing.mix(room.data()), limit = level.limit(), y = level.tamed(far, given);
    const LateAnswers late(before, opinion_count(), level.origin, delay);
    if (late.come_late) mixing.come_late(delay);
    if (!first && (late.answers || !late.come_late)) mixing.judge(room.data(), late.answers, y, times, limit, delay);
    for (SparseLinear &each : linear) each.learn(z, std::clamp(y - rest - each.answer(z), -limit, limit), times);
    const double answered = first ? 0 : level.origin + given;
    level.hold_within(mixing.reach());
    if (level.follow(far, given, limit, times)) {
      begin();
      learn(z, base, theirs, target, times, nullptr, 0);
    }
    return answered;
  }

  void visit(State &state) {
    level.visit(state);
    state.part("mixing_", mixing);
    level.hold_within(mixing.reach());
    for (std::size_t i = 0; i < linear.size(); i++) state.part("linear" + std::to_string(i) + "_", linear[i]);
  }

 private:
  double base_of(double base) const { return dense ? base - level.origin : level.mean; }
  void member_answers(const SparseRow &z, double rest, const double *theirs, double *next) const {
    for (int64_t i = 0; i < dense; i++) *next++ = theirs[i] - level.origin;
    for (const SparseLinear &each : linear) *next++ = level.held(rest + each.answer(z));
    if (!dense) *next++ = level.last, *next++ = level.mean;
  }

  SparseMixedOptions options;
  int64_t dense, slots;
  std::vector<SparseLinear> linear;
  TargetLevel level;
  TargetMixing mixing;
};

class SparseMixedRegression final : public Regressor {
 public:
  // `inner`: what learns the dense columns; null where there are none.
  SparseMixedRegression(const Regressor *inner, const SparseMixedOptions &options)
      : Regressor(0), inner(inner ? inner->copy() : nullptr), options(options), dense(inner ? inner->features() : 0) {}
  SparseMixedRegression *copy() const override { return new SparseMixedRegression(*this); }

  int64_t members() const override { return SparseMixedTarget::members_of(options, dense_members()); }
  void shares(double *out) const override {
    std::fill_n(out, outputs() * members(), 1 / double(members()));
    for (const SparseMixedTarget &target : targets)
      out = std::copy(target.weights().begin(), target.weights().end(), out);
  }
  void appear(const int64_t *ids, int64_t count) override {
    slots += count;
    dense.appear(ids, count);
    scale.appear(ids, count);
    for (SparseMixedTarget &target : targets) target.appear(count);
  }
  void answer(RowView x, double *out) const override {
    std::fill_n(out, outputs(), 0.0);
    if (targets.empty()) return;
    const Split row(x.sparse(), *this);
    for (int64_t o = 0; o < outputs(); o++) out[o] = targets[o].answer(row.z, row.base(o), row.theirs(o));
  }
  // Behind them the mixtures of the dense columns' members.
  int64_t opinion_count() const override { return members() + LateMixing::kMixtures + dense_mixtures(); }
  void answer_with_opinions(RowView x, double *out, double *given) const override {
    std::fill_n(out, outputs(), 0.0);
    std::fill_n(given, outputs() * opinion_count(), 0.0);
    if (targets.empty()) return;
    const Split row(x.sparse(), *this);
    for (int64_t o = 0; o < outputs(); o++, given += opinion_count()) {
      out[o] = targets[o].opinions(row.z, row.base(o), row.theirs(o), given);
      std::copy_n(row.theirs(o) + row.members, dense_mixtures(), given + targets[o].opinion_count());
    }
  }
  // Rows follow one by one.
  void begin(const double *, const double *Y, const double *weights, int64_t) override {
    scale.forget();
    targets.clear();
    if (inner) inner->begin(nullptr, Y, weights, 0);
  }
  void visit(State &state) override {
    visit_outputs(state);
    scale.visit(state);
    if (inner) state.part("dense_", *inner);
    if (inner && inner->outputs() != outputs()) throw BadState("n_outputs");
    for (int64_t o = 0; o < outputs(); o++) {
      have_targets(o + 1);  // one by one: a forged number of them ends at the first that is missing
      state.part("target" + std::to_string(o) + "_", targets[o]);
    }
  }

 protected:
  void make_room() override {
    targets.clear();
    if (inner) inner->widen(outputs());
  }
  // The row is learned at the scale it is answered at; then the scale learns the row.
  void learn(RowView x, const double *y, double weight, double *given, const double *opinions, double delay) override {
    have_targets(outputs());
    const Split row(x.sparse(), *this);
    for (int64_t o = 0; o < outputs(); o++)
      given[o] = targets[o].learn(row.z, row.base(o), row.theirs(o), y[o], weight,
                                  opinions ? opinions + o * opinion_count() : nullptr, delay);
    const SparseRow &values = x.sparse();
    for (int64_t i = 0; i < values.count; i++)
      if (!dense.holds(values.slots[i])) scale.learn(values.slots[i], values.values[i], weight);
    if (inner) learn_dense(row, y, weight, opinions, delay);
  }

 private:
  static constexpr double kMostRows = 10'000;  // of the scale

  int64_t dense_members() const { return inner ? inner->members() : 0; }
  int64_t dense_mixtures() const { return inner ? inner->opinion_count() - inner->members() : 0; }
  void have_targets(int64_t count) {
    while (int64_t(targets.size()) < count) targets.emplace_back(options, dense_members(), slots);
  }

  // The dense columns with what their members answer, and the others as linear members take them. Features that no learned row had
  // have no weight.
  struct Split {
    Split(const SparseRow &x, const SparseMixedRegression &of)
        : dense(of.dense.columns()), members(of.dense_members()), given_each(members + of.dense_mixtures()) {
      slots.reserve(x.count);
      values.reserve(x.count);
      for (int64_t i = 0; i < x.count; i++) {
        const int64_t slot = x.slots[i];
        if (of.dense.holds(slot)) continue;
        slots.push_back(int32_t(slot));
        values.push_back(of.scale.scaled_among(slot, x.values[i]));
      }
      of.dense.read(x, dense.data());
      z.slots = slots.data();
      z.values = values.data();
      z.count = int64_t(slots.size());
      if (!of.inner) return;
      answers.resize(of.outputs() * given_each);
      shares.resize(of.outputs() * members);
      of.inner->opinions(dense.data(), answers.data());
      of.inner->shares(shares.data());
    }
    const double *theirs(int64_t output) const { return answers.data() + output * given_each; }
    double base(int64_t output) const {
      double sum = 0;
      for (int64_t i = 0; i < members; i++) sum += shares[output * members + i] * theirs(output)[i];
      return sum;
    }
    Buffer dense, answers, shares;
    std::vector<int32_t> slots;
    std::vector<double> values;
    SparseRow z;
    int64_t members, given_each;  // of the dense columns: members; these and their mixtures
  };

  void learn_dense(const Split &row, const double *y, double weight, const double *opinions, double delay) {
    Scratch unasked(outputs());
    if (!opinions) return inner->step(row.dense.data(), y, weight, unasked.data());
    Buffer theirs(outputs() * row.given_each);
    double *next = theirs.data();
    for (int64_t o = 0; o < outputs(); o++, opinions += opinion_count()) {
      next = std::copy_n(opinions, row.members, next);
      next = std::copy_n(opinions + opinion_count() - dense_mixtures(), dense_mixtures(), next);
    }
    inner->learn_late(row.dense.data(), y, weight, theirs.data(), delay);
  }

  Owned<Regressor> inner;
  SparseMixedOptions options;
  std::vector<SparseMixedTarget> targets;
  DensePart dense;
  int64_t slots = 0;
  SparseScale scale{kMostRows, true};
};

}  // namespace thalweg::THALWEG_LEVEL
