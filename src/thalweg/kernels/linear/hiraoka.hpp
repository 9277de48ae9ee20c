// Hiraoka's online linear discriminant analysis (Kuncheva & Plumpton 2008, 2.3): stochastic ascent on
//     phi(A) = tr(A'BA (I - A'WA / 2))
// and the nearest class mean in the space of A'x. O(p m c) a row: c / 2 passes over the p x m axes to answer, two to learn.
#pragma once

#include "linear_algebra/simd.hpp"
#include "rate.hpp"

namespace thalweg::THALWEG_LEVEL {

class Hiraoka final : public MeanLearner {
 public:
  Hiraoka(int64_t p, int64_t components, bool full_gradient, Rate rate)
      : MeanLearner(p), m(components), axes(components), full_gradient(full_gradient), rate_(std::move(rate)),
        A(p * axes.stride()), overall(p), b(p), r(p), bA(axes.stride()), rA(axes.stride()) {
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
    project<1>({mean}, {bA.data()});
    for (int64_t j = 0; j < features(); j++) w[j] = axes.dot(axis_row(j), bA.data());
  }

  void scores(RowView x, double *out) const override {
    Scratch room(2 * (features() + axes.stride()));
    double *const d[2] = {room.data(), room.data() + features()};
    double *const image[2] = {room.data() + 2 * features(), room.data() + 2 * features() + axes.stride()};
    int64_t waiting[2], count = 0;
    for (int64_t c = 0; c < classes(); c++) {
      out[c] = -__builtin_inf();
      if (counts[c] > 0) {
        for (int64_t j = 0; j < features(); j++) d[count][j] = x[j] - means[c * features() + j];
        waiting[count++] = c;
      }
      if (count == 0 || (count == 1 && c + 1 < classes())) continue;
      if (count == 2) project<2>({d[0], d[1]}, {image[0], image[1]});
      else project<1>({d[0]}, {image[0]});
      for (; count > 0; count--) {
        const double *at = image[count - 1];
        out[waiting[count - 1]] = -0.5 * std::min(axes.dot(at, at), 1e300);
      }
    }
  }

  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    show(x, wanted);
    const int64_t given = answer(x);
    learn(x, k, rate_.next(given != k), true, weight);
    return given;
  }

  void forget() override {
    for (Buffer *values : {&counts, &means, &overall}) values->fill(0);
    total = 0;
    rate_.reset();
    start_axes();
  }
  void begin(const double *X, const int64_t *y, const double *weights, int64_t rows) override {
    forget();
    for (int64_t i = 0; i < rows; i++)
      if (!weights || weights[i] > 0) learn(X + i * features(), y[i], 0, false, weights ? weights[i] : 1);
  }

  void visit(State &state) override {
    visit_classes(state);
    state.real("total", total);
    state.matrix("counts", counts, 1, classes(), classes());
    state.matrix("means", means, classes(), features(), features());
    state.matrix("mean", overall, 1, features(), features());
    state.matrix("axes", A, features(), m, axes.stride());
    rate_.visit(state);
  }

 protected:
  void insert(int64_t at) override {
    insert_row(counts, at, 1);
    insert_row(means, at, features());
  }

 private:
  using V = Width<0>::V;
  static constexpr int L = Width<0>::L;
  static constexpr double kMostNorm = 1e6;  // of A; only directions matter to the nearest mean

  void start_axes() {
    std::fill(A.begin(), A.end(), 0.0);
    for (int64_t i = 0; i < std::min(features(), m); i++) axis_row(i)[i] = 1;
  }

  double *axis_row(int64_t j) { return A.data() + j * axes.stride(); }
  const double *axis_row(int64_t j) const { return A.data() + j * axes.stride(); }

  // The images A'd of N vectors in one pass over A.
  template <int N> THALWEG_INLINE void project(const double *const (&d)[N], double *const (&image)[N]) const {
    int64_t at = 0;
    for (; at + 4 <= axes.blocks(); at += 4) project_blocks<N, 4>(at * L, d, image);
    for (; at < axes.blocks(); at++) project_blocks<N, 1>(at * L, d, image);
  }
  template <int N, int Blocks>
  THALWEG_INLINE void project_blocks(int64_t at, const double *const (&d)[N], double *const (&image)[N]) const {
    V sums[N][Blocks] = {};
    for (int64_t j = 0; j < features(); j++)
      for (int i = 0; i < Blocks; i++) {
        const V axis = load<V>(axis_row(j) + at + i * L);
        for (int n = 0; n < N; n++) sums[n][i] += d[n][j] * axis;
      }
    for (int n = 0; n < N; n++)
      for (int i = 0; i < Blocks; i++) store<V>(image[n] + at + i * L, sums[n][i]);
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
  THALWEG_INLINE void ascend(double zeta) {
    project<2>({b.data(), r.data()}, {bA.data(), rA.data()});
    const double cross = axes.dot(bA.data(), rA.data()), bA2 = axes.dot(bA.data(), bA.data());
    double b2 = 0, r2 = 0;
    for (int64_t j = 0; j < features(); j++) b2 += b[j] * b[j], r2 += r[j] * r[j];
    // The step is stable while zeta |r|^2 |A'b|^2 < 1 (and its mirror image): a larger one is cut to that, ours.
    const double mirror = full_gradient ? b2 * axes.dot(rA.data(), rA.data()) : 0;
    const double step = zeta / std::max(1.0, zeta * std::max({r2 * bA2, mirror, b2}));
    V squares{};
    for (int64_t j = 0; j < features(); j++) {
      const double along_bA = step * ((full_gradient ? 2 * b[j] : b[j]) - cross * r[j]);
      const double along_rA = full_gradient ? -step * cross * b[j] : 0;
      for (int64_t i = 0; i < axes.stride(); i += L) {
        const V moved =
            load<V>(axis_row(j) + i) + along_bA * load<V>(bA.data() + i) + along_rA * load<V>(rA.data() + i);
        store<V>(axis_row(j) + i, moved);
        squares += moved * moved;
      }
    }
    const double norm = std::sqrt(sum(squares));
    if (norm > kMostNorm)
      for (double &at : A) at *= kMostNorm / norm;
  }

  int64_t m;
  Width<0> axes;
  bool full_gradient;
  Rate rate_;
  Buffer A, counts, means, overall, b, r, bA, rA;
  double total = 0, last_gain_ = 0;
};

}  // namespace thalweg::THALWEG_LEVEL
