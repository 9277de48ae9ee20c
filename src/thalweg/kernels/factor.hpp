// The inverse of a covariance as P = L D L', L unit lower triangular, D > 0 (Bierman's UD form).
//
// Every change multiplies D by positive numbers and never subtracts from it, so P is positive definite by
// construction: no rate, scale or outlier can make it indefinite, and no asymmetry exists to grow, since only
// one triangle does. Sherman-Morrison on P itself loses all digits of a direction that one row shrinks by 1e16
// (features of scale 1e8 after an identity start); here such a direction is one entry of D, kept to full
// precision. O(p^2) a row in two passes over the triangle, 1.5 p^2 multiply-adds.
//
// L is kept as rows of its transpose: U[j, i] = L[i, j] for i > j, zero elsewhere, so that whole vectors can be
// read without masks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

template <int P> class Factor {
  using W = Width<P>;
  using V = typename W::V;
  static constexpr int L = W::L;

 public:
  // A feature whose variance given the others is below this share of its own makes a covariance singular.
  static constexpr double kSingular = 1e-11;
  // D stops growing where that share falls below this: rounding, squared, is still far below it.
  static constexpr double kResolution = 1e-20;
  static constexpr double kSlack = 100;  // so that a forgetting learner is capped now and then, not at every row
  static constexpr double kLeastVariance = 1e-80;

  explicit Factor(int64_t p) : width(p), U(width.stride() * width.stride(), 0.0), D(width.stride(), 0.0),
                               f_(width.stride()), g_(width.stride()), lambda_(width.stride()) {
    identity();
  }

  void identity() {
    std::fill(U.begin(), U.end(), 0.0);
    std::fill(D.begin(), D.begin() + width.features(), 1.0);
  }

  // f = L'v
  THALWEG_INLINE void project(const double *v, double *f) const {
    for (int64_t b = 0; b < width.blocks(); b++) {
      const double *rows = U.data() + b * L * width.stride();
      const int filled = width.filled(b);
      V s[L];
      for (int r = 0; r < L; r++) s[r] = V{};
      for (int64_t c = b; c < width.blocks(); c++) {
        const V vc = load<V>(v + c * L);
#pragma GCC unroll 8
        for (int r = 0; r < filled; r++) s[r] += load<V>(rows + r * width.stride() + c * L) * vc;
      }
      store<V>(f + b * L, load<V>(v + b * L) + sums(s));
    }
  }

  // P <- scale (P - P v v'P / (a / weight + v'Pv)), with u = P v (of the old P) on the way.
  // Returns a + weight v'Pv. A weight of zero only scales.
  THALWEG_INLINE double absorb(const double *v, double a, double weight, double scale, double *u) {
    typename W::Room f(f_), g(g_), lambda(lambda_);
    project(v, f);
    // alpha_j = a + weight * (the terms of coordinates j, j + 1, …); divisions are slow, so one per block: what lies
    // behind lane r is lane r + 1, and so is its inverse.
    V behind = broadcast<V>(a), behind_inverse = broadcast<V>(1 / a);
    for (int64_t b = width.blocks() - 1; b >= 0; b--) {
      const V fb = load<V>(f + b * L), d = load<V>(D.data() + b * L), gb = d * fb;
      const V after = behind + suffix_sums(weight * fb * gb), after_inverse = 1 / after;
      store<V>(g + b * L, gb);
      store<V>(lambda + b * L, -weight * fb * shift(after_inverse, behind_inverse));
      store<V>(D.data() + b * L, scale * d * (shift(after, behind) * after_inverse));
      behind = broadcast<V>(after[0]);
      behind_inverse = broadcast<V>(after_inverse[0]);
    }
    for (int64_t b = width.blocks() - 1; b >= 0; b--) {
      double *rows = U.data() + b * L * width.stride();
      const int filled = width.filled(b);
      V l[L], gr[L];
      for (int r = 0; r < filled; r++) {
        l[r] = broadcast<V>(lambda[b * L + r]);
        gr[r] = broadcast<V>(g[b * L + r]);
      }
      for (int64_t c = b + 1; c < width.blocks(); c++) {
        V uc = load<V>(u + c * L);
#pragma GCC unroll 8
        for (int r = filled - 1; r >= 0; r--) {
          double *at = rows + r * width.stride() + c * L;
          const V w = load<V>(at);
          store<V>(at, w + uc * l[r]);
          uc += gr[r] * w;
        }
        store<V>(u + c * L, uc);
      }
      V ub{};
#pragma GCC unroll 8
      for (int r = filled - 1; r >= 0; r--) {
        double *at = rows + r * width.stride() + b * L;
        const V w = load<V>(at);
        store<V>(at, w + ub * l[r]);
        ub += gr[r] * w;
        ub[r] = gr[r][r];
      }
      store<V>(u + b * L, ub);
    }
    return behind[0];
  }

  // w = P m
  void apply(const double *m, double *w) {
    project(m, f_.data());
    for (int64_t b = 0; b < width.blocks(); b++)
      store<V>(w + b * L, load<V>(D.data() + b * L) * load<V>(f_.data() + b * L));
    std::copy(w, w + width.stride(), g_.begin());
    for (int64_t j = 0; j < width.features(); j++) width.add(w, g_[j], U.data() + j * width.stride());
  }

  // D_j <= 1 / (resolution * variance_j): a direction without variance grows no further. True where D changed.
  bool cap(const Buffer &variance) {
    bool changed = false;
    for (int64_t j = 0; j < width.features(); j++) {
      const double most = 1 / (kResolution * std::max(variance[j], kLeastVariance));
      if (D[j] > most * kSlack) {
        D[j] = most;
        changed = true;
      }
    }
    return changed;
  }
  // A feature that no other is tied to yet: its variance is this and no more.
  void release(int64_t j, double variance) { D[j] = 1 / variance; }
  // No feature's variance given the others falls below this share of the variance given here.
  void hold_above(const Buffer &variance, double share) {
    for (int64_t j = 0; j < width.features(); j++)
      D[j] = std::min(D[j], 1 / (share * std::max(variance[j], kLeastVariance)));
  }
  THALWEG_INLINE bool needs_cap(const Buffer &variance) const {
    V worst{};
    for (int64_t b = 0; b < width.blocks(); b++) {
      const V v = load<V>(variance.data() + b * L), d = load<V>(D.data() + b * L);
      const V floor = v > kLeastVariance ? v : broadcast<V>(kLeastVariance);
      const V ratio = d * floor;
      worst = ratio > worst ? ratio : worst;
    }
    for (int r = 0; r < L; r++)
      if (worst[r] > kSlack / kResolution) return true;
    return false;
  }

  // P = S^-1 for a covariance given as its strictly upper rows and its diagonal; false, and P as it was, where S
  // is singular. S = C E C' with C unit upper triangular from the last coordinate backwards; L' = C^-1, D = E^-1.
  bool invert(const double *upper, const double *diagonal) {
    const int64_t p = width.features(), n = width.stride();
    Buffer S(n * n, 0.0), E(n, 0.0);
    for (int64_t j = 0; j < p; j++) {
      for (int64_t i = j + 1; i < p; i++) S[j * n + i] = upper[j * n + i];
      E[j] = diagonal[j];
    }
    for (int64_t i = p - 1; i >= 0; i--) {
      if (!(E[i] > kSingular * diagonal[i]) || !(E[i] > kLeastVariance)) return false;
      for (int64_t j = 0; j < i; j++) {
        const double c = S[j * n + i] / E[i];
        E[j] -= c * S[j * n + i];
        for (int64_t k = j + 1; k < i; k++) S[j * n + k] -= c * S[k * n + i];
      }
      for (int64_t j = 0; j < i; j++) S[j * n + i] /= E[i];
    }
    std::fill(U.begin(), U.end(), 0.0);
    for (int64_t j = p - 1; j >= 0; j--) {  // row j of C^-1 from the rows below it
      D[j] = 1 / E[j];
      for (int64_t k = j + 1; k < p; k++) {
        const double c = S[j * n + k];
        if (c == 0) continue;
        U[j * n + k] -= c;
        for (int64_t i = k + 1; i < p; i++) U[j * n + i] -= c * U[k * n + i];
      }
    }
    return true;
  }

  // The numbers behind a P of two features: L's one entry, then D.
  std::array<double, 3> entries() const { return {U[1], D[0], D[1]}; }
  void set_entries(const std::array<double, 3> &entries) { U[1] = entries[0], D[0] = entries[1], D[1] = entries[2]; }

  // P as given by its rows; the identity where it is not positive definite.
  void adopt(const double *precision) {
    const int64_t p = width.features(), n = width.stride();
    for (int64_t j = 0; j < p; j++) {
      double d = precision[j * p + j];
      for (int64_t k = 0; k < j; k++) d -= U[k * n + j] * U[k * n + j] * D[k];
      if (!(d > 0)) return identity();
      D[j] = d;
      std::fill_n(U.begin() + j * n, n, 0.0);
      for (int64_t i = j + 1; i < p; i++) {
        double l = precision[i * p + j];
        for (int64_t k = 0; k < j; k++) l -= U[k * n + i] * U[k * n + j] * D[k];
        U[j * n + i] = l / d;
      }
    }
  }

  void visit(State &state, const std::string &prefix = "") {
    if (state.trusted()) {
      state.above_diagonal("", U, width.features(), width.stride());
      state.matrix("", D, 1, width.features(), width.stride());
      return;
    }
    const std::string rows = prefix + "factor_rows", diagonal = prefix + "factor_diagonal";
    state.above_diagonal(rows.c_str(), U, width.features(), width.stride());
    state.matrix(diagonal.c_str(), D, 1, width.features(), width.stride());
    for (int64_t j = 0; j < width.features(); j++) {
      if (!(D[j] > 0) || !std::isfinite(D[j])) throw BadState(diagonal);
      for (int64_t i = 0; i <= j; i++)
        if (U[j * width.stride() + i] != 0) throw BadState(rows);
    }
  }

 private:
  W width;
  Buffer U, D, f_, g_, lambda_;
};

}  // namespace thalweg::THALWEG_LEVEL
