// Eight models side by side, one in each lane: arithmetic on eight doubles in as many vectors as the machine needs.
#pragma once

#include <cmath>
#include <cstring>

#include "linear_algebra/simd.hpp"

namespace thalweg::THALWEG_LEVEL {

struct LaneMask;

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
  // Numbers that lie `stride` apart.
  static THALWEG_INLINE Lanes gather(const double *from, int64_t stride) {
    Lanes r;
    for (int g = 0; g < kGroups; g++)
      for (int i = 0; i < kLanes; i++) r.v[g][i] = from[(g * kLanes + i) * stride];
    return r;
  }
  THALWEG_INLINE void store(double *to) const {
    for (int g = 0; g < kGroups; g++) THALWEG_LEVEL::store<V>(to + g * kLanes, v[g]);
  }
  // The i-th of several, one after the other.
  static THALWEG_INLINE Lanes at(const double *values, int64_t i) { return load(values + i * kCount); }
  static THALWEG_INLINE void put(double *values, int64_t i, const Lanes &to) { to.store(values + i * kCount); }
  THALWEG_INLINE double operator[](int lane) const { return v[lane / kLanes][lane % kLanes]; }
};
template <> struct Memory<Lanes> {
  static THALWEG_INLINE Lanes load(const double *from) { return Lanes::load(from); }
  static THALWEG_INLINE void store(double *to, const Lanes &v) { v.store(to); }
};

typedef int64_t Integers __attribute__((vector_size(sizeof(Lanes::V))));
typedef int8_t Bytes __attribute__((vector_size(kLanes)));

struct LaneMask {  // all bits of a lane set, or none
  Integers v[Lanes::kGroups];
};
struct LaneIndex {
  Integers v[Lanes::kGroups];
  LaneIndex() = default;
  THALWEG_INLINE LaneIndex(int64_t same) {  // NOLINT: a place is the same place in every lane
    for (int g = 0; g < Lanes::kGroups; g++) v[g] = same - Integers{};
  }
  static THALWEG_INLINE LaneIndex load(const int64_t *from) {
    LaneIndex r;
    std::memcpy(r.v, from, sizeof r.v);
    return r;
  }
  THALWEG_INLINE void store_bytes(int8_t *to) const {  // of places below 128
    for (int g = 0; g < Lanes::kGroups; g++) {
      const Bytes bytes = __builtin_convertvector(v[g], Bytes);
      std::memcpy(to + g * kLanes, &bytes, sizeof bytes);
    }
  }
  THALWEG_INLINE int64_t operator[](int lane) const { return v[lane / kLanes][lane % kLanes]; }
  THALWEG_INLINE void set(int lane, int64_t to) { v[lane / kLanes][lane % kLanes] = to; }
};

// What `of` gives for each group of lanes.
template <class Result, class Of> THALWEG_INLINE Result each_group(Of of) {
  Result r;
  for (int g = 0; g < Lanes::kGroups; g++) r.v[g] = of(g);
  return r;
}
#define THALWEG_LANEWISE(Result, A, op)                                                \
  THALWEG_INLINE Result operator op(const A &a, const A &b) {                          \
    return each_group<Result>([&](int g) THALWEG_LAMBDA { return a.v[g] op b.v[g]; }); \
  }
THALWEG_LANEWISE(Lanes, Lanes, +)
THALWEG_LANEWISE(Lanes, Lanes, -)
THALWEG_LANEWISE(Lanes, Lanes, *)
THALWEG_LANEWISE(Lanes, Lanes, /)
THALWEG_LANEWISE(LaneMask, Lanes, >)
THALWEG_LANEWISE(LaneMask, Lanes, ==)
THALWEG_LANEWISE(LaneMask, Lanes, !=)
THALWEG_LANEWISE(LaneMask, LaneMask, |)
THALWEG_LANEWISE(LaneIndex, LaneIndex, +)
THALWEG_LANEWISE(LaneMask, LaneIndex, >=)
THALWEG_LANEWISE(LaneMask, LaneIndex, !=)
#undef THALWEG_LANEWISE

THALWEG_INLINE Lanes operator-(const Lanes &a) {
  return each_group<Lanes>([&](int g) THALWEG_LAMBDA { return -a.v[g]; });
}
THALWEG_INLINE LaneMask same(const LaneIndex &a, int64_t b) {
  return each_group<LaneMask>([&](int g) THALWEG_LAMBDA { return a.v[g] == b; });
}
THALWEG_INLINE Lanes pick(const LaneMask &mask, const Lanes &yes, const Lanes &no) {
  return each_group<Lanes>([&](int g) THALWEG_LAMBDA { return mask.v[g] ? yes.v[g] : no.v[g]; });
}
THALWEG_INLINE LaneIndex pick(const LaneMask &mask, const LaneIndex &yes, const LaneIndex &no) {
  return each_group<LaneIndex>([&](int g) THALWEG_LAMBDA { return mask.v[g] ? yes.v[g] : no.v[g]; });
}
THALWEG_INLINE Lanes greatest(const Lanes &a, const Lanes &b) { return pick(a > b, a, b); }
THALWEG_INLINE bool is_set(const LaneMask &mask, int lane) { return mask.v[lane / kLanes][lane % kLanes] != 0; }
// The first lane that is set, kLanes where none is.
THALWEG_INLINE int first_set(Integers mask) {
#if defined(__AVX512F__)
  return __builtin_ctz(_mm512_movepi64_mask((__m512i)mask) | 1 << kLanes);
#elif defined(__AVX2__)
  return __builtin_ctz(_mm256_movemask_pd((__m256d)mask) | 1 << kLanes);
#else
  return mask[0] ? 0 : mask[1] ? 1 : kLanes;
#endif
}
THALWEG_INLINE int lanes_set(const LaneMask &mask) {
  int count = 0;
  for (int g = 0; g < Lanes::kGroups; g++) {
#if defined(__AVX512F__)
    count += __builtin_popcount(_mm512_movepi64_mask((__m512i)mask.v[g]));
#elif defined(__AVX2__)
    count += __builtin_popcount(_mm256_movemask_pd((__m256d)mask.v[g]));
#elif defined(__ARM_NEON)
    count -= int(vaddvq_s64((int64x2_t)mask.v[g]));  // a lane that is set is -1
#else
    for (int i = 0; i < kLanes; i++) count += mask.v[g][i] != 0;
#endif
  }
  return count;
}
THALWEG_INLINE bool any(const LaneMask &mask) { return lanes_set(mask) > 0; }
THALWEG_INLINE bool all(const LaneMask &mask) { return lanes_set(mask) == Lanes::kCount; }
THALWEG_INLINE bool any_above(const Lanes &a, const Lanes &b) { return any(a > b); }

THALWEG_INLINE double sum_of(const Lanes &a) {
  Lanes::V whole = a.v[0];
  for (int g = 1; g < Lanes::kGroups; g++) whole += a.v[g];
  return sum(whole);
}

THALWEG_INLINE Lanes fused(const Lanes &a, const Lanes &b, const Lanes &c) {
  return each_group<Lanes>([&](int g) THALWEG_LAMBDA { return fused(a.v[g], b.v[g], c.v[g]); });
}

THALWEG_INLINE int64_t as_bits(double x) {
  int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

THALWEG_INLINE double as_number(int64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
THALWEG_INLINE Integers as_bits(Lanes::V x) { return (Integers)x; }  // a cast of vectors keeps the bits
THALWEG_INLINE Lanes::V as_number(Integers bits) { return (Lanes::V)bits; }
// The lowest bits in the place of an exponent; those above them drop out.
THALWEG_INLINE int64_t as_exponent(int64_t bits) { return int64_t(uint64_t(bits) << 52); }
THALWEG_INLINE Integers as_exponent(Integers bits) { return bits << 52; }
THALWEG_INLINE double whole_number(int64_t i) { return double(i); }
THALWEG_INLINE Lanes::V whole_number(Integers i) { return __builtin_convertvector(i, Lanes::V); }

// Eight arrays as one array of their lanes, eight bytes an entry whatever they are: to[i, lane] = from[lane][i].
class Transpose {
  typedef double V __attribute__((vector_size(8 * kLanes), aligned(8), may_alias));
  typedef int64_t Word __attribute__((may_alias));
  static constexpr int kCount = Lanes::kCount;

 public:
  THALWEG_NOINLINE static void in(const void *const *from, int64_t count, void *to) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      for (int lane = 0; lane < kCount; lane += kLanes) {
        V tile[kLanes];
        for (int r = 0; r < kLanes / 2; r++) {  // halves change places on the way from memory
          const Word *upper = (const Word *)from[lane + r] + i, *lower = (const Word *)from[lane + r + kLanes / 2] + i;
          tile[r] = beside(upper, lower);
          tile[r + kLanes / 2] = beside(upper + kLanes / 2, lower + kLanes / 2);
        }
        if constexpr (kLanes > 2) stage<1>(tile);
        if constexpr (kLanes > 4) stage<2>(tile);
        for (int r = 0; r < kLanes; r++) *(V *)((Word *)to + (i + r) * kCount + lane) = tile[r];
      }
    for (; i < count; i++)
      for (int lane = 0; lane < kCount; lane++) ((Word *)to)[i * kCount + lane] = ((const Word *)from[lane])[i];
  }
  // Back, of bytes, eight rows in eight words at a time.
  THALWEG_NOINLINE static void bytes_out(const int8_t *from, int64_t count, int8_t *const *to) {
    static_assert(kCount == 8);
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
      uint64_t row[8];
      std::memcpy(row, from + i * 8, sizeof row);
      swap_corners<1>(row, 0x00ff00ff00ff00ff);
      swap_corners<2>(row, 0x0000ffff0000ffff);
      swap_corners<4>(row, 0x00000000ffffffff);
      for (int lane = 0; lane < 8; lane++) std::memcpy(to[lane] + i, &row[lane], 8);
    }
    for (; i < count; i++)
      for (int lane = 0; lane < 8; lane++) to[lane][i] = from[i * 8 + lane];
  }

 private:
  // From memory a half finds its place for nothing, where the compiler would shuffle it there.
  static THALWEG_INLINE V beside(const Word *a, const Word *b) {
#if defined(__AVX512F__)
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd((const double *)a)),
                              _mm256_loadu_pd((const double *)b), 1);
#elif defined(__AVX2__)
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd((const double *)a)),
                                _mm_loadu_pd((const double *)b), 1);
#else
    return V{as_number(*a), as_number(*b)};
#endif
  }
  // Rows and columns change places: neighbours, pairs.
  template <int Step> static THALWEG_INLINE void stage(V *tile) {
#pragma GCC unroll 8
    for (int r = 0; r < kLanes; r++)
      if (!(r & Step)) swap_corners<Step>(tile[r], tile[r + Step], std::make_integer_sequence<int, kLanes>());
  }
  // The byte in a word's lowest bits is its first.
  template <int Step> static THALWEG_INLINE void swap_corners(uint64_t *row, uint64_t low) {
    for (int r = 0; r < 8; r++) {
      if (r & Step) continue;
      const uint64_t upper = row[r], lower = row[r + Step];
      row[r] = (upper & low) | (lower & low) << 8 * Step;
      row[r + Step] = (upper >> 8 * Step & low) | (lower & ~low);
    }
  }
  template <int Step, int... Lane>
  static THALWEG_INLINE void swap_corners(V &a, V &b, std::integer_sequence<int, Lane...>) {
    const V first = __builtin_shufflevector(a, b, (Lane & Step ? kLanes + Lane - Step : Lane)...);
    b = __builtin_shufflevector(a, b, (Lane & Step ? kLanes + Lane : Lane + Step)...);
    a = first;
  }
};

// exp and ln to a few units in the last place: powers of two by the exponent's bits, the rest by a polynomial.
template <class V> THALWEG_INLINE V within(V x, double low, double high) {
  x = x < low ? low - V{} : x;
  return x > high ? high - V{} : x;
}
template <class V> THALWEG_INLINE V exponential_of(V a) {
  constexpr double kRound = 0x1.8p52;  // to add and subtract it rounds; in between, n stands in the lowest bits
  const V x = within(a, -700.0, 700.0), shifted = fused(x, 1.4426950408889634 - V{}, kRound - V{}),
          n = shifted - kRound;
  const V f = fused(-n, 1.90821492927058770002e-10 - V{}, fused(-n, 0.693147180369123816490 - V{}, x));
  V series = 1.0 / 6227020800.0 - V{};
  for (double c : {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                   1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
    series = fused(series, f, c - V{});
  return as_number(as_bits(series) + as_exponent(as_bits(shifted)));
}
// 2^a in floats for a up to 126, to two units in the last place.
THALWEG_INLINE Floats power_of_two(Floats a) {
  typedef int32_t Words __attribute__((vector_size(sizeof(Floats))));
  constexpr float kRound = 0x1.8p23f;
  const Floats x = greater(a, -125.0f - Floats{}), shifted = x + kRound, f = x - (shifted - kRound);
  Floats series = 1.52527338e-5f - Floats{};  // (ln 2)^k / k!
  for (float c : {1.54035304e-4f, 1.33335581e-3f, 9.61812911e-3f, 5.55041087e-2f, 2.40226507e-1f, 6.93147181e-1f, 1.0f})
    series = series * f + c;
  return (Floats)((Words)series + ((Words)shifted << 23));
}
THALWEG_INLINE double exponential(double a) { return exponential_of(a); }
THALWEG_INLINE Lanes exponential(const Lanes &a) {
  return each_group<Lanes>([&](int g) THALWEG_LAMBDA { return exponential_of(a.v[g]); });
}
// ln m = 2 artanh s as a polynomial in s^2 that interpolates it at Chebyshev's nodes, to 5e-18 of it (ours).
constexpr double kArtanh[8] = {2.0,
                               0.666666666666667,
                               0.39999999999899505,
                               0.28571428625975487,
                               0.2222221113479508,
                               0.18182889125261723,
                               0.15331721600556042,
                               0.14616449685043406};
// Constants that are loaded side by side: on arm64 each takes two instructions by itself.
THALWEG_INLINE const double *side_by_side(const double *constants) {
#if defined(__ARM_NEON)
  asm("" : "+r"(constants));
#endif
  return constants;
}
template <class V> THALWEG_INLINE V logarithm_of(V a) {
  auto bits = as_bits(a) & 0x7fffffffffffffffLL;  // without the sign: a lane that nobody reads may be negative
  const auto exponent = (bits - 0x3fe6a09e667f3bcdLL) >> 52;  // mantissa from sqrt(1/2) to sqrt(2)
  bits -= exponent * (int64_t(1) << 52);
  const V m = as_number(bits), s = (m - 1.0) / (m + 1.0), s2 = s * s;
  const double *c = side_by_side(kArtanh);
  const auto linear = [&](int i) THALWEG_LAMBDA { return fused(c[i + 1] - V{}, s2, c[i] - V{}); };
  const V s4 = s2 * s2, s8 = s4 * s4;
  const V low = fused(linear(2), s4, linear(0)), high = fused(linear(6), s4, linear(4));
  return fused(whole_number(exponent), 0.69314718055994530942 - V{}, s * fused(high, s8, low));
}
THALWEG_INLINE double logarithm(double a) { return logarithm_of(a); }  // of positive numbers
THALWEG_INLINE Lanes logarithm(const Lanes &a) {
  return each_group<Lanes>([&](int g) THALWEG_LAMBDA { return logarithm_of(a.v[g]); });
}

}  // namespace thalweg::THALWEG_LEVEL
