// Eight models side by side, one in each lane: arithmetic on eight doubles in as many vectors as the machine needs.
#pragma once

#include <cmath>

#include "simd.hpp"

namespace thalweg::THALWEG_LEVEL {

struct Lanes {
  static constexpr int kCount = 8, kGroups = kCount / kLanes;
  using V = VectorOf<kLanes>::type;
  V v[kGroups];

  Lanes() = default;
  THALWEG_INLINE Lanes(double same) {  // NOLINT: a number is the same number in every lane
    for (int g = 0; g < kGroups; g++) v[g] = broadcast<V>(same);
  }
  static THALWEG_INLINE Lanes load(const double *from) {
    Lanes r;
    for (int g = 0; g < kGroups; g++) r.v[g] = THALWEG_LEVEL::load<V>(from + g * kLanes);
    return r;
  }
  THALWEG_INLINE void store(double *to) const {
    for (int g = 0; g < kGroups; g++) THALWEG_LEVEL::store<V>(to + g * kLanes, v[g]);
  }
  THALWEG_INLINE double operator[](int lane) const { return v[lane / kLanes][lane % kLanes]; }
};

#define THALWEG_LANEWISE(op)                                              \
  THALWEG_INLINE Lanes operator op(const Lanes &a, const Lanes &b) {      \
    Lanes r;                                                              \
    for (int g = 0; g < Lanes::kGroups; g++) r.v[g] = a.v[g] op b.v[g];   \
    return r;                                                             \
  }
THALWEG_LANEWISE(+)
THALWEG_LANEWISE(-)
THALWEG_LANEWISE(*)
THALWEG_LANEWISE(/)
#undef THALWEG_LANEWISE

THALWEG_INLINE Lanes greatest(const Lanes &a, const Lanes &b) {
  Lanes r;
  for (int g = 0; g < Lanes::kGroups; g++) r.v[g] = a.v[g] > b.v[g] ? a.v[g] : b.v[g];
  return r;
}
THALWEG_INLINE bool any_above(const Lanes &a, const Lanes &b) {
  bool any = false;
  for (int lane = 0; lane < Lanes::kCount; lane++) any |= a[lane] > b[lane];
  return any;
}

typedef int64_t Integers __attribute__((vector_size(sizeof(Lanes::V))));

// exp and ln to a few units in the last place: powers of two by the exponent's bits, the rest by a polynomial.
THALWEG_INLINE Lanes exponential(const Lanes &a) {
  using V = Lanes::V;
  Lanes r;
  for (int g = 0; g < Lanes::kGroups; g++) {
    V x = a.v[g] < -700.0 ? broadcast<V>(-700.0) : a.v[g];
    x = x > 700.0 ? broadcast<V>(700.0) : x;
    const V shifted = x * 1.4426950408889634 + 6755399441055744.0;  // adding 1.5 * 2^52 rounds to an integer
    const V n = shifted - 6755399441055744.0;
    const V f = (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10;
    V poly = broadcast<V>(1.0 / 6227020800.0);
    for (double c : {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                     1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
      poly = poly * f + c;
    const Integers power = ((Integers)shifted << 52) + (int64_t(1023) << 52);  // a cast of vectors keeps the bits
    r.v[g] = poly * (V)power;
  }
  return r;
}
THALWEG_INLINE Lanes logarithm(const Lanes &a) {  // of positive numbers
  using V = Lanes::V;
  Lanes r;
  for (int g = 0; g < Lanes::kGroups; g++) {
    Integers bits = (Integers)a.v[g];
    const Integers offset = bits - 0x3fe6a09e667f3bcdLL;  // mantissa from sqrt(1/2) to sqrt(2)
    const Integers exponent = offset >> 52;
    bits -= exponent << 52;
    const V m = (V)bits, e = __builtin_convertvector(exponent, V);
    const V s = (m - 1) / (m + 1), s2 = s * s;
    V poly = broadcast<V>(2.0 / 21);
    for (double c : {2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0})
      poly = poly * s2 + c;
    r.v[g] = e * 0.69314718055994530942 + s * poly;
  }
  return r;
}

}  // namespace thalweg::THALWEG_LEVEL
