// Floats in lanes beside the vectors of simd.hpp: any number of lanes, from several places of memory side by side, from a table by
// their places in it, or only the first of a vector.
#pragma once

#include <cstring>

#include "linear_algebra/simd.hpp"

namespace thalweg::THALWEG_LEVEL {

// As many floats as there are lanes; a single one is a plain number.
template <int N> struct FloatLanes {
  typedef float V __attribute__((vector_size(4 * N)));
  typedef V Unaligned __attribute__((aligned(4)));
  typedef int32_t Bits __attribute__((vector_size(4 * N)));
  static THALWEG_INLINE V load(const float *from) { return *reinterpret_cast<const Unaligned *>(from); }
  static THALWEG_INLINE void store(float *to, V v) { *reinterpret_cast<Unaligned *>(to) = v; }
  static THALWEG_INLINE Bits bits(V v) { return (Bits)v; }
  static THALWEG_INLINE V number(Bits b) { return (V)b; }
};
template <> struct FloatLanes<1> {
  using V = float;
  using Bits = int32_t;
  static THALWEG_INLINE V load(const float *from) { return *from; }
  static THALWEG_INLINE void store(float *to, V v) { *to = v; }
  static THALWEG_INLINE Bits bits(V v) {
    Bits b;
    std::memcpy(&b, &v, sizeof b);
    return b;
  }
  static THALWEG_INLINE V number(Bits b) {
    V v;
    std::memcpy(&v, &b, sizeof v);
    return v;
  }
};
constexpr int kFloatLanes = Entries<float>::L;

// 1 / sqrt(a) to five digits, alike on every processor: a first guess by the exponent, and two steps of Newton's method.
template <int N> THALWEG_INLINE typename FloatLanes<N>::V inverse_root(typename FloatLanes<N>::V a) {
  using Lane = FloatLanes<N>;
  typename Lane::V r = Lane::number(0x5f3759df - (Lane::bits(a) >> 1));
  for (int i = 0; i < 2; i++) r = r * (1.5f - 0.5f * a * r * r);
  return r;
}

// L floats each from N / L places, side by side.
template <int N, int L> struct SideBySide {
  using Lane = FloatLanes<N>;
  using V = typename Lane::V;
  static THALWEG_INLINE V load(const float *const *from, int64_t offset) {
    if constexpr (N == L) {
      return Lane::load(from[0] + offset);
#if defined(__AVX512F__)
    } else if constexpr (N == 16 && L == 4) {
      const __m512 two =
          _mm512_insertf32x4(_mm512_castps128_ps512(_mm_loadu_ps(from[0] + offset)), _mm_loadu_ps(from[1] + offset), 1);
      return (V)_mm512_insertf32x4(_mm512_insertf32x4(two, _mm_loadu_ps(from[2] + offset), 2),
                                   _mm_loadu_ps(from[3] + offset), 3);
#elif defined(__AVX2__)
    } else if constexpr (N == 8 && L == 4) {
      return (V)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from[0] + offset)),
                                     _mm_loadu_ps(from[1] + offset), 1);
#endif
    } else {
      float all[N];
      for (int i = 0; i < N; i++) all[i] = from[i / L][offset + i % L];
      return Lane::load(all);
    }
  }
  static THALWEG_INLINE void store(float *const *to, int64_t offset, V v) {
    if constexpr (N == L) {
      Lane::store(to[0] + offset, v);
#if defined(__AVX512F__)
    } else if constexpr (N == 16 && L == 4) {
      _mm_storeu_ps(to[0] + offset, _mm512_castps512_ps128((__m512)v));
      _mm_storeu_ps(to[1] + offset, _mm512_extractf32x4_ps((__m512)v, 1));
      _mm_storeu_ps(to[2] + offset, _mm512_extractf32x4_ps((__m512)v, 2));
      _mm_storeu_ps(to[3] + offset, _mm512_extractf32x4_ps((__m512)v, 3));
#elif defined(__AVX2__)
    } else if constexpr (N == 8 && L == 4) {
      _mm_storeu_ps(to[0] + offset, _mm256_castps256_ps128((__m256)v));
      _mm_storeu_ps(to[1] + offset, _mm256_extractf128_ps((__m256)v, 1));
#endif
    } else {
      for (int i = 0; i < N; i++) to[i / L][offset + i % L] = v[i];
    }
  }
  // The same L numbers for each place.
  static THALWEG_INLINE V repeat(const float *from) {
    float all[N];
    for (int i = 0; i < N; i++) all[i] = from[i % L];
    return Lane::load(all);
  }
};

// The first lanes of a vector in memory: what is behind them is neither read nor written.
class FirstLanes {
 public:
  explicit THALWEG_INLINE FirstLanes(int64_t count) {
#if defined(__AVX512F__)
    mask_ = __mmask16(count >= 16 ? 0xffff : (1 << count) - 1);
#elif defined(__AVX2__)
    mask_ = Places{0, 1, 2, 3, 4, 5, 6, 7} < int32_t(count);
#else
    count_ = count;
#endif
  }
  // Zeros in the other lanes.
  THALWEG_INLINE Floats load(const float *from) const {
#if defined(__AVX512F__)
    return (Floats)_mm512_maskz_loadu_ps(mask_, from);
#elif defined(__AVX2__)
    return (Floats)_mm256_maskload_ps(from, (__m256i)mask_);
#else
    if (count_ >= kFloatLanes) return THALWEG_LEVEL::load<Floats>(from);
    Floats v{};
    for (int i = 0; i < count_; i++) v[i] = from[i];
    return v;
#endif
  }
  THALWEG_INLINE void store(float *to, Floats v) const {
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(to, mask_, (__m512)v);
#elif defined(__AVX2__)
    _mm256_maskstore_ps(to, (__m256i)mask_, (__m256)v);
#else
    if (count_ >= kFloatLanes) return THALWEG_LEVEL::store<Floats>(to, v);
    for (int i = 0; i < count_; i++) to[i] = v[i];
#endif
  }
  // These lanes, and `other` in those behind.
  THALWEG_INLINE Floats pick(Floats v, float other) const {
#if defined(__AVX512F__)
    return (Floats)_mm512_mask_blend_ps(mask_, _mm512_set1_ps(other), (__m512)v);
#elif defined(__AVX2__)
    return mask_ ? v : other - Floats{};
#else
    for (int64_t i = count_; i < kFloatLanes; i++) v[i] = other;
    return v;
#endif
  }

 private:
#if defined(__AVX512F__)
  __mmask16 mask_;
#elif defined(__AVX2__)
  typedef int32_t Places __attribute__((vector_size(32)));
  Places mask_;
#else
  int64_t count_;
#endif
};

// The least of every L-th lane.
template <int L> THALWEG_INLINE typename FloatLanes<L>::V least_of_each(Floats a) {
  if constexpr (kFloatLanes > 8 && L <= 8) a = smaller(a, shift<8>(a, a));
  if constexpr (kFloatLanes > 4 && L <= 4) a = smaller(a, shift<4>(a, a));
  if constexpr (L <= 2) a = smaller(a, shift<2>(a, a));
  if constexpr (L == 1) return smaller(a, shift<1>(a, a))[0];
  else if constexpr (L == kFloatLanes) return a;
  else return __builtin_shufflevector(a, a, 0, 1, 2, 3);
}

// Numbers of a table by their places, one in each lane. A table of up to kShort numbers is held in registers.
using Places = FloatLanes<kFloatLanes>::Bits;
struct ShortTable {
#if defined(__AVX512F__)
  static constexpr int64_t kShort = 32;  // the table has room for as many
  explicit THALWEG_INLINE ShortTable(const float *table)
      : low(_mm512_loadu_ps(table)), high(_mm512_loadu_ps(table + 16)) {}
  THALWEG_INLINE Floats at(Places place) const { return (Floats)_mm512_permutex2var_ps(low, (__m512i)place, high); }
  __m512 low, high;
#elif defined(__AVX2__)
  static constexpr int64_t kShort = 16;
  explicit THALWEG_INLINE ShortTable(const float *table)
      : low(_mm256_loadu_ps(table)), high(_mm256_loadu_ps(table + 8)) {}
  THALWEG_INLINE Floats at(Places place) const {
    const __m256i i = (__m256i)place;
    return (Floats)_mm256_blendv_ps(_mm256_permutevar8x32_ps(low, i), _mm256_permutevar8x32_ps(high, i),
                                    _mm256_castsi256_ps(_mm256_slli_epi32(i, 28)));
  }
  __m256 low, high;
#else
  static constexpr int64_t kShort = 0;
  explicit ShortTable(const float *) {}
  THALWEG_INLINE Floats at(Places) const { return Floats{}; }
#endif
};
struct LongTable {
  explicit THALWEG_INLINE LongTable(const float *table) : table(table) {}
  THALWEG_INLINE Floats at(Places place) const {
    Floats v;
    for (int i = 0; i < kFloatLanes; i++) v[i] = table[place[i]];
    return v;
  }
  const float *table;
};

}  // namespace thalweg::THALWEG_LEVEL
