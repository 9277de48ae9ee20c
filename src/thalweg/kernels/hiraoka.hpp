// Hiraoka's online linear discriminant analysis (Kuncheva & Plumpton 2008, 2.3): stochastic ascent on
//     phi(A) = tr(A'BA (I - A'WA / 2))
// and the nearest class mean in the space of A'x. O(p m c) a row.
#pragma once

#include <algorithm>
#include <cmath>

#include "rate.hpp"

namespace thalweg::THALWEG_LEVEL {

class Hiraoka final : public MeanLearner {
 public:
  Hiraoka(int64_t p, int64_t components, bool full_gradient, Rate rate)
      : MeanLearner(p), m(components), full_gradient(full_gradient), rate_(std::move(rate)), A(p * m), overall(p), b(p), r(p),
        bA(m), rA(m) {
    start_axes();
  }
  MeanLearner *copy() const override { return new Hiraoka(*this); }
  double rate() const override { return rate_.value; }

  bool starting() const override { return total == 0; }
  double last_gain() const override { return last_gain_; }
  const double *mean(int64_t c) const override { return means.data() + c * features(); }
  double log_prior_of(int64_t c) const override { return counts[c] > 0 ? 0 : -__builtin_inf(); }
  void localise(const double *x, double *to) const override { std::copy(x, x + features(), to); }
  void weigh(const double *mean, double *w) override {  // the nearest mean of A'x: the metric is AA'
    project(mean, bA.data());
    for (int64_t j = 0; j < features(); j++) {
      w[j] = 0;
      for (int64_t i = 0; i < m; i++) w[j] += A[j * m + i] * bA[i];
    }
  }

  void scores(const double *x, double *out) const override {
    Scratch room(features() + m);
    double *d = room.data(), *image = d + features();
    for (int64_t c = 0; c < classes(); c++) {
      if (counts[c] == 0) {
        out[c] = -__builtin_inf();
        continue;
      }
      for (int64_t j = 0; j < features(); j++) d[j] = x[j] - means[c * features() + j];
      project(d, image);
      double square = 0;
      for (int64_t i = 0; i < m; i++) square += image[i] * image[i];
      out[c] = -0.5 * std::min(square, 1e300);
    }
  }

  int64_t step(const double *x, int64_t k) override {
    const int64_t given = answer(x);
    learn(x, k, rate_.next(given != k), true, 1);
    return given;
  }

  void begin(const double *X, const int64_t *y, int64_t rows) override { weighted_begin(X, y, nullptr, rows); }
  void weighted_begin(const double *X, const int64_t *y, const double *weights, int64_t rows) override {
    for (Buffer *values : {&counts, &means, &overall}) std::fill(values->begin(), values->end(), 0.0);
    total = 0;
    rate_.reset();
    start_axes();
    for (int64_t i = 0; i < rows; i++)
      if (!weights || weights[i] > 0) learn(X + i * features(), y[i], 0, false, weights ? weights[i] : 1);
  }

  void visit(State &state) override {
    visit_classes(state);
    state.real("total", total);
    state.matrix("counts", counts, 1, classes(), classes());
    state.matrix("means", means, classes(), features(), features());
    state.matrix("mean", overall, 1, features(), features());
    state.matrix("axes", A, features(), m, m);
    rate_.visit(state);
  }

 protected:
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    const int64_t given = answer(x);
    learn(x, k, rate_.next(given != k), true, weight);
    return given;
  }
  void insert(int64_t at) override {
    insert_row(counts, at, 1);
    insert_row(means, at, features());
  }

 private:
  static constexpr double kMostNorm = 1e6;  // of A; only directions matter to the nearest mean

  void start_axes() {
    std::fill(A.begin(), A.end(), 0.0);
    for (int64_t i = 0; i < std::min(features(), m); i++) A[i * m + i] = 1;
  }

  void project(const double *d, double *image) const {
    std::fill(image, image + m, 0.0);
    for (int64_t j = 0; j < features(); j++)
      for (int64_t i = 0; i < m; i++) image[i] += d[j] * A[j * m + i];
  }

  // The means follow at the rate of A, after plain averaging at first: running averages would not track. A row that
  // counts w times moves them as w copies would, and the axes by w steps in one, ours.
  void learn(const double *x, int64_t k, double zeta, bool move_axes, double weight) {
    counts[k] += weight;
    total += weight;
    double *mk = means.data() + k * features();
    const double follow = repeated(zeta, weight);
    const double gain = last_gain_ = std::max(follow, weight / counts[k]), pace = std::max(follow, weight / total);
    for (int64_t j = 0; j < features(); j++) {
      mk[j] += gain * (x[j] - mk[j]);
      overall[j] += pace * (x[j] - overall[j]);
      b[j] = mk[j] - overall[j];
      r[j] = x[j] - mk[j];
    }
    if (move_axes) ascend(weight * zeta);
  }

  // A += zeta (bb'A - rr'A A'bb'A), where bb' and rr' stand for B and W; or the whole gradient of phi.
  void ascend(double zeta) {
    project(b.data(), bA.data());
    project(r.data(), rA.data());
    double cross = 0, bA2 = 0, rA2 = 0, b2 = 0, r2 = 0;
    for (int64_t i = 0; i < m; i++) cross += bA[i] * rA[i], bA2 += bA[i] * bA[i], rA2 += rA[i] * rA[i];
    for (int64_t j = 0; j < features(); j++) b2 += b[j] * b[j], r2 += r[j] * r[j];
    // The step is stable while zeta |r|^2 |A'b|^2 < 1 (and its mirror image): a larger one is cut to that, ours.
    const double stiffness = full_gradient ? std::max(r2 * bA2, b2 * rA2) : r2 * bA2;
    const double step = zeta / std::max(1.0, zeta * std::max(stiffness, b2));
    double norm = 0;
    for (int64_t j = 0; j < features(); j++)
      for (int64_t i = 0; i < m; i++) {
        const double up = full_gradient ? 2 * b[j] * bA[i] - cross * (b[j] * rA[i] + r[j] * bA[i])
                                        : (b[j] - cross * r[j]) * bA[i];
        double &at = A[j * m + i];
        at += step * up;
        norm += at * at;
      }
    norm = std::sqrt(norm);
    if (norm > kMostNorm)
      for (double &at : A) at *= kMostNorm / norm;
  }

  int64_t m;
  bool full_gradient;
  Rate rate_;
  Buffer A, counts, means, overall, b, r, bA, rA;
  double total = 0, last_gain_ = 0;
};

}  // namespace thalweg::THALWEG_LEVEL
