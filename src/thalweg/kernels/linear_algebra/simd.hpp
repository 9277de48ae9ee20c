// Short vectors of doubles in the width of the instruction set this file is compiled for.
//
// processor.hpp sets the width. Everything lives in a namespace per instruction set.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "linear_algebra/buffer.hpp"
#include "linear_algebra/processor.hpp"

// For scalar code in which GCC's own vectors would be written and read in different pieces, and wait for memory.
#if defined(__clang__)
#define THALWEG_NO_VECTORIZE
#else
#define THALWEG_NO_VECTORIZE __attribute__((optimize("no-tree-slp-vectorize", "no-tree-loop-vectorize")))
#endif

namespace thalweg::THALWEG_LEVEL {

template <int L> struct VectorOf;
template <> struct VectorOf<2> {
  typedef double type __attribute__((vector_size(16)));
};
template <> struct VectorOf<4> {
  typedef double type __attribute__((vector_size(32)));
};
template <> struct VectorOf<8> {
  typedef double type __attribute__((vector_size(64)));
};

// In memory a vector is as aligned as a double. Not memcpy: a store through char could change any pointer, and the
// compiler would load them all again.
template <class V> struct InMemory {
  typedef V type __attribute__((aligned(8)));
};
template <class V> struct Memory {
  static THALWEG_INLINE V load(const double *from) {
    return *reinterpret_cast<const typename InMemory<V>::type *>(from);
  }
  static THALWEG_INLINE void store(double *to, V v) { *reinterpret_cast<typename InMemory<V>::type *>(to) = v; }
};
template <class V> THALWEG_INLINE V load(const double *from) { return Memory<V>::load(from); }
template <class V> THALWEG_INLINE void store(double *to, const V &v) { Memory<V>::store(to, v); }
// What was loaded as v from there, to be overwritten in a register: arm64 multiplies and adds in place and would copy v,
// which takes the time of a multiplication. A second load is free there.
template <class V, class T> THALWEG_INLINE V load_again(const T *from, V v) {
#if defined(__ARM_NEON)
  asm("ldr %q0, %1" : "=w"(v) : "Q"(*reinterpret_cast<const typename InMemory<V>::type *>(from)));
#else
  (void)from;
#endif
  return v;
}
template <class V> THALWEG_INLINE V broadcast(double x) { return x - V{}; }  // not x + 0, which changes a -0

// a b + c with one rounding, where the machine can; else with two, everywhere.
THALWEG_INLINE double fused(double a, double b, double c) { return kFused ? __builtin_fma(a, b, c) : a * b + c; }
#if defined(__FMA__)
THALWEG_INLINE VectorOf<2>::type fused(VectorOf<2>::type a, VectorOf<2>::type b, VectorOf<2>::type c) {
  return _mm_fmadd_pd(a, b, c);
}
THALWEG_INLINE VectorOf<4>::type fused(VectorOf<4>::type a, VectorOf<4>::type b, VectorOf<4>::type c) {
  return _mm256_fmadd_pd(a, b, c);
}
#if defined(__AVX512F__)
THALWEG_INLINE VectorOf<8>::type fused(VectorOf<8>::type a, VectorOf<8>::type b, VectorOf<8>::type c) {
  return _mm512_fmadd_pd(a, b, c);
}
#endif
#elif defined(__ARM_FEATURE_FMA)
THALWEG_INLINE VectorOf<2>::type fused(VectorOf<2>::type a, VectorOf<2>::type b, VectorOf<2>::type c) {
  return (VectorOf<2>::type)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
#else
THALWEG_INLINE VectorOf<2>::type fused(VectorOf<2>::type a, VectorOf<2>::type b, VectorOf<2>::type c) {
  return a * b + c;
}
#endif
template <class V> THALWEG_INLINE std::enable_if_t<!std::is_arithmetic_v<V> && !std::is_class_v<V>, V> fused(double a,
                                                                                                             V b, V c) {
  return fused(broadcast<V>(a), b, c);
}

// The sum of all lanes; and of several vectors, where lane r of the result is the sum of s[r].
#if defined(__aarch64__)  // neighbours are added by one instruction, which GCC does not find
THALWEG_INLINE double sum(VectorOf<2>::type a) { return vpaddd_f64((float64x2_t)a); }
THALWEG_INLINE VectorOf<2>::type sums(const VectorOf<2>::type *s) {
  return (VectorOf<2>::type)vpaddq_f64((float64x2_t)s[0], (float64x2_t)s[1]);
}
#else
THALWEG_INLINE double sum(VectorOf<2>::type a) { return a[0] + a[1]; }
THALWEG_INLINE VectorOf<2>::type sums(const VectorOf<2>::type *s) {
  return __builtin_shufflevector(s[0], s[1], 0, 2) + __builtin_shufflevector(s[0], s[1], 1, 3);
}
#endif
THALWEG_INLINE double sum(VectorOf<4>::type a) {
  a += __builtin_shufflevector(a, a, 2, 3, 0, 1);
  return a[0] + a[1];
}
THALWEG_INLINE double sum(VectorOf<8>::type a) {
  a += __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3);
  a += __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5);
  return a[0] + a[1];
}

THALWEG_INLINE VectorOf<4>::type sums(const VectorOf<4>::type *s) {
  VectorOf<4>::type a[2];
  for (int i = 0; i < 2; i++)
    a[i] = __builtin_shufflevector(s[2 * i], s[2 * i + 1], 0, 4, 2, 6) +
           __builtin_shufflevector(s[2 * i], s[2 * i + 1], 1, 5, 3, 7);
  return __builtin_shufflevector(a[0], a[1], 0, 1, 4, 5) + __builtin_shufflevector(a[0], a[1], 2, 3, 6, 7);
}
THALWEG_INLINE VectorOf<8>::type sums(const VectorOf<8>::type *s) {
  VectorOf<8>::type a[4], b[2];
  for (int i = 0; i < 4; i++)
    a[i] = __builtin_shufflevector(s[2 * i], s[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
           __builtin_shufflevector(s[2 * i], s[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  for (int i = 0; i < 2; i++)
    b[i] = __builtin_shufflevector(a[2 * i], a[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
           __builtin_shufflevector(a[2 * i], a[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
  return __builtin_shufflevector(b[0], b[1], 0, 1, 2, 3, 8, 9, 10, 11) +
         __builtin_shufflevector(b[0], b[1], 4, 5, 6, 7, 12, 13, 14, 15);
}

// Lane r of the result is lane r + By of a and, behind those, of b.
template <int By, class V, int... Lane>
THALWEG_INLINE V shifted_by(const V &a, const V &b, std::integer_sequence<int, Lane...>) {
  return __builtin_shufflevector(a, b, (Lane + By)...);
}
template <int By = 1, class V> THALWEG_INLINE V shift(const V &a, const V &b) {
  return shifted_by<By>(a, b, std::make_integer_sequence<int, int(sizeof(V) / sizeof(a[0]))>());
}
// Lane r of the result is the sum of lanes r, r + 1, …: what lies behind each lane, itself included.
template <class V> THALWEG_INLINE V suffix_sums(V a) {
  a += shift<1>(a, V{});
  if constexpr (sizeof(V) > 16) a += shift<2>(a, V{});
  if constexpr (sizeof(V) > 32) a += shift<4>(a, V{});
  return a;
}
// The first lane in all lanes.
template <class V, int... Lane>
THALWEG_INLINE V first_lane(const V &a, std::integer_sequence<int, Lane...>) {
  return __builtin_shufflevector(a, a, (Lane * 0)...);
}
template <class V> THALWEG_INLINE V first_lane(const V &a) {
  return first_lane(a, std::make_integer_sequence<int, int(sizeof(V) / sizeof(double))>());
}

// What the entries of a matrix are kept in: doubles as in all vectors, or floats, of which twice as many fill a vector.
template <class T> struct Entries;
template <> struct Entries<double> {
  static constexpr int L = kLanes;
  using V = VectorOf<kLanes>::type;
};
template <> struct Entries<float> {
  static constexpr int L = 2 * kLanes;
  typedef float V __attribute__((vector_size(8 * kLanes)));
};
using Floats = Entries<float>::V;
template <> struct InMemory<Floats> {
  typedef Floats type __attribute__((aligned(4)));
};
template <class V> THALWEG_INLINE V load(const float *from) {
  return *reinterpret_cast<const typename InMemory<V>::type *>(from);
}
template <class V> THALWEG_INLINE void store(float *to, const V &v) {
  *reinterpret_cast<typename InMemory<V>::type *>(to) = v;
}
template <class V> THALWEG_INLINE V broadcast(float x) { return x - V{}; }
THALWEG_INLINE Floats fused(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__ARM_FEATURE_FMA)
  return (Floats)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return a * b + c;
#endif
}

// The greater in each lane, where none is NaN.
template <class V> THALWEG_INLINE V greater(V a, V b) { return a > b ? a : b; }
#if defined(__AVX512F__)
THALWEG_INLINE Floats greater(Floats a, Floats b) { return _mm512_max_ps(a, b); }
#elif defined(__AVX2__)
THALWEG_INLINE Floats greater(Floats a, Floats b) { return _mm256_max_ps(a, b); }
#elif defined(__ARM_NEON)
THALWEG_INLINE Floats greater(Floats a, Floats b) { return (Floats)vmaxq_f32((float32x4_t)a, (float32x4_t)b); }
THALWEG_INLINE VectorOf<2>::type greater(VectorOf<2>::type a, VectorOf<2>::type b) {
  return (VectorOf<2>::type)vmaxq_f64((float64x2_t)a, (float64x2_t)b);
}
#endif

template <class V> THALWEG_INLINE V smaller(V a, V b) { return a < b ? a : b; }
// The greatest of all lanes.
template <class V> THALWEG_INLINE auto greatest_lane(V a) {
  constexpr int count = sizeof(V) / sizeof(a[0]);
  if constexpr (count > 8) a = greater(a, shift<8>(a, a));
  if constexpr (count > 4) a = greater(a, shift<4>(a, a));
  if constexpr (count > 2) a = greater(a, shift<2>(a, a));
  return greater(a, shift<1>(a, a))[0];
}

// The lower or the upper half of a vector of floats, in doubles.
template <int From, int... Lane> THALWEG_INLINE VectorOf<kLanes>::type half(Floats a,
                                                                            std::integer_sequence<int, Lane...>) {
  return __builtin_convertvector(__builtin_shufflevector(a, a, (From + Lane)...), VectorOf<kLanes>::type);
}
template <int From> THALWEG_INLINE VectorOf<kLanes>::type half(Floats a) {
  return half<From>(a, std::make_integer_sequence<int, kLanes>());
}
// As many lanes as doubles fill, with the same sum.
template <class V> THALWEG_INLINE V folded(V a) { return a; }
THALWEG_INLINE VectorOf<kLanes>::type folded(Floats a) { return half<0>(a) + half<kLanes>(a); }
// to += factor a, in doubles
template <class V> THALWEG_INLINE void add_to(double *to, double factor, V a) {
  store<V>(to, load<V>(to) + factor * a);
}
THALWEG_INLINE void add_to(double *to, double factor, Floats a) {
  add_to(to, factor, half<0>(a));
  add_to(to + kLanes, factor, half<kLanes>(a));
}

// The first lanes from memory, zeros in the others. Not lane by lane, which would wait for memory.
THALWEG_INLINE VectorOf<2>::type load_some(const double *from, int64_t count, VectorOf<2>::type) {
  return VectorOf<2>::type{from[0], count > 1 ? from[1] : 0};
}
#if defined(__AVX2__)
THALWEG_INLINE VectorOf<4>::type load_some(const double *from, int64_t count, VectorOf<4>::type) {
  typedef int64_t Places __attribute__((vector_size(32)));
  return _mm256_maskload_pd(from, (__m256i)(Places{0, 1, 2, 3} < count));
}
#endif
#if defined(__AVX512F__)
THALWEG_INLINE VectorOf<8>::type load_some(const double *from, int64_t count, VectorOf<8>::type) {
  return _mm512_maskz_loadu_pd(__mmask8((1 << count) - 1), from);
}
#endif

// A vector of features cut into blocks of L lanes, padded with zeros: as many blocks as P features fill, or
// (P = 0) as many as there are at run time. How many blocks there are is worth knowing ahead; how full the last is, not.
template <int P> struct Width {
  static constexpr int L = P == 0 ? kLanes : (P <= 2 || kLanes == 2 ? 2 : 4);
  using V = typename VectorOf<L>::type;
  // As many blocks as p features fill, made up to a multiple.
  explicit Width(int64_t p, int64_t multiple = 1)
      : p_(p), blocks_((p + L * multiple - 1) / (L * multiple) * multiple) {}
  THALWEG_INLINE int64_t features() const { return p_; }
  THALWEG_INLINE int64_t blocks() const { return P ? (P + L - 1) / L : blocks_; }
  THALWEG_INLINE int64_t stride() const { return blocks() * L; }

  // A working vector: on the stack, and from there in registers, where the width is known; else borrowed.
  struct OwnRoom {
    explicit THALWEG_INLINE OwnRoom(Buffer &) {}
    THALWEG_INLINE operator double *() { return own; }
    THALWEG_INLINE void take(const Buffer &from) { std::copy_n(from.data(), kSize, own); }
    THALWEG_INLINE void give(Buffer &to) const { std::copy_n(own, kSize, to.data()); }
    static constexpr int kSize = P ? (P + L - 1) / L * L : 1;
    alignas(V) double own[kSize];
  };
  struct BorrowedRoom {
    explicit THALWEG_INLINE BorrowedRoom(Buffer &from) : data(from.data()) {}
    THALWEG_INLINE operator double *() { return data; }
    THALWEG_INLINE void take(const Buffer &) {}
    THALWEG_INLINE void give(Buffer &) const {}
    double *data;
  };
  using Room = std::conditional_t<P != 0, OwnRoom, BorrowedRoom>;

  // a - b, both padded.
  THALWEG_INLINE void difference_padded(const double *a, const double *b, double *to) const {
    for (int64_t i = 0; i < blocks(); i++) store<V>(to + L * i, load<V>(a + L * i) - load<V>(b + L * i));
  }
  // x - origin, padded.
  THALWEG_INLINE void difference(const double *x, const double *origin, double *to) const {
    const int64_t last = P ? (blocks() - 1) * L : (features() - 1) / L * L;
    for (int64_t i = 0; i < last; i += L) store<V>(to + i, load<V>(x + i) - load<V>(origin + i));
    store<V>(to + last, load_some(x + last, features() - last, V{}) - load<V>(origin + last));
    if constexpr (P == 0)
      for (int64_t i = last + L; i < stride(); i += L) store<V>(to + i, V{});
  }

  // a'b + start
  THALWEG_INLINE double dot(const double *a, const double *b, double start) const { return start + dot(a, b); }
  THALWEG_INLINE double dot(const double *a, const double *b) const {
    if (blocks() == 1) return sum(load<V>(a) * load<V>(b));
    double product;
    dots<1>([&](int64_t i, auto add) THALWEG_LAMBDA { add(0, load<V>(a + L * i), load<V>(b + L * i)); }, &product);
    return product;
  }
  // Several of them in one loop: each(i, add) calls add(j, a, b) with block i of the j-th.
  template <int Count, class Each> THALWEG_INLINE void dots(Each each, double *to) const {
    V even[Count] = {}, odd[Count] = {};
    int64_t i = 0;
    if constexpr (P > 3 * L) {  // nothing to add to; of fewer blocks a bare product could be fused into the last sum
      each(0, [&](int j, V a, V b) THALWEG_LAMBDA { even[j] = a * b; });
      each(1, [&](int j, V a, V b) THALWEG_LAMBDA { odd[j] = a * b; });
      i = 2;
    }
    for (; i + 2 <= blocks(); i += 2) {
      each(i, [&](int j, V a, V b) THALWEG_LAMBDA { even[j] = fused(a, b, even[j]); });
      each(i + 1, [&](int j, V a, V b) THALWEG_LAMBDA { odd[j] = fused(a, b, odd[j]); });
    }
    if (i < blocks()) each(i, [&](int j, V a, V b) THALWEG_LAMBDA { even[j] = fused(a, b, even[j]); });
    for (int j = 0; j < Count; j++) to[j] = sum(even[j] + odd[j]);
  }
  THALWEG_INLINE void add(double *to, double factor, const double *v) const {
    for (int64_t i = 0; i < blocks(); i++) store<V>(to + L * i, load<V>(to + L * i) + factor * load<V>(v + L * i));
  }

 private:
  int64_t p_, blocks_;
};

}  // namespace thalweg::THALWEG_LEVEL
