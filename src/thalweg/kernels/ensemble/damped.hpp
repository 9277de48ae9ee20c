// Learners that see slow features damped. A clock or a counter hardly changes over the memory of a quick learner, which takes
// its few values for a trend and extrapolates; the later the labels, the farther.
//
// A feature is slow by its mean squared change from row to row, relative to that of independent rows,
//     s = mean (z_t - z_{t-1})^2 / (2 mean z_t^2),
// and is multiplied by sqrt(s / kSlow) where that is below 1: the learners' ridge then outweighs what varies little.
// Rows are expected at unit scale (scaled.hpp). Each member has its own voice. O(p) a row beside the members.
#pragma once

#include <memory>

#include "ensemble/committee.hpp"
#include "running_variance.hpp"

namespace thalweg::THALWEG_LEVEL {

class Damped final : public Learner {
 public:
  Damped(int64_t p, const std::vector<const Learner *> &given)
      : Learner(p), last(p), squares(p), changes(p), factor(p, 1.0), z(p) {
    for (const Learner *member : given) team.emplace_back(member->copy());
    for (const auto &member : team) voices_ += member->voices();
  }
  Damped(const Damped &other)
      : Learner(other), voices_(other.voices_), rows(other.rows), last(other.last), squares(other.squares),
        changes(other.changes), factor(other.factor), z(other.z) {
    for (const auto &member : other.team) team.emplace_back(member->copy());
  }
  Learner *copy() const override { return new Damped(*this); }

  double rate() const override { return std::nan(""); }
  int64_t voices() const override { return voices_; }

  void posteriors(const double *x, double *out) const override {
    Scratch room(features());
    damp(x, room.data());
    for (const auto &member : team) {
      member->posteriors(room.data(), out);
      out += member->voices() * classes();
    }
  }
  // On its own, all voices count alike.
  void scores(const double *x, double *out) const override {
    Scratch room(voices_ * classes());
    posteriors(x, room.data());
    average(room.data(), out);
    for (int64_t c = 0; c < classes(); c++) out[c] = rows > 0 ? std::log(out[c]) : -__builtin_inf();
  }

  void judged_step(const double *x, int64_t k, double weight, double *out) override {
    damp(x, z.data());
    for (auto &member : team) {
      member->judged_step(z.data(), k, weight, out);
      out += member->voices() * classes();
    }
    if (weight > 0) measure(x, weight);
  }
  int64_t step(const double *x, int64_t k) override { return weighted_step(x, k, 1); }

  void begin(const double *X, const int64_t *y, int64_t given) override {
    rows = 0;
    for (Buffer *values : {&last, &squares, &changes}) values->fill(0);
    factor.fill(1);
    for (auto &member : team) member->begin(X, y, 0);
    for (int64_t i = 0; i < given; i++) step(X + i * features(), y[i]);
  }

  void visit(State &state) override {
    visit_classes(state);
    state.real("rows", rows);
    for (auto [name, values] : {std::pair("last", &last), {"squares", &squares}, {"changes", &changes}}) {
      state.matrix(name, *values, 1, features(), features());
      for (double value : *values)
        if (!std::isfinite(value) || (values != &last && value < 0)) throw BadState(name);
    }
    if (!(rows >= 0)) throw BadState("rows");
    find_factors();
    visit_members(state, team, classes());
  }

 protected:
  void insert(int64_t at) override {
    for (auto &member : team) member->announce(at);
  }
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    Scratch room((voices_ + 1) * classes());
    double *mean = room.data() + voices_ * classes();
    const bool awake = rows > 0;
    judged_step(x, k, weight, room.data());
    average(room.data(), mean);
    return awake ? highest(mean, classes()) : -1;
  }

 private:
  static constexpr double kSlow = 0.005, kMemory = RunningVariance::kLongRun, kUnsettled = 100;

  void damp(const double *x, double *to) const {
    for (int64_t j = 0; j < features(); j++) to[j] = factor[j] * x[j];
  }
  void average(const double *opinions, double *out) const {
    std::fill(out, out + classes(), 0.0);
    for (int64_t v = 0; v < voices_; v++)
      for (int64_t c = 0; c < classes(); c++) out[c] += opinions[v * classes() + c] / double(voices_);
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

  std::vector<std::unique_ptr<Learner>> team;
  int64_t voices_ = 0;
  double rows = 0;
  Buffer last, squares, changes, factor, z;
};

}  // namespace thalweg::THALWEG_LEVEL
