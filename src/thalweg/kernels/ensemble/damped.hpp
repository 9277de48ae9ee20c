// Learners that see slow features damped. A clock or a counter hardly changes over the memory of a quick learner, which takes
// its few values for a trend and extrapolates; the later the labels, the farther.
//
// A feature is slow by its mean squared change from row to row, relative to that of independent rows,
//     s = mean (z_t - z_{t-1})^2 / (2 mean z_t^2),
// and is multiplied by sqrt(s / kSlow) where that is below 1: the learners' ridge then outweighs what varies little.
// Rows are expected at unit scale (scaled.hpp). O(p) a row beside the members.
#pragma once

#include "ensemble/committee.hpp"
#include "running_variance.hpp"

namespace thalweg::THALWEG_LEVEL {

class Damped final : public Learner {
 public:
  Damped(int64_t p, const std::vector<const Learner *> &given)
      : Learner(p), last(p), squares(p), changes(p), factor(p, 1.0), z(p) {
    traits_.posteriors = 0;
    for (const Learner *member : given) {
      team.emplace_back(member->copy());
      traits_.posteriors += member->traits().posteriors;
    }
  }
  Learner *copy() const override { return new Damped(*this); }

  void posteriors(RowView x, double *out) const override {
    Scratch room(features());
    damp(x, room.data());
    for (const auto &member : team) {
      member->posteriors(room.data(), out);
      out += member->traits().posteriors * classes();
    }
  }
  // On its own, all members count alike.
  void scores(RowView x, double *out) const override {
    Scratch room(traits_.posteriors * classes());
    posteriors(x, room.data());
    average(room.data(), out);
    for (int64_t c = 0; c < classes(); c++) out[c] = rows > 0 ? std::log(out[c]) : -__builtin_inf();
  }

  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    const bool shows = wanted.kind == Wanted::kPosteriors, awake = rows > 0;
    if (!shows) show(x, wanted);
    Scratch room(classes() + (shows ? 0 : traits_.posteriors * classes()));
    double *mean = room.data(), *opinions = shows ? wanted.out : mean + classes(), *at = opinions;
    damp(x, z.data());
    for (auto &member : team) {
      member->step(z.data(), k, weight, {Wanted::kPosteriors, at});
      at += member->traits().posteriors * classes();
    }
    measure(x, weight);
    average(opinions, mean);
    return awake ? highest(mean, classes()) : -1;
  }

  void forget() override {
    rows = 0;
    for (Buffer *values : {&last, &squares, &changes}) values->fill(0);
    factor.fill(1);
    for (auto &member : team) member->forget();
  }

  void visit(State &state) override {
    visit_classes(state);
    state.real("rows", rows, not_negative);
    state.matrix("last", last, 1, features(), features(), finite);
    state.matrix("squares", squares, 1, features(), features(), amount);
    state.matrix("changes", changes, 1, features(), features(), amount);
    find_factors();
    visit_members(state, team, classes());
  }

 protected:
  void insert(int64_t at) override {
    for (auto &member : team) member->announce(at);
  }

 private:
  static constexpr double kSlow = 0.005, kMemory = RunningVariance::kLongRun, kUnsettled = 100;

  void damp(const double *x, double *to) const {
    for (int64_t j = 0; j < features(); j++) to[j] = factor[j] * x[j];
  }
  void average(const double *opinions, double *out) const {
    std::fill(out, out + classes(), 0.0);
    for (int64_t v = 0; v < traits_.posteriors; v++)
      for (int64_t c = 0; c < classes(); c++) out[c] += opinions[v * classes() + c] / double(traits_.posteriors);
  }
  // The first rows say nothing: their changes are those of a scale that is not settled yet.
  void measure(const double *x, double weight) {
    rows += weight;
    const double counted = rows - kUnsettled, gain = std::max(weight / counted, repeated(kMemory, weight));
    for (int64_t j = 0; j < features(); j++) {
      const double change = x[j] - last[j];
      last[j] = x[j];
      if (counted < weight) continue;
      squares[j] += gain * (x[j] * x[j] - squares[j]);
      changes[j] += gain * (change * change - changes[j]);
    }
    find_factors();
  }
  void find_factors() {
    for (int64_t j = 0; j < features(); j++) {
      const double slow = 2 * kSlow * squares[j];
      factor[j] = changes[j] < slow ? std::sqrt(changes[j] / slow) : 1;
    }
  }

  std::vector<Owned<Learner>> team;
  double rows = 0;
  Buffer last, squares, changes, factor, z;
};

}  // namespace thalweg::THALWEG_LEVEL
