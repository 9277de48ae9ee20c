// A learner whose rows count by their class: by given weights, or "balanced", by N / (classes n_k) with the fading counts n_k of
// the rows of each class and N of all, this row among them. What it weighs is a row's own weight times that.
#pragma once

#include <memory>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class ClassWeighted final : public Learner {
 public:
  ClassWeighted(const Learner &inner, bool balanced) : Learner(inner), inner(inner.copy()), balanced(balanced) {}
  ClassWeighted(const ClassWeighted &other)
      : Learner(other), inner(other.inner->copy()), balanced(other.balanced), values(other.values) {}
  Learner *copy() const override { return new ClassWeighted(*this); }

  // One weight for each class; all are 1 until they are given.
  void set_weights(const double *given) { std::copy_n(given, classes(), values.begin()); }

  double rate() const override { return inner->rate(); }
  double confidence() const override { return inner->confidence(); }
  bool outweighs_a_look() const override { return inner->outweighs_a_look(); }
  int64_t voices() const override { return inner->voices(); }
  int64_t members() const override { return inner->members(); }
  void shares(double *out) const override { inner->shares(out); }
  int64_t answer(const double *x) const override { return inner->answer(x); }
  void scores(const double *x, double *out) const override { inner->scores(x, out); }
  void posteriors(const double *x, double *out) const override { inner->posteriors(x, out); }
  int64_t kept_size() const override { return inner->kept_size(); }
  void keep(const double *x, double *scored, uint8_t *kept) const override { inner->keep(x, scored, kept); }
  void mark_classes(bool *out) const override { inner->mark_classes(out); }
  void judge_by(const uint8_t *kept) override { inner->judge_by(kept); }

  void appear(const int64_t *ids, int64_t count) override { inner->appear(ids, count); }
  int64_t step(const double *x, int64_t k) override { return weighted_step(x, k, 1); }
  void judged_step(const double *x, int64_t k, double weight, double *out) override {
    inner->judged_step(x, k, weight > 0 ? weight * count(k, weight) : 0, out);
  }
  int64_t probable_step(const double *x, int64_t k, double weight, double *out) override {
    return inner->probable_step(x, k, weight > 0 ? weight * count(k, weight) : 0, out);
  }
  void begin(const double *X, const int64_t *y, int64_t rows) override {
    weighted_begin(X, y, Buffer(rows, 1.0).data(), rows);
  }
  void weighted_begin(const double *X, const int64_t *y, const double *weights, int64_t rows) override {
    if (balanced) values.fill(0);
    Buffer whole(rows);
    for (int64_t i = 0; i < rows; i++) whole[i] = weights[i] > 0 ? weights[i] * count(y[i], weights[i]) : 0;
    inner->weighted_begin(X, y, whole.data(), rows);
  }
  void visit(State &state) override {
    visit_classes(state);
    inner->visit(state);
    if (inner->classes() != classes()) throw BadState("n_classes");
    state.matrix("class_weights", values, 1, classes(), classes());
    for (double value : values)
      if (!(value >= 0 && std::isfinite(value))) throw BadState("class_weights");
  }

 protected:
  void insert(int64_t at) override {
    inner->announce(at);
    values.insert(values.begin() + at, balanced ? 0.0 : 1.0);
  }
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    return inner->counted_step(x, k, weight * count(k, weight));
  }

 private:
  static constexpr double kMemory = 5000;  // rows, of the counts

  // What a row of this class weighs; where weights are balanced the row is counted.
  double count(int64_t k, double weight) {
    if (!balanced) return values[k];
    double whole = 0, seen = 0;
    for (int64_t c = 0; c < classes(); c++) {
      values[c] = (1 - 1 / kMemory) * values[c] + (c == k ? weight : 0);
      whole += values[c];
      seen += values[c] > 0;
    }
    return whole / (seen * values[k]);
  }

  std::unique_ptr<Learner> inner;
  bool balanced;
  Buffer values;  // weights, or counts
};

}  // namespace thalweg::THALWEG_LEVEL
