// A learner behind on-line scaling: every feature relative to its mean and standard deviation, of all rows at first and of
// some thousands of them later, so that a change of level or of units is followed. Rows far off count as less far.
#pragma once

#include <memory>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class Scaled final : public Learner {
 public:
  explicit Scaled(const Learner &inner)
      : Learner(inner), inner(inner.copy()), mean(inner.features(), 0.0), variance(inner.features(), 0.0),
        factor(inner.features(), 0.0), z(inner.features()) {}
  Scaled(const Scaled &other)
      : Learner(other), inner(other.inner->copy()), mean(other.mean), variance(other.variance), factor(other.factor),
        z(other.z), rows(other.rows) {}
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

  // The row is learned at the scale it was answered at; then the scale learns the row.
  int64_t step(const double *x, int64_t k) override { return weighted_step(x, k, 1); }

  void begin(const double *X, const int64_t *y, int64_t count) override {
    for (Buffer *values : {&mean, &variance, &factor}) std::fill(values->begin(), values->end(), 0.0);
    rows = 0;
    inner->begin(X, y, 0);
    for (int64_t i = 0; i < count; i++) step(X + i * features(), y[i]);
  }

  void visit(State &state) override {
    visit_classes(state);
    inner->visit(state);
    state.real("scaler_rows", rows);
    state.matrix("scaler_mean", mean, 1, features(), features());
    state.matrix("scaler_variance", variance, 1, features(), features());
    if (!(rows >= 0)) throw BadState("scaler_rows");
    measure();
  }

 protected:
  void insert(int64_t at) override { inner->announce(at); }
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    scale(x, z.data());
    const int64_t given = inner->counted_step(z.data(), k, weight);
    survey(x, weight);
    return given;
  }

 private:
  static constexpr double kFarthest = 10;  // standard deviations; a feature that begins to move would else be far off
  static constexpr double kForgetting = 2e-4, kTrusted = 30;  // a memory of 5,000 rows; rows before a value can be wild

  void scale(const double *x, double *to) const {
    for (int64_t j = 0; j < features(); j++) to[j] = std::clamp(factor[j] * (x[j] - mean[j]), -kFarthest, kFarthest);
  }
  void survey(const double *x, double weight) {
    rows += weight;
    const double gain = std::max(weight / rows, repeated(kForgetting, weight));
    for (int64_t j = 0; j < features(); j++) {
      double d = x[j] - mean[j];
      if (rows > kTrusted && variance[j] > 0) {  // one wild value must not set the scale for good
        const double most = kFarthest * std::sqrt(variance[j]);
        d = std::clamp(d, -most, most);
      }
      mean[j] += gain * d;
      variance[j] = (1 - gain) * (variance[j] + gain * d * d);
    }
    measure();
  }
  void measure() {  // a feature that has never moved is zero
    for (int64_t j = 0; j < features(); j++) factor[j] = variance[j] > 1e-200 ? 1 / std::sqrt(variance[j]) : 0;
  }

  std::unique_ptr<Learner> inner;
  Buffer mean, variance, factor, z;
  double rows = 0;
};

}  // namespace thalweg::THALWEG_LEVEL
