// exp of short vectors, for sums of kernels: the arguments are at most 0, and below -700 all the same.
#pragma once

#include "simd.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class V> struct IntegersOf;
template <> struct IntegersOf<VectorOf<2>::type> { typedef int64_t type __attribute__((vector_size(16))); };
template <> struct IntegersOf<VectorOf<4>::type> { typedef int64_t type __attribute__((vector_size(32))); };
template <> struct IntegersOf<VectorOf<8>::type> { typedef int64_t type __attribute__((vector_size(64))); };

// exp(x) = 2^n exp(r) with |r| <= ln(2) / 2, the latter by its series; relative error below 4e-16.
template <class V> THALWEG_INLINE V exp_of_negative(V x) {
  typedef typename IntegersOf<V>::type Integers;
  constexpr double kRound = 0x1.8p52;  // to add and subtract it rounds; in between, n stands in the lowest bits
  x = x < -700.0 ? broadcast<V>(-700.0) : x;
  const V shifted = x * 0x1.71547652b82fep0 + kRound, n = shifted - kRound;
  const V r = (x - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45;  // ln 2 in two parts: n times the first is exact
  V series = broadcast<V>(1.0 / 6227020800);
  for (double factorial : {479001600., 39916800., 3628800., 362880., 40320., 5040., 720., 120., 24., 6., 2., 1., 1.})
    series = series * r + 1 / factorial;
  return (V)((Integers)series + ((Integers)shifted << 52));
}

}  // namespace thalweg::THALWEG_LEVEL
