// The inverses of eight covariances side by side, one in each lane, of any number of features: P = L D L' as in
// factor.hpp. What that does along a vector of features is done here across models, so that one pass over the row serves
// all of them; small_factor.hpp does the same for up to four features, with every entry in a register.
#pragma once

#include "linear_algebra/lanes.hpp"
#include "linear_algebra/triangle.hpp"

namespace thalweg::THALWEG_LEVEL {

class LaneFactor {
 public:
  using Change = RankOneOf<Lanes, Lanes>;

  explicit LaneFactor(int64_t p) : p(p), U(p * (p - 1) / 2 * kCount), D(p * kCount, 1.0), f(p * kCount) {}

  void identity() {
    U.fill(0);
    D.fill(1);
  }

  // Makes the change along v, which is zero behind coordinate `last`, with u = P v (of the old P) on the way. Returns
  // 1 / (a + weight v'Pv).
  Lanes absorb(const double *v, int64_t last, const Change &change, double *u) {
    for (int64_t j = 0; j <= last; j++) {
      Lanes s = at(v, j);
      for (int64_t i = j + 1; i <= last; i++) s = s + entry(j, i) * at(v, i);
      set(f.data(), j, s);
    }
    return follow(last, change, u);
  }
  // The same along the axis of one coordinate.
  Lanes absorb_axis(int64_t axis, const Change &change, double *u) {
    for (int64_t j = 0; j < axis; j++) set(f.data(), j, entry(j, axis));
    set(f.data(), axis, 1.0);
    return follow(axis, change, u);
  }

  // w = P m
  void apply(const double *m, double *w) {
    for (int64_t j = 0; j < p; j++) {
      Lanes s = at(m, j);
      for (int64_t i = j + 1; i < p; i++) s = s + entry(j, i) * at(m, i);
      set(f.data(), j, s * at(D.data(), j));
    }
    for (int64_t i = 0; i < p; i++) {
      Lanes sum = at(f.data(), i);
      for (int64_t j = 0; j < i; j++) sum = sum + entry(j, i) * at(f.data(), j);
      set(w, i, sum);
    }
  }

  // Keeps every entry of D within bounds. True where D changed.
  bool cap(const Buffer &variance) {
    bool changed = false;
    for (int64_t j = 0; j < p; j++) {
      const Lanes most =
          Lanes(1 / Bounds<double>::kResolution) / greatest(at(variance.data(), j), Bounds<double>::kLeast);
      const Lanes d = at(D.data(), j);
      if (!any_above(d, most * kSlack)) continue;
      for (int lane = 0; lane < kCount; lane++)
        if (d[lane] > most[lane] * kSlack) D[j * kCount + lane] = most[lane];
      changed = true;
    }
    return changed;
  }

  void scale(double by) {
    for (double &d : D) d *= by;
  }
  void hold_below(double most) {
    for (int64_t j = 0; j < p; j++) set(D.data(), j, pick(at(D.data(), j) > most, most, at(D.data(), j)));
  }

  void visit(State &state) {
    state.matrix("factor_rows", U, p * (p - 1) / 2, kCount, kCount);
    state.matrix("factor_diagonal", D, p, kCount, kCount, positive);
  }

 private:
  static constexpr int kCount = Lanes::kCount;
  static THALWEG_INLINE Lanes at(const double *values, int64_t i) { return Lanes::load(values + i * kCount); }
  static THALWEG_INLINE void set(double *values, int64_t i, const Lanes &to) { to.store(values + i * kCount); }
  THALWEG_INLINE double *place(int64_t j, int64_t i) {  // of U[j, i] = L[i, j], i > j
    return U.data() + (j * p - j * (j + 1) / 2 - j - 1 + i) * kCount;
  }
  THALWEG_INLINE Lanes entry(int64_t j, int64_t i) { return Lanes::load(place(j, i)); }

  // L'v being known.
  Lanes follow(int64_t last, const Change &change, double *u) {
    Lanes before = change.a, before_inverse = Lanes(1.0) / change.a;
    for (int64_t j = last + 1; j < p; j++) {
      set(u, j, 0.0);
      set(D.data(), j, change.scale * at(D.data(), j));
    }
    for (int64_t j = last; j >= 0; j--) {
      const Lanes fj = at(f.data(), j), d = at(D.data(), j), g = d * fj;
      const Lanes after = before + change.weight * fj * g, after_inverse = Lanes(1.0) / after;
      const Lanes lambda = Lanes(0.0) - change.weight * fj * before_inverse;
      set(D.data(), j, change.scale * d * (before * after_inverse));
      for (int64_t i = j + 1; i < p; i++) {
        const Lanes w = entry(j, i), ui = at(u, i);
        set(place(j, i), 0, w + ui * lambda);
        set(u, i, ui + g * w);
      }
      set(u, j, g);
      before = after;
      before_inverse = after_inverse;
    }
    return before_inverse;
  }

  int64_t p;
  Buffer U, D, f;  // per pair of features, per feature, and the vector at hand
};

}  // namespace thalweg::THALWEG_LEVEL
