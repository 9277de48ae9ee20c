// Random Fourier features of a Gaussian kernel (Rahimi & Recht 2007): z(x) = [cos Wx, sin Wx] sqrt(2 / d), so that z(x)'z(y)
// is about exp(-|x - y|^2 / (2 sigma^2)) where the rows of W are drawn from N(0, I / sigma^2). O(d p) a row.
#pragma once

#include "linear_algebra/lanes.hpp"
#include "transform/transformer.hpp"

namespace thalweg::THALWEG_LEVEL {

class RandomFeatures final : public Transformer {
 public:
  // frequencies: a row of p numbers for every two outputs; where these are odd, the last has a cosine only
  RandomFeatures(int64_t p, int64_t outputs, const double *frequencies)
      : Transformer(p, outputs), half((outputs + 1) / 2), blocks((half + kLanes - 1) / kLanes),
        drawn(frequencies, frequencies + half * p), across(blocks * p * kLanes) {
    lay_out();
  }

  void transform(const double *X, int64_t count, double *out) const override {
    const int64_t p = features(), d = outputs();
    const double scale = std::sqrt(2 / double(d));
    for (int64_t i = 0; i < count; i++) {
      const double *x = X + i * p;
      double *cosines = out + i * d, *sines = cosines + half;
      for (int64_t b = 0; b < blocks; b++) {
        V angle{}, sine, cosine;
        for (int64_t j = 0; j < p; j++) angle += x[j] * load<V>(across.data() + (b * p + j) * kLanes);
        turn(angle, sine, cosine);
        for (int r = 0; r < kLanes && b * kLanes + r < half; r++) cosines[b * kLanes + r] = scale * cosine[r];
        for (int r = 0; r < kLanes && b * kLanes + r < d - half; r++) sines[b * kLanes + r] = scale * sine[r];
      }
    }
  }

  void learn(const double *, double) override {}  // nothing but the draw
  void forget() override {}
  void visit(State &state) override {
    state.matrix("frequencies", drawn, half, features(), features(), within(-1e100, 1e100));
    lay_out();
  }

 private:
  using V = Lanes::V;

  void lay_out() {  // as many frequencies side by side as there are lanes
    const int64_t p = features();
    std::fill(across.begin(), across.end(), 0.0);
    for (int64_t f = 0; f < half; f++)
      for (int64_t j = 0; j < p; j++) across[(f / kLanes * p + j) * kLanes + f % kLanes] = drawn[f * p + j];
  }

  // Sine and cosine to a few units in the last place: whole quarter turns are taken off, the rest is Taylor's.
  static THALWEG_INLINE void turn(V angle, V &sine, V &cosine) {
    constexpr double kFarthest = 1e6;  // quarter turns below 2^20 are taken off exactly
    bool far = false;
    for (int r = 0; r < kLanes; r++) far |= !(std::fabs(angle[r]) <= kFarthest);
    if (far) {
      for (int r = 0; r < kLanes; r++) sine[r] = std::sin(angle[r]), cosine[r] = std::cos(angle[r]);
      return;
    }
    const V shifted = angle * 0.6366197723675814 + 6755399441055744.0;  // adding 1.5 * 2^52 rounds to an integer
    const V n = shifted - 6755399441055744.0;
    const V f =
        ((angle - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21;
    const V f2 = f * f;
    V s = broadcast<V>(-1.0 / 1307674368000.0), c = broadcast<V>(1.0 / 20922789888000.0);
    for (double a : {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0})
      s = s * f2 + a;
    for (double a : {-1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0})
      c = c * f2 + a;
    s *= f;
    const Integers quarter = (Integers)shifted & 3;
    const V even_sine = (quarter & 1) == 0 ? s : c, even_cosine = (quarter & 1) == 0 ? c : s;
    sine = (quarter & 2) == 0 ? even_sine : -even_sine;
    cosine = ((quarter + 1) & 2) == 0 ? even_cosine : -even_cosine;
  }

  int64_t half, blocks;
  Buffer drawn, across;
};

}  // namespace thalweg::THALWEG_LEVEL
