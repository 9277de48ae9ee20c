// A learner behind on-line scaling: every feature relative to its mean and standard deviation, of all rows at first and of
// some thousands of them later, so that a change of level or of units is followed. Rows far off count as less far.
#pragma once

#include <memory>

#include "learner.hpp"
#include "running_variance.hpp"

namespace thalweg::THALWEG_LEVEL {

class Scaled final : public Learner {
 public:
  explicit Scaled(const Learner &inner)
      : Learner(inner), inner(inner.copy()), moments(inner.features(), RunningVariance::kLongRun, true),
        factor(inner.features()), z(inner.features()) {}
  Scaled(const Scaled &other)
      : Learner(other), inner(other.inner->copy()), moments(other.moments), factor(other.factor), z(other.z) {}
  Learner *copy() const override { return new Scaled(*this); }

  double rate() const override { return inner->rate(); }
  double confidence() const override { return inner->confidence(); }
  int64_t members() const override { return inner->members(); }
  void shares(double *out) const override { inner->shares(out); }
  int64_t voices() const override { return inner->voices(); }
  const Learner &inside() const { return *inner; }

  void scores(const double *x, double *out) const override {
    Scratch room(features());
    scale(x, room.data());
    inner->scores(room.data(), out);
  }
  void posteriors(const double *x, double *out) const override {
    Scratch room(features());
    scale(x, room.data());
    inner->posteriors(room.data(), out);
  }

  void judged_step(const double *x, int64_t k, double weight, double *out) override {
    scale(x, z.data());
    inner->judged_step(z.data(), k, weight, out);
    if (weight <= 0) return;
    moments.learn(x, features(), weight);
    measure();
  }

  // The row is learned at the scale it was answered at; then the scale learns the row.
  int64_t step(const double *x, int64_t k) override { return weighted_step(x, k, 1); }

  void begin(const double *X, const int64_t *y, int64_t count) override {
    moments.forget();
    factor.fill(0);
    inner->begin(X, y, 0);
    for (int64_t i = 0; i < count; i++) step(X + i * features(), y[i]);
  }

  void visit(State &state) override {
    visit_classes(state);
    inner->visit(state);
    state.real("scaler_rows", moments.rows);
    state.matrix("scaler_mean", moments.mean, 1, features(), features());
    state.matrix("scaler_variance", moments.variance, 1, features(), features());
    if (!(moments.rows >= 0)) throw BadState("scaler_rows");
    measure();
  }

 protected:
  void insert(int64_t at) override { inner->announce(at); }
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    scale(x, z.data());
    const int64_t given = inner->counted_step(z.data(), k, weight);
    moments.learn(x, features(), weight);
    measure();
    return given;
  }

 private:
  // A feature that begins to move would else be far off.
  static constexpr double kFarthest = RunningVariance::kFarthest;

  void scale(const double *x, double *to) const {
    for (int64_t j = 0; j < features(); j++)
      to[j] = std::clamp(factor[j] * (x[j] - moments.mean[j]), -kFarthest, kFarthest);
  }
  void measure() {  // a feature that has never moved is zero
    for (int64_t j = 0; j < features(); j++)
      factor[j] = moments.variance[j] > 1e-200 ? 1 / std::sqrt(moments.variance[j]) : 0;
  }

  std::unique_ptr<Learner> inner;
  RunningVariance moments;
  Buffer factor, z;
};

}  // namespace thalweg::THALWEG_LEVEL
