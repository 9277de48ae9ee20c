// A learner with several sets of probabilities: a committee weighs each of them by itself, and alone all count alike.
#pragma once

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class Equals : public Learner {
 public:
  using Learner::Learner;
  Equals *copy() const override = 0;

  void scores(RowView x, double *out) const override {
    Scratch room(traits_.posteriors * classes());
    posteriors(x, room.data());
    average(room.data(), out);
    for (int64_t c = 0; c < classes(); c++) out[c] = awake ? std::log(out[c]) : -__builtin_inf();
  }
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    const bool shows = wanted.kind == Wanted::kPosteriors, knows = awake;
    if (!shows) show(x, wanted);
    Scratch room(classes() * (1 + (shows ? 0 : traits_.posteriors)));
    double *mean = room.data(), *said = shows ? wanted.out : mean + classes();
    learn(x, k, weight, said);
    awake = 1;
    if (shows) return -1;
    average(said, mean);
    return knows ? highest(mean, classes()) : -1;
  }
  void forget() override { awake = 0; }
  void visit(State &state) override {
    visit_classes(state);
    state.integer("awake", awake, within<int64_t>(0, 1));
  }

 protected:
  // Learns a row, and says what it made of it before.
  virtual void learn(RowView x, int64_t k, double weight, double *said) = 0;
  void wake() { awake = 1; }

 private:
  void average(const double *said, double *out) const {
    std::fill(out, out + classes(), 0.0);
    for (int64_t v = 0; v < traits_.posteriors; v++)
      for (int64_t c = 0; c < classes(); c++) out[c] += said[v * classes() + c] / double(traits_.posteriors);
  }

  int64_t awake = 0;  // whether a row was learned
};

}  // namespace thalweg::THALWEG_LEVEL
