// Incremental principal components without a covariance matrix (Weng, Zhang & Hwang 2003; Wu & Snell 2016). With
//     u = sqrt(1 - g) (x - m),   m <- m + g (x - m),
// g the weight of the new row, the covariance of all rows is C <- (1 - g) C + g uu', exactly. A component follows it as
//     lambda w <- (1 - g) lambda w + g (u'w) u,
// and the next one sees what the first leaves of u. A row that counts c times has c times the weight g, in one turn of the
// axes: the mean is that of c copies. One pass over the axes, O(k p) a row.
#pragma once

#include "linear_algebra/simd.hpp"
#include "transform/transformer.hpp"

namespace thalweg::THALWEG_LEVEL {

struct PrincipalOptions {
  double amnesic, forgetting;
  bool unit;  // the recursion of 2016, where the old axis counts with length 1 and not with its variance
};

class Principal final : public Transformer {
 public:
  Principal(int64_t p, int64_t components, const PrincipalOptions &options)
      : Transformer(p, components), options(options), width(p), mean(width.stride(), 0.0), u(width.stride(), 0.0),
        axes(components * width.stride(), 0.0), variances(components, 0.0), ages(components, 0.0),
        anchors(components, 0) {}

  void transform(const double *X, int64_t count, double *out) const override {
    const int64_t p = features(), k = outputs(), stride = width.stride();
    Buffer basis(begun() * stride), centred(stride);
    orthonormalise(basis.data());
    for (int64_t i = 0; i < count; i++) {
      width.difference(X + i * p, mean.data(), centred.data());
      for (int64_t c = 0; c < k; c++)
        out[i * k + c] = c < begun() ? width.dot(basis.data() + c * stride, centred.data()) : 0;
    }
  }

  // The axes made orthonormal in their order, by modified Gram-Schmidt; O(k^2 p).
  void orthonormalise(double *basis) const {
    const int64_t stride = width.stride();
    std::copy_n(axes.data(), begun() * stride, basis);
    for (int64_t c = 0; c < begun(); c++) {
      double *q = basis + c * stride;
      for (int64_t b = 0; b < c; b++) width.add(q, -width.dot(basis + b * stride, q), basis + b * stride);
      const double length = std::sqrt(width.dot(q, q));
      const double factor = length > kParallel ? 1 / length : 0;
      for (int64_t j = 0; j < stride; j++) q[j] *= factor;
    }
  }
  int64_t begun() const { return begun_; }
  int64_t stride() const { return width.stride(); }

  void learn(const double *x, double times) override {
    rows++;
    mass += times;
    const double gain = std::max(times / mass, repeated(options.forgetting, times)), shrink = std::sqrt(1 - gain);
    width.difference(x, mean.data(), u.data());
    double square = 0;
    {
      V s{};
      for (int64_t j = 0; j < width.stride(); j += L) {
        const V d = load<V>(u.data() + j), v = shrink * d;
        store<V>(mean.data() + j, load<V>(mean.data() + j) + gain * d);
        store<V>(u.data() + j, v);
        s += v * v;
      }
      square = sum(s);
    }
    if (rows == 1) {  // its own mean
      first = times;
      return;
    }
    const double heard = weight(mass - first, times);
    total = (1 - heard) * total + heard * square;
    follow(square, times);
    if (rows <= kSettling || rows % kSettling == 0) settle_signs();
  }

  void forget() override {
    rows = 0, begun_ = 0, total = mass = first = 0;
    for (Buffer *values : {&mean, &axes, &variances, &ages}) std::fill(values->begin(), values->end(), 0.0);
    std::fill(anchors.begin(), anchors.end(), 0);
  }

  void visit(State &state) override {
    const int64_t k = outputs();
    state.integer("rows", rows, not_negative);
    state.integer("begun", begun_, within<int64_t>(0, k));
    state.real("total", total, amount);
    state.real("mass", mass);
    state.real("first_mass", first);
    state.matrix("mean", mean, 1, features(), width.stride(), finite);
    state.matrix("axes", axes, k, features(), width.stride(), within(-2.0, 2.0));
    state.matrix("variances", variances, 1, k, k, amount);
    state.matrix("ages", ages, 1, k, k, amount);
    state.integers("anchors", anchors, k);
    if (!(mass >= first && first >= 0 && std::isfinite(mass))) throw BadState("mass");
    for (int64_t at : anchors)
      if (at < 0 || at >= features()) throw BadState("anchors");
  }

 private:
  static constexpr int L = Width<0>::L;
  using V = Width<0>::V;
  static constexpr double kParallel = 1e-9;  // of an axis's length: what is left of one that others span is rounding
  static constexpr double kNothing = 1e-24;  // of a row's square: what is left of a row that the axes span is rounding
  static constexpr double kLeast = 1e-280;   // squares of squares below this have lost their digits
  static constexpr int64_t kSettling = 64;

  // How much the last of `age` rows counts: plain averaging until age > 2 l + 1, then with 1 + l times its share.
  double weight(double age, double times) const {
    const double l = age > 2 * options.amnesic + 1 ? options.amnesic : 0;
    return std::max(std::min(1.0, times * (1 + l) / age), repeated(options.forgetting, times));
  }

  // Each axis turns towards u, then u loses its part along it. Lengths follow from s = w'u and q = u'u, so that turning,
  // deflating and the next axis's s are one pass.
  void follow(double square, double times) {
    const int64_t stride = width.stride();
    double q = square, s = width.dot(axes.data(), u.data());
    for (int64_t c = 0; c < begun_; c++) {
      double *w = axes.data() + c * stride;
      const double *next = c + 1 < begun_ ? w + stride : u.data();
      const double g = weight(ages[c] += times, times), old = (1 - g) * (options.unit ? 1 : variances[c]),
                   fresh = g * s;
      const double length = std::sqrt(old * old + fresh * (2 * old * s + fresh * q));
      if (options.unit) variances[c] = (1 - g) * variances[c] + g * s * s;
      else variances[c] = length;
      const bool turns = length * length > kLeast;
      const double keep = turns ? old / length : 1, turn = turns ? fresh / length : 0;
      const double along = keep * s + turn * q;  // u along the new axis
      V squares{}, ahead{};
      for (int64_t j = 0; j < stride; j += L) {
        const V v = load<V>(u.data() + j), a = keep * load<V>(w + j) + turn * v, left = v - along * a;
        store<V>(w + j, a);
        store<V>(u.data() + j, left);
        squares += left * left;
        ahead += left * load<V>(next + j);
      }
      q = sum(squares), s = sum(ahead);
    }
    if (begun_ < outputs() && q * q > kLeast && q > kNothing * square) begin(q, times);
  }

  // The rest of a row that no axis explains is a new axis.
  void begin(double square, double times) {
    const int64_t c = begun_++;
    double *w = axes.data() + c * width.stride();
    const double length = std::sqrt(square);
    for (int64_t j = 0; j < width.stride(); j++) w[j] = u[j] / length;
    variances[c] = square;
    ages[c] = times;
    anchors[c] = largest(w);
    if (w[anchors[c]] < 0) mirror(w);
  }

  // An axis's largest entry is positive. Another entry decides only when the one that did has fallen below half of the
  // largest: a sign that flips back and forth between two like entries would ruin whoever learns from the projections.
  void settle_signs() {
    for (int64_t c = 0; c < begun_; c++) {
      double *w = axes.data() + c * width.stride();
      const int64_t top = largest(w);
      if (2 * std::fabs(w[anchors[c]]) < std::fabs(w[top])) anchors[c] = top;
      if (w[anchors[c]] < 0) mirror(w);
    }
  }
  void mirror(double *w) const {
    for (int64_t j = 0; j < width.stride(); j++) w[j] = -w[j];
  }
  int64_t largest(const double *w) const {
    int64_t at = 0;
    for (int64_t j = 1; j < features(); j++)
      if (std::fabs(w[j]) > std::fabs(w[at])) at = j;
    return at;
  }

  PrincipalOptions options;
  Width<0> width;
  Buffer mean, u, axes, variances, ages;
  std::vector<int64_t> anchors;
  int64_t rows = 0, begun_ = 0;
  double total = 0, mass = 0, first = 0;  // total variance; what all rows count, and the first
};

}  // namespace thalweg::THALWEG_LEVEL
