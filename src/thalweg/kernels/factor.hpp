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
#pragma once

#include "triangle.hpp"

namespace thalweg::THALWEG_LEVEL {

class FactorBlock;

template <int P> class Factor : public Triangle {
  friend class FactorBlock;
  using W = Width<P>;
  using V = typename W::V;
  static constexpr int L = W::L;

 public:
  explicit Factor(int64_t p) : Factor(Width<P>(p)) {}

  // f = L'v
  THALWEG_INLINE void project(const double *v, double *f) {
    for (int64_t b = 0; b < width.blocks(); b++) sweep<false, true>(b, nullptr, nullptr, nullptr, v, f + b * L);
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
    for (int64_t b = width.blocks() - 1; b >= 0; b--) settle(b, f + b * L, change, behind, g + b * L, lambda + b * L);
    return behind.inverse[0];
  }
  THALWEG_INLINE void rotate(const double *g, const double *lambda, double *u) {
    int64_t b = width.blocks() - 1;
    if constexpr (P != 0) rotate_last(b--, g, lambda, u);
    for (; b >= 0; b--) sweep<true, false>(b, g + b * L, lambda + b * L, u, nullptr, nullptr);
  }
  // The change of one row and the projection of the next in one pass.
  THALWEG_INLINE void rotate_and_project(const double *g, const double *lambda, double *u, const double *v, double *f) {
    for (int64_t b = width.blocks() - 1; b >= 0; b--) sweep<true, true>(b, g + b * L, lambda + b * L, u, v, f + b * L);
  }

  // w = P m
  THALWEG_APART void apply(const double *m, double *w) {
    project(m, f_.data());
    for (int64_t b = 0; b < width.blocks(); b++)
      store<V>(g_.data() + b * L, load<V>(D.data() + b * L) * load<V>(f_.data() + b * L));
    std::fill(w, w + width.stride(), 0.0);
    for (int64_t b = 0; b < width.blocks(); b++)
      for (int64_t c = b; c < width.blocks(); c++) {
        V wc = load<V>(w + c * L);
        for (int r = 0; r < L; r++) wc += g_[b * L + r] * load<V>(block(b, c) + r * L);
        store<V>(w + c * L, wc);
      }
  }

  // Whether `cap` may have something to do: true wherever it has, and hardly ever where it has not.
  THALWEG_INLINE bool needs_cap(const double *variance) const {
    V all{};
    for (int64_t b = 0; b < width.blocks(); b++) {
      const V v = load<V>(variance + b * L);
      all += load<V>(D.data() + b * L) * (v > kLeastVariance ? v : broadcast<V>(kLeastVariance));
    }
    return sum(all) > kSlack / kResolution;
  }

 private:
  explicit Factor(const W &width)
      : Triangle(width.features(), InBlocks{L, width.blocks()}), width(width), f_(width.stride()), g_(width.stride()),
        lambda_(width.stride()) {}

  // Where a row of blocks begins, and one of its blocks.
  THALWEG_INLINE int64_t block_row(int64_t b) const { return (b * width.blocks() - b * (b - 1) / 2) * L * L; }
  THALWEG_INLINE double *block(int64_t b, int64_t c) { return U.data() + block_row(b) + (c - b) * L * L; }

  // alpha_j = a + weight * (the terms of coordinates j, j + 1, …) of the block behind, and its inverse, in every lane.
  struct Behind {
    explicit THALWEG_INLINE Behind(double a) : alpha(broadcast<V>(a)), inverse(broadcast<V>(1 / a)) {}
    V alpha, inverse;
  };

  // One block of coordinates of a row: its part of D, g and lambda. Divisions are slow, so there is one: what lies
  // behind lane r is lane r + 1, and so is its inverse.
  THALWEG_INLINE void settle(int64_t b, const double *f, const RankOne &change, Behind &behind, double *g,
                             double *lambda) {
    const V fb = load<V>(f), d = load<V>(D.data() + b * L), gb = d * fb, wf = change.weight * fb;
    const V alpha = behind.alpha + suffix_sums(wf * gb), inverse = 1 / alpha;
    store<V>(g, gb);
    store<V>(lambda, -wf * shift(inverse, behind.inverse));
    store<V>(D.data() + b * L, change.scale * d * (shift(alpha, behind.alpha) * inverse));
    behind.alpha = first_lane(alpha);
    behind.inverse = first_lane(inverse);
  }

  // The block that the features end in. Its rows wait for one another: among a few blocks it is felt to go through the
  // padding as well.
  THALWEG_INLINE void rotate_last(int64_t b, const double *g, const double *lambda, double *u) {
    double *row = block(b, b);
    V uc{};
    for (int64_t r = width.features() - b * L - 1; r >= 0; r--) {
      const V w = load<V>(row + r * L);
      store<V>(row + r * L, w + uc * lambda[b * L + r]);
      uc += g[b * L + r] * w;
    }
    store<V>(u + b * L, uc);
  }

  // One block of rows of U: makes the change (g, lambda) and adds to u, then multiplies what it has become by v; each
  // where it is asked for. Blocks must change from the last to the first.
  template <bool Changes, bool Projects>
  THALWEG_INLINE void sweep(int64_t b, const double *g, const double *lambda, double *u, const double *v, double *f) {
    double *row = block(b, b);
    V l[L], gr[L], s[L];
    for (int r = 0; r < L; r++) s[r] = V{};
    if constexpr (Changes)
      for (int r = 0; r < L; r++) {
        l[r] = broadcast<V>(lambda[r]);
        gr[r] = broadcast<V>(g[r]);
      }
    for (int64_t c = b; c < width.blocks(); c++, row += L * L) {
      V uc{}, vc{};
      if constexpr (Changes)
        if (c > b) uc = load<V>(u + c * L);
      if constexpr (Projects) vc = load<V>(v + c * L);
#pragma GCC unroll 8
      for (int r = L - 1; r >= 0; r--) {
        double *at = row + r * L;
        V w = load<V>(at);
        if constexpr (Changes) {
          const V changed = w + uc * l[r];
          store<V>(at, changed);
          uc += gr[r] * w;
          w = changed;
        }
        if constexpr (Projects) s[r] += w * vc;
      }
      if constexpr (Changes) store<V>(u + c * L, uc);
    }
    if constexpr (Projects) store<V>(f, sums(s));
  }

  W width;
  Buffer f_, g_, lambda_;
};

}  // namespace thalweg::THALWEG_LEVEL
