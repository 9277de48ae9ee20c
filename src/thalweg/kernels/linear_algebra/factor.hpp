// The inverse of a covariance as P = L D L', L unit lower triangular, D > 0 (Bierman's UD form).
//
// Every change multiplies D by positive numbers and never subtracts from it, so P is positive definite by
// construction: no rate, scale or outlier can make it indefinite, and no asymmetry exists to grow, since only
// one triangle does. Sherman-Morrison on P itself loses all digits of a direction that one row shrinks by 1e16
// (features of scale 1e8 after an identity start); here such a direction is one entry of D, kept to full
// precision. O(p^2) a row, 1.5 p^2 multiply-adds, in two passes over the triangle; in one where the next row is known.
//
// L is kept as rows of its transpose, U[j, i] = L[i, j] for i > j, cut into blocks of lanes x lanes. Those on and above
// the diagonal are kept, one after the other in the order of reading, ones on the diagonal and zeros below it included:
// whole vectors can be read without masks.
//
// U may be kept in floats (T), twice as many to a vector and in the cache. It is the one part that grows with p^2; all
// vectors, D and the sums over features stay in doubles, which costs nothing beside it. Rows of U are gone through by R
// at a time, the lanes of a vector of doubles, in either case.
#pragma once

#include "linear_algebra/triangle.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class T> class FactorBlock;

// The entries of a few blocks and nothing else, in the object itself: what a loop works on.
template <int P> struct BareBlocks {
  static constexpr int L = Width<P>::L, kBlocks = (P + L - 1) / L;
  struct InBlocks {
    int64_t lanes, count;
  };
  BareBlocks(int64_t, InBlocks) {}
  template <class Values> bool cap(const Values &variance, bool wanted) {
    bool changed = false;
    for (int j = 0; wanted && j < P; j++) changed |= cap_entry<double>(variance[j], D[j]);
    return changed;
  }
  Fixed<kBlocks *(kBlocks + 1) / 2 * L * L> U{};
  Fixed<kBlocks * L> D{};
};

template <int P, class T = double, class Kept = TriangleOf<T>> class Factor : public Kept {
  friend class FactorBlock<T>;
  static_assert(P == 0 || std::is_same_v<T, double>);
  using W = Width<P>;
  using Doubles = typename W::V;
  using V = std::conditional_t<std::is_same_v<T, double>, Doubles, typename Entries<T>::V>;
  static constexpr int R = W::L, L = int(sizeof(V) / sizeof(T)), kParts = L / R;
  static constexpr bool kInPlace = !std::is_base_of_v<Triangle, Kept>;
  static constexpr int kBlocks = (P + R - 1) / R;  // where they are known
  static constexpr int kSweeps = kParts == 1 ? kBlocksAtOnce : 1;

 public:
  using Kept::U, Kept::D;
  // The width of vectors that go with a factor of p features.
  static W width_for(int64_t p) {
    if constexpr (kParts == 1) return W(p);
    else return W(p, kParts);
  }
  explicit Factor(int64_t p) : Factor(width_for(p)) {}
  explicit Factor(const W &width)
      : Kept(width.features(), {L, width.stride() / L}), width(width), f_(P ? 0 : width.stride()), g_(f_), lambda_(f_),
        v_(kParts == 1 ? 0 : width.stride()), u_(v_) {}

  // f = L'v
  THALWEG_INLINE void project(const double *v, double *f) {
    pass<false, true>(nullptr, nullptr, nullptr, narrowed(v), f);
  }

  // Makes the change along v, with u = P v (of the old P) on the way. Returns 1 / (a + weight v'Pv).
  THALWEG_INLINE double absorb(const double *v, const RankOne &change, double *u) {
    typename W::Room f(f_), g(g_), lambda(lambda_);
    project(v, f);
    const double inverse = settle(f, change, g, lambda);
    rotate(g, lambda, u);
    return inverse;
  }

  // The same in steps, for callers that put another row's step between them: `project`, then `settle`, which needs no
  // more of L than f and changes D, then `rotate`, which changes L.
  THALWEG_INLINE double settle(const double *f, const RankOne &change, double *g, double *lambda) {
    Behind behind(change.a);
    for (int64_t b = width.blocks() - 1; b >= 0; b--) settle(b, f + b * R, change, behind, g + b * R, lambda + b * R);
    return behind.inverse[0];
  }
  THALWEG_INLINE void rotate(const double *g, const double *lambda, double *u) {
    pass<true, false>(g, lambda, room_for(u), nullptr, nullptr);
    widen(u);
  }
  // The change of one row and the projection of the next in one pass.
  THALWEG_INLINE void rotate_and_project(const double *g, const double *lambda, double *u, const double *v, double *f) {
    pass<true, true>(g, lambda, room_for(u), narrowed(v), f);
    widen(u);
  }

  // w = P m
  THALWEG_NOINLINE void apply(const double *m, double *w) {
    typename W::Room f(f_), g(g_);
    project(m, f);
    for (int64_t b = 0; b < width.blocks(); b++)
      store<Doubles>(g + b * R, load<Doubles>(D.data() + b * R) * load<Doubles>(f + b * R));
    std::fill(w, w + width.stride(), 0.0);
    for (int64_t b = 0; b < width.blocks(); b++) {
      const T *row = rows_of(b);
      for (int64_t c = b / kParts; c < width.stride() / L; c++, row += L * L)
        for (int r = 0; r < R; r++) add_to(w + c * L, g[b * R + r], load<V>(row + r * L));
    }
    if constexpr (kParts > 1)
      for (int64_t j = 0; j < width.stride(); j++) w[j] *= this->per_unit[j];
  }

  // Whether `cap` may have something to do: true wherever it has, and hardly ever where it has not.
  THALWEG_INLINE bool needs_cap(const double *variance) const {
    Doubles all{};
    for (int64_t b = 0; b < width.blocks(); b++) {
      Doubles v = load<Doubles>(variance + b * R);
      if constexpr (kParts > 1)
        v *= load<Doubles>(this->per_unit.data() + b * R) * load<Doubles>(this->per_unit.data() + b * R);
      all += load<Doubles>(D.data() + b * R) * greater(v, broadcast<Doubles>(Bounds<T>::kLeast));
    }
    return sum(all) > kSlack / Bounds<T>::kResolution;
  }

 private:
  // Where a row of blocks begins, one of its blocks, and where R rows of it begin on the diagonal.
  THALWEG_INLINE int64_t block_row(int64_t b) const {
    return (b * (width.blocks() / kParts) - b * (b - 1) / 2) * L * L;
  }
  THALWEG_INLINE T *block(int64_t b, int64_t c) { return U.data() + block_row(b) + (c - b) * L * L; }
  THALWEG_INLINE T *rows_of(int64_t b) { return U.data() + block_row(b / kParts) + b % kParts * R * L; }

  // An entry of a vector as U is kept in, and back. What is wild even in units of its feature is cut.
  THALWEG_INLINE T narrowed(int64_t j, double v) const {
    if constexpr (kParts == 1) return v;
    else return T(std::clamp(v * this->per_unit[j], -kWildest, kWildest));
  }
  THALWEG_INLINE double widened(int64_t j, T u) const {
    if constexpr (kParts == 1) return u;
    else return u * this->per_unit[j];
  }
  static constexpr double kWildest = 1e15;

  // The same for whole vectors: themselves, or a copy.
  THALWEG_INLINE const T *narrowed(const double *v) {
    if constexpr (kParts == 1) {
      return v;
    } else {
      for (int64_t j = 0; j < width.stride(); j++) v_[j] = narrowed(j, v[j]);
      return v_.data();
    }
  }
  THALWEG_INLINE T *room_for(double *u) {
    if constexpr (kParts == 1) {
      return u;
    } else {
      return u_.data();
    }
  }
  THALWEG_INLINE void widen(double *u) {
    if constexpr (kParts > 1)
      for (int64_t j = 0; j < width.stride(); j++) u[j] = widened(j, u_[j]);
  }

  // alpha_j = a + weight * (the terms of coordinates j, j + 1, …) of the block behind, and its inverse, in every lane.
  struct Behind {
    explicit THALWEG_INLINE Behind(double a) : alpha(broadcast<Doubles>(a)), inverse(broadcast<Doubles>(1 / a)) {}
    Doubles alpha, inverse;
  };

  // One block of coordinates of a row: its part of D, g and lambda. Divisions are slow, so there is one: what lies
  // behind lane r is lane r + 1, and so is its inverse.
  THALWEG_INLINE void settle(int64_t b, const double *f, const RankOne &change, Behind &behind, double *g,
                             double *lambda) {
    const Doubles fb = load<Doubles>(f), d = load<Doubles>(D.data() + b * R), gb = d * fb, wf = change.weight * fb;
    const Doubles alpha = behind.alpha + suffix_sums(wf * gb), inverse = 1 / alpha;
    store<Doubles>(g, gb);
    store<Doubles>(lambda, -wf * shift(inverse, behind.inverse));
    store<Doubles>(D.data() + b * R, change.scale * d * (shift(alpha, behind.alpha) * inverse));
    behind.alpha = first_lane(alpha);
    behind.inverse = first_lane(inverse);
  }

  // All rows of U, from the last to the first: makes the change (g, lambda) and adds to u, then multiplies what they
  // have become by v; each where it is asked for. Of many blocks the call is hardly felt and one place is enough, but for
  // the loop over rows of a chunk, where it would be a tenth of the time at 50 features.
  template <bool Changes, bool Projects>
  THALWEG_INLINE void pass(const double *g, const double *lambda, T *u, const T *v, double *f) {
    if constexpr ((P == 0 || kInPlace) && !(Changes && Projects)) long_pass<Changes, Projects>(g, lambda, u, v, f);
    else all_rows<Changes, Projects>(g, lambda, u, v, f);
  }
  template <bool Changes, bool Projects>
  THALWEG_NOINLINE void long_pass(const double *g, const double *lambda, T *u, const T *v, double *f) {
    all_rows<Changes, Projects>(g, lambda, u, v, f);
  }
  template <bool Changes, bool Projects>
  THALWEG_INLINE void all_rows(const double *g, const double *lambda, T *u, const T *v, double *f) {
    constexpr int kOne = 1;
    int64_t b = width.blocks();
    if constexpr (kInPlace && Changes && Projects) {
      sweep<Changes, Projects, kOne>(b - 1, true, g, lambda, u, v, f);
      return rows_above<kBlocks - 1>(g, lambda, u, v, f);
    }
    if (kParts == 1) sweep<Changes, Projects, kOne>(--b, true, g, lambda, u, v, f);
    for (; kSweeps > 1 && b >= kSweeps; b -= kSweeps)
      sweep<Changes, Projects, kSweeps>(b - kSweeps, false, g, lambda, u, v, f);
    for (; b > 0; b--) sweep<Changes, Projects, kOne>(b - 1, false, g, lambda, u, v, f);
  }
  // Both for the rows of the first B blocks, without a loop.
  template <int B>
  THALWEG_INLINE void rows_above(const double *g, const double *lambda, T *u, const T *v, double *f) {
    if constexpr (B > 0) {
      constexpr int kGroup = B >= kSweeps ? kSweeps : 1;
      sweep<true, true, kGroup>(B - kGroup, false, g, lambda, u, v, f);
      rows_above<B - kGroup>(g, lambda, u, v, f);
    }
  }

  // The same for `Group` times R rows, from block b on. Rows wait for one another: of the last ones padding is left out.
  template <bool Changes, bool Projects, int Group>
  THALWEG_INLINE void sweep(int64_t b, bool last, const double *g, const double *lambda, T *u, const T *v, double *f) {
    constexpr int kRows = Group * R;
    T *row[Group];
    const int64_t first = b / kParts, real = width.features() - b * R;
    const bool begins = b % kParts == kParts - 1;  // u of the block on the diagonal
    g += b * R, lambda += b * R, f += b * R;
    V l[kRows], gr[kRows], s[kRows];
    for (int i = 0; i < Group; i++) row[i] = rows_of(b + i);
    for (int r = 0; r < kRows; r++) s[r] = V{};
    if constexpr (Changes)
      for (int r = 0; r < kRows; r++) {
        l[r] = broadcast<V>(T(lambda[r]));
        gr[r] = broadcast<V>(T(g[r]));
      }
    const auto place = [&](int r, int k = 0) THALWEG_LAMBDA { return row[r / R] + r % R * L + k * L * L; };
    // Column c of blocks, whose last block is on the diagonal. Where u begins, the last row finds it zero and is not
    // changed.
    const auto diagonal = [&](int64_t c, int blocks) THALWEG_LAMBDA {
      const int64_t left = last ? std::min<int64_t>(real, blocks * R) : blocks * R;
      V uc{}, vc{};
      if constexpr (Changes)
        if (!begins) uc = load<V>(u + c * L);
      if constexpr (Projects) vc = load<V>(v + c * L);
#pragma GCC unroll 8
      for (int r = kRows - 1; r >= 0; r--) {
        if (r >= left) continue;
        V w = load<V>(place(r));
        if constexpr (Changes) {
          const bool still_zero = begins && r == blocks * R - 1;
          const V changed = still_zero ? w : fused(uc, l[r], load_again<V>(place(r), w));
          uc = still_zero ? gr[r] * w : fused(gr[r], w, uc);
          w = changed;
          if (!still_zero) store<V>(place(r), changed);
        }
        if constexpr (Projects) s[r] = r / R == blocks - 1 ? w * vc : fused(w, vc, s[r]);
      }
      if constexpr (Changes) store<V>(u + c * L, uc);
      for (int i = 0; i < blocks; i++) row[i] += L * L;
    };
    // Columns right of it, a few side by side: a row waits for the one below it, but not for another column.
    const auto columns = [&](int64_t c, auto count) THALWEG_LAMBDA {
      constexpr int kColumns = decltype(count)::value;
      V uc[kColumns], vc[kColumns];
      for (int k = 0; k < kColumns; k++) {
        if constexpr (Changes) uc[k] = load<V>(u + (c + k) * L);
        if constexpr (Projects) vc[k] = load<V>(v + (c + k) * L);
      }
#pragma GCC unroll 8
      for (int r = kRows - 1; r >= 0; r--)
#pragma GCC unroll 8
        for (int k = 0; k < kColumns; k++) {
          V w = load<V>(place(r, k));
          if constexpr (Changes) {
            const V changed = fused(uc[k], l[r], load_again<V>(place(r, k), w));
            uc[k] = fused(gr[r], w, uc[k]);
            store<V>(place(r, k), changed);
            w = changed;
          }
          if constexpr (Projects) s[r] = fused(w, vc[k], s[r]);
        }
      if constexpr (Changes)
        for (int k = 0; k < kColumns; k++) store<V>(u + (c + k) * L, uc[k]);
      for (int i = 0; i < Group; i++) row[i] += kColumns * L * L;
    };
#pragma GCC unroll 8
    for (int i = 0; i < Group; i++) diagonal(first + i, i + 1);
    constexpr int kTogether = Group > 1 ? kColumnsAtOnce : 1;
    int64_t c = first + Group;
    for (; kTogether > 1 && c + kTogether <= width.blocks() / kParts; c += kTogether)
      columns(c, std::integral_constant<int, kTogether>());
    for (; c < width.blocks() / kParts; c++) columns(c, std::integral_constant<int, 1>());
    if constexpr (Projects) {
      Doubles sums_of[R];
      for (int i = 0; i < Group; i++) {
        for (int r = 0; r < R; r++) sums_of[r] = folded(s[i * R + r]);
        store<Doubles>(f + i * R, sums(sums_of));
      }
    }
  }

  W width;
  Buffer f_, g_, lambda_;
  BufferOf<T> v_, u_;  // where vectors have to be copied
};

}  // namespace thalweg::THALWEG_LEVEL
