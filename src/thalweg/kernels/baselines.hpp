// The two answers that need no features: the last label again, and the most frequent label so far.
#pragma once

#include <algorithm>
#include <cmath>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class Baseline : public Learner {
 public:
  using Learner::Learner;
  double rate() const override { return std::nan(""); }

  int64_t step(const double *x, int64_t k) override {
    const int64_t given = answer(x);
    learn(k);
    return given;
  }
  void begin(const double *, const int64_t *y, int64_t rows) override {
    forget();
    for (int64_t i = 0; i < rows; i++) learn(y[i]);
  }

 protected:
  virtual void learn(int64_t k) = 0;
  virtual void forget() = 0;
};

class NoChange final : public Baseline {
 public:
  using Baseline::Baseline;
  Learner *copy() const override { return new NoChange(*this); }
  void scores(const double *, double *out) const override {
    std::fill(out, out + classes(), -__builtin_inf());
    if (last >= 0) out[last] = 0;
  }
  void visit(State &state) override {
    visit_classes(state);
    state.integer("last_class", last);
    if (last < -1 || last >= classes()) throw BadState("last_class");
  }

 protected:
  void insert(int64_t at) override { last += last >= at; }
  void learn(int64_t k) override { last = k; }
  void forget() override { last = -1; }

 private:
  int64_t last = -1;
};

class Majority final : public Baseline {
 public:
  using Baseline::Baseline;
  Learner *copy() const override { return new Majority(*this); }
  void scores(const double *, double *out) const override {
    for (int64_t c = 0; c < classes(); c++) out[c] = std::log(counts[c]);
  }
  void visit(State &state) override {
    visit_classes(state);
    state.matrix("counts", counts, 1, classes(), classes());
  }

 protected:
  void insert(int64_t at) override { insert_row(counts, at, 1); }
  void learn(int64_t k) override { counts[k] += 1; }
  void forget() override { std::fill(counts.begin(), counts.end(), 0.0); }

 private:
  Buffer counts;
};

}  // namespace thalweg::THALWEG_LEVEL
