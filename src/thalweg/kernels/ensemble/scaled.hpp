// A learner behind on-line scaling: every feature relative to its mean and standard deviation, of all rows at first and of
// some thousands of them later, so that a change of level or of units is followed. Rows far off count as less far.
//
// `sparse`: a feature that is mostly zero is scaled by the deviation it would have if its other values were as common, its
// variance over the share of values that are not zero; else a rare indicator would be as large as it is rare. Means of the
// last hundred rows of each class are kept too, as the rows came.
#pragma once

#include "ensemble/row_wrapper.hpp"
#include "running_variance.hpp"

namespace thalweg::THALWEG_LEVEL {

class Scaled final : public RowWrapper {
 public:
  Scaled(const Learner &inner, bool sparse)
      : RowWrapper(inner, inner.features()), sparse(sparse),
        moments(inner.features(), RunningVariance::kLongRun, true, sparse), factor(inner.features()),
        z(inner.features()) {}
  Scaled(const Scaled &other)
      : RowWrapper(other), sparse(other.sparse), moments(other.moments), factor(other.factor), z(other.z),
        class_rows(other.class_rows), class_means(other.class_means) {}
  Learner *copy() const override { return new Scaled(*this); }

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
  void keep(const double *x, double *scored, uint8_t *kept) const override {
    Scratch room(features());
    scale(x, room.data());
    inner->keep(room.data(), scored, kept);
  }

  void judged_step(const double *x, int64_t k, double weight, double *out) override {
    scale(x, z.data());
    inner->judged_step(z.data(), k, weight, out);
    if (weight > 0) learn_scale(x, k, weight);
  }

  int64_t probable_step(const double *x, int64_t k, double weight, double *out) override {
    scale(x, z.data());
    const int64_t given = inner->probable_step(z.data(), k, weight, out);
    if (weight > 0) learn_scale(x, k, weight);
    return given;
  }
  int64_t scored_step(const double *x, int64_t k, double weight, double *out) override {
    scale(x, z.data());
    const int64_t given = inner->scored_step(z.data(), k, weight, out);
    if (weight > 0) learn_scale(x, k, weight);
    return given;
  }

  void begin(const double *X, const int64_t *y, int64_t count) override {
    moments.forget();
    factor.fill(0);
    class_rows.fill(0);
    class_means.fill(0);
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
    if (sparse) {
      state.matrix("scaler_filled", moments.filled, 1, features(), features());
      for (double share : moments.filled)
        if (!(share >= 0 && share <= 1 + 1e-9)) throw BadState("scaler_filled");
      state.matrix("class_rows", class_rows, 1, classes(), classes());
      state.matrix("class_means", class_means, classes(), features(), features());
      for (double rows : class_rows)
        if (!(rows >= 0)) throw BadState("class_rows");
      for (double mean : class_means)
        if (!std::isfinite(mean)) throw BadState("class_means");
    }
    measure();
  }

 protected:
  void insert(int64_t at) override {
    inner->announce(at);
    if (!sparse) return;
    insert_row(class_rows, at, 1);
    insert_row(class_means, at, features());
  }
  // The row is learned at the scale it was answered at; then the scale learns the row.
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    scale(x, z.data());
    const int64_t given = inner->counted_step(z.data(), k, weight);
    learn_scale(x, k, weight);
    return given;
  }

 private:
  // A feature that begins to move would else be far off.
  static constexpr double kFarthest = RunningVariance::kFarthest;
  static constexpr double kClassMemory = 0.01;

  void scale(const double *x, double *to) const {
    for (int64_t j = 0; j < features(); j++)
      to[j] = std::clamp(factor[j] * (x[j] - moments.mean[j]), -kFarthest, kFarthest);
  }
  void learn_scale(const double *x, int64_t k, double weight) {
    moments.learn(x, features(), weight);
    measure();
    if (!sparse) return;
    class_rows[k] += weight;
    const double gain = std::max(weight / class_rows[k], repeated(kClassMemory, weight));
    double *mean = class_means.data() + k * features();
    for (int64_t j = 0; j < features(); j++) mean[j] += gain * (x[j] - mean[j]);
  }
  void measure() {  // a feature that has never moved is zero
    for (int64_t j = 0; j < features(); j++) {
      const double variance = sparse ? moments.variance[j] / moments.filled[j] : moments.variance[j];
      factor[j] = moments.variance[j] > 1e-200 ? 1 / std::sqrt(variance) : 0;
    }
  }

  bool sparse;
  RunningVariance moments;
  Buffer factor, z, class_rows, class_means;
};

}  // namespace thalweg::THALWEG_LEVEL
