// One number, or one in each of eight lanes, in the same words: arithmetic that is written once for a lone model and for
// eight models side by side, and rounds alike in both.
//
// A compiler may round a product before it is added or not, as it sees fit in each place. Where the two must agree to the
// last bit every such sum is therefore written `fused`, and no other product is added to anything.
#pragma once

#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

// How many numbers an N holds; the type of as many places of a class, and of as many yes or no.
template <class N> struct Of {
  static constexpr int kCount = 1;
  using Index = int64_t;
  using Mask = bool;
};
template <> struct Of<Lanes> {
  static constexpr int kCount = Lanes::kCount;
  using Index = LaneIndex;
  using Mask = LaneMask;
};
template <class N> using Index = typename Of<N>::Index;
template <class N> using Mask = typename Of<N>::Mask;

THALWEG_INLINE bool same(int64_t a, int64_t b) { return a == b; }
THALWEG_INLINE bool any(bool mask) { return mask; }
THALWEG_INLINE bool all(bool mask) { return mask; }
THALWEG_INLINE bool is_set(bool mask, int) { return mask; }
#if defined(__ARM_NEON)
THALWEG_INLINE double greatest(double a, double b) { return __builtin_fmax(a, b); }  // one instruction
#else
THALWEG_INLINE double greatest(double a, double b) { return a > b ? a : b; }
#endif
// By bits, without a branch: answers and labels are hard to foresee.
THALWEG_INLINE int64_t pick(bool mask, int64_t yes, int64_t no) { return no ^ ((no ^ yes) & -int64_t(mask)); }
THALWEG_INLINE double pick(bool mask, double yes, double no) {
  return as_number(pick(mask, as_bits(yes), as_bits(no)));
}
// The same for one number or zero, asked more than once: looked up where the processor has no instruction for it.
template <class N> struct OrZero {
  double both[2];
  explicit THALWEG_INLINE OrZero(double value) : both{0, value} {}
#if defined(__ARM_NEON)
  THALWEG_INLINE double where(bool mask) const { return mask ? both[1] : both[0]; }
#else
  THALWEG_INLINE double where(bool mask) const { return both[mask]; }
#endif
};
template <> struct OrZero<Lanes> {
  Lanes value;
  THALWEG_INLINE Lanes where(const LaneMask &mask) const { return pick(mask, value, Lanes(0.0)); }
};
// Where it can be foreseen.
THALWEG_INLINE double usually(bool mask, double yes, double no) { return __builtin_expect(mask, true) ? yes : no; }
THALWEG_INLINE Lanes usually(bool mask, const Lanes &yes, const Lanes &no) { return mask ? yes : no; }
THALWEG_INLINE Lanes usually(const LaneMask &mask, const Lanes &yes, const Lanes &no) { return pick(mask, yes, no); }

// What lies at a class's place in an array of `classes` numbers (or vectors of them, `stride` apart, and `at` so far into
// one), and what comes there.
template <class V>
THALWEG_INLINE V at_class(const double *values, int64_t stride, int64_t, int64_t k, int64_t at = 0) {
  return load<V>(values + k * stride + at);
}
template <class V>
THALWEG_INLINE V at_class(const double *values, int64_t stride, int64_t classes, const LaneIndex &k, int64_t at = 0) {
  V found = load<V>(values + at);
  for (int64_t c = 1; c < classes; c++) found = pick(same(k, c), load<V>(values + c * stride + at), found);
  return found;
}
template <class V> THALWEG_INLINE void put_at_class(double *values, int64_t stride, int64_t, int64_t k, const V &value,
                                                    int64_t at = 0) {
  store<V>(values + k * stride + at, value);
}
template <class V> THALWEG_INLINE void put_at_class(double *values, int64_t stride, int64_t classes, const LaneIndex &k,
                                                    const V &value, int64_t at = 0) {
  for (int64_t c = 0; c < classes; c++)
    store<V>(values + c * stride + at, pick(same(k, c), value, load<V>(values + c * stride + at)));
}
template <class V> THALWEG_INLINE void put_where(bool, double *to, const V &value) { store<V>(to, value); }
template <class V> THALWEG_INLINE void put_where(const LaneMask &mask, double *to, const V &value) {
  store<V>(to, pick(mask, value, load<V>(to)));
}

// The place of the highest of some numbers, the first of several; -1 where there is none.
template <class N> THALWEG_INLINE Index<N> best_of(const double *scores, int64_t count) {
  Index<N> best = -1;
  N top = -__builtin_inf();
  for (int64_t c = 0; c < count; c++) {
    const N score = load<N>(scores + c * Of<N>::kCount);
    best = pick(score > top, Index<N>(c), best);
    top = greatest(score, top);
  }
  return best;
}

// Rows that one model answers, eight side by side: x + shift is given to `answer_to`, features first, in the room `at` of
// 8 p numbers. Fewer than eight are left over.
struct Answered {
  int64_t rows, wrong;
};
template <class AnswerTo>
Answered answer_in_lanes(const double *X, const int64_t *y, int64_t rows, int64_t p, const double *shift, double *at,
                         AnswerTo answer_to) {
  Answered all{0, 0};
  for (; all.rows + Lanes::kCount <= rows; all.rows += Lanes::kCount) {
    const double *x = X + all.rows * p;
    for (int64_t j = 0; j < p; j++) (Lanes::gather(x + j, p) + Lanes(shift[j])).store(at + j * Lanes::kCount);
    all.wrong += lanes_set(answer_to(at) != LaneIndex::load(y + all.rows));
  }
  return all;
}

// P numbers of one model, each in a register of its own.
template <class N, int P> struct Each {
  N at[P];

  template <class Of> static THALWEG_INLINE Each make(Of of) {
    Each r;
    for (int j = 0; j < P; j++) r.at[j] = of(j);
    return r;
  }
#define THALWEG_EACH(op)                                                   \
  friend THALWEG_INLINE Each operator op(const Each &a, const Each &b) {   \
    return make([&](int j) THALWEG_LAMBDA { return a.at[j] op b.at[j]; }); \
  }                                                                        \
  friend THALWEG_INLINE Each operator op(const N &a, const Each &b) {      \
    return make([&](int j) THALWEG_LAMBDA { return a op b.at[j]; });       \
  }
  THALWEG_EACH(+)
  THALWEG_EACH(-)
  THALWEG_EACH(*)
#undef THALWEG_EACH
  friend THALWEG_INLINE Each fused(const Each &a, const Each &b, const Each &c) {
    return make([&](int j) THALWEG_LAMBDA { return fused(a.at[j], b.at[j], c.at[j]); });
  }
  friend THALWEG_INLINE Each fused(const N &a, const Each &b, const Each &c) {
    return make([&](int j) THALWEG_LAMBDA { return fused(a, b.at[j], c.at[j]); });
  }
  friend THALWEG_INLINE Each pick(const Mask<N> &mask, const Each &yes, const Each &no) {
    return make([&](int j) THALWEG_LAMBDA { return pick(mask, yes.at[j], no.at[j]); });
  }
};
template <class N, int P> struct Memory<Each<N, P>> {
  static THALWEG_INLINE Each<N, P> load(const double *from) {
    Each<N, P> r;
    for (int j = 0; j < P; j++) r.at[j] = Memory<N>::load(from + j * Of<N>::kCount);
    return r;
  }
  static THALWEG_INLINE void store(double *to, const Each<N, P> &v) {
    for (int j = 0; j < P; j++) Memory<N>::store(to + j * Of<N>::kCount, v.at[j]);
  }
};

// A vector of a few features, as `Width` is of more.
template <int P, class N = double> struct FewFeatures {
  static constexpr int L = P * Of<N>::kCount;
  using V = Each<N, P>;
  explicit FewFeatures(int64_t) {}
  THALWEG_INLINE int64_t features() const { return P; }
  THALWEG_INLINE int64_t blocks() const { return 1; }
  THALWEG_INLINE int64_t stride() const { return L; }

  struct Room {
    explicit THALWEG_INLINE Room(Buffer &) {}
    THALWEG_INLINE operator double *() { return own; }
    alignas(64) double own[L];
  };

  THALWEG_INLINE void difference_padded(const double *a, const double *b, double *to) const { difference(a, b, to); }
  THALWEG_INLINE void difference(const double *x, const double *origin, double *to) const {
    store<V>(to, load<V>(x) - load<V>(origin));
  }
  // a'b + start
  THALWEG_INLINE N dot(const double *a, const double *b, N start = 0.0) const {
    return dot(load<V>(a), load<V>(b), start);
  }
  THALWEG_INLINE N dot(const V &a, const V &b, N start = 0.0) const {
    for (int j = 0; j < P; j++) start = fused(a.at[j], b.at[j], start);
    return start;
  }
  THALWEG_INLINE void add(double *to, double factor, const double *v) const {
    store<V>(to, fused(factor, load<V>(v), load<V>(to)));
  }
};

constexpr int kFew = 4;
template <int P, class N = double>
using WidthOf = std::conditional_t<(P > 0 && P <= kFew), FewFeatures<(P > kFew || P == 0 ? 1 : P), N>, Width<P>>;

}  // namespace thalweg::THALWEG_LEVEL
