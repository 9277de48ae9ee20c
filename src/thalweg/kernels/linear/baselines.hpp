// Predictions that need no features: the last label again, the shares of the labels so far or recently, and what usually
// follows the last label.
#pragma once

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class Baseline : public Learner {
 public:
  using Learner::Learner;

  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    show(x, wanted);
    const int64_t given = wanted.kind == Wanted::kPosteriors ? -1 : answer(x);
    learn(k, weight);
    return given;
  }

 protected:
  virtual void learn(int64_t k, double weight) = 0;
};

class NoChange final : public Baseline {
 public:
  using Baseline::Baseline;
  Learner *copy() const override { return new NoChange(*this); }
  void scores(RowView, double *out) const override {
    std::fill(out, out + classes(), -__builtin_inf());
    if (last >= 0) out[last] = 0;
  }
  void forget() override { last = -1; }
  void visit(State &state) override {
    visit_classes(state);
    state.integer("last_class", last, within<int64_t>(-1, classes() - 1));
  }

 protected:
  void insert(int64_t at) override { last += last >= at; }
  void learn(int64_t k, double) override { last = k; }

 private:
  int64_t last = -1;
};

class Majority final : public Baseline {
 public:
  // Counts of labels are multiplied by `keep` with each row; `doubt` is added to that of each label that was seen.
  Majority(int64_t p, double keep, double doubt) : Baseline(p), keep(keep), doubt(doubt) {}
  Learner *copy() const override { return new Majority(*this); }
  void scores(RowView, double *out) const override {
    for (int64_t c = 0; c < classes(); c++) out[c] = std::log(counts[c] > 0 ? counts[c] + doubt : 0);
  }
  void posteriors(RowView, double *out) const override {
    double whole = 0;
    for (int64_t c = 0; c < classes(); c++) whole += out[c] = counts[c] > 0 ? counts[c] + doubt : 0;
    for (int64_t c = 0; c < classes(); c++) out[c] = whole > 0 ? out[c] / whole : 1 / double(classes());
  }
  void forget() override { counts.fill(0); }
  void visit(State &state) override {
    visit_classes(state);
    state.matrix("counts", counts, 1, classes(), classes());
  }

 protected:
  void insert(int64_t at) override { insert_row(counts, at, 1); }
  void learn(int64_t k, double weight) override {
    if (keep < 1)
      for (double &count : counts) count *= keep;
    counts[k] += weight;
  }

 private:
  double keep, doubt;
  Buffer counts;
};

// What usually follows the last label: transition counts that fade. Honest only where a label is known before the next
// row must be predicted.
class Persistence final : public Baseline {
 public:
  using Baseline::Baseline;
  Learner *copy() const override { return new Persistence(*this); }
  double rate() const override { return 1 - kKeep; }

  void scores(RowView, double *out) const override {
    for (int64_t c = 0; c < classes(); c++) {
      const double follows = last < 0 ? seen[c] : follow[last * classes() + c];
      out[c] = seen[c] ? std::log(follows + kDoubt) : -__builtin_inf();
    }
  }
  void forget() override {
    follow.fill(0);
    seen.fill(0);
    last = -1;
  }
  void visit(State &state) override {
    visit_classes(state);
    state.integer("last_class", last, within<int64_t>(-1, classes() - 1));
    state.matrix("seen", seen, 1, classes(), classes());
    state.matrix("follow", follow, classes(), classes(), classes());
  }

 protected:
  void learn(int64_t k, double weight) override {
    if (last >= 0) {
      const double keep = std::pow(kKeep, weight);
      for (int64_t c = 0; c < classes(); c++) follow[last * classes() + c] *= keep;
      follow[last * classes() + k] += 1 - keep;
    }
    seen[k] = 1;
    last = k;
  }
  void insert(int64_t at) override {
    const int64_t c = classes();
    for (int64_t r = c - 1; r >= 0; r--) follow.insert(follow.begin() + r * c + at, 0.0);
    follow.insert(follow.begin() + at * (c + 1), c + 1, 0.0);
    insert_row(seen, at, 1);
    last += last >= at;
  }

 private:
  static constexpr double kKeep = 0.999, kDoubt = 1e-4;
  Buffer follow, seen;  // class x class; per class
  int64_t last = -1;
};

}  // namespace thalweg::THALWEG_LEVEL
