// The inverse of a covariance of a few features, as factor.hpp keeps that of many: P = L D L', here entry by entry, for
// one model or for several side by side.
//
// Coordinate by coordinate, from the last to the first, what a row waits for is short: an entry of L waits for three
// products, one of D for a division.
#pragma once

#include "linear_algebra/factor.hpp"
#include "linear_algebra/numbers.hpp"

namespace thalweg::THALWEG_LEVEL {

// The entries and nothing else, in the object itself: what a loop works on.
template <int P, class N = double> struct BareEntries {
  BareEntries(int64_t, int64_t) {}
  Fixed<(P > 1 ? P * (P - 1) / 2 : 1) * Of<N>::kCount> U{};
  Fixed<P * Of<N>::kCount> D{};
};

template <int P, class N = double, class Kept = TriangleOf<double>> class SmallFactor : public Kept {
  using W = FewFeatures<P, N>;
  using V = typename W::V;
  static constexpr int kCount = Of<N>::kCount;

 public:
  using Kept::U, Kept::D;
  static W width_for(int64_t p) { return W(p); }
  explicit SmallFactor(const W &) : Kept(P, kCount) {}

  // Makes the change along v, with u = P v (of the old P) on the way. Returns 1 / (a + weight v'Pv).
  template <class S> THALWEG_INLINE N absorb(const double *at, const RankOneOf<N, S> &change, double *to) {
    const V v = load<V>(at), f = project(v);
    V d = load<V>(D.data()), u;
    N alpha = change.a, inverse = 1 / change.a;
    for (int j = P - 1; j >= 0; j--) {
      const N g = d.at[j] * f.at[j], wf = change.weight * f.at[j], lambda = wf * inverse;
      d.at[j] = change.scale * alpha * d.at[j];
      alpha = fused(wf, g, alpha);
      inverse = 1 / alpha;
      d.at[j] = d.at[j] * inverse;
      for (int i = j + 1; i < P; i++) {
        const N w = entry(j, i);
        store<N>(place(j, i), fused(-u.at[i], lambda, w));
        u.at[i] = fused(g, w, u.at[i]);
      }
      u.at[j] = g;
    }
    store<V>(D.data(), d);
    store<V>(to, u);
    return inverse;
  }

  // w = P m
  void apply(const double *m, double *w) {
    const V f = project(load<V>(m));
    V product;
    for (int j = P - 1; j >= 0; j--) {
      const N g = load<N>(D.data() + j * kCount) * f.at[j];
      for (int i = j + 1; i < P; i++) product.at[i] = fused(g, entry(j, i), product.at[i]);
      product.at[j] = g;
    }
    store<V>(w, product);
  }

  // As in factor.hpp, where `wanted`; tells where D changed.
  template <class Values> Mask<N> cap(const Values &variance, const Mask<N> &wanted) {
    double changed[kCount] = {};
    for (int lane = 0; lane < kCount; lane++)
      for (int j = 0; is_set(wanted, lane) && j < P; j++)
        changed[lane] += cap_entry<double>(variance[j * kCount + lane], D[j * kCount + lane]);
    return load<N>(changed) > N(0.0);
  }
  THALWEG_INLINE Mask<N> needs_cap(const double *variance) const {
    N all = 0.0;
    for (int j = 0; j < P; j++)
      all = fused(load<N>(D.data() + j * kCount), greatest(load<N>(variance + j * kCount), kLeastVariance), all);
    return all > N(kSlack / Bounds<double>::kResolution);
  }

 private:
  THALWEG_INLINE double *place(int64_t j, int64_t i) {  // of U[j, i] = L[i, j], i > j
    return U.data() + (j * P - j * (j + 1) / 2 + i - j - 1) * kCount;
  }
  THALWEG_INLINE N entry(int64_t j, int64_t i) { return load<N>(place(j, i)); }
  // f = L'v
  THALWEG_INLINE V project(const V &v) {
    V f;
    for (int j = 0; j < P; j++) {
      N sum = v.at[j];
      for (int i = P - 1; i > j; i--) sum = fused(entry(j, i), v.at[i], sum);
      f.at[j] = sum;
    }
    return f;
  }
};

template <int P, class N = double, class T = double>
using FactorOf = std::conditional_t<(P > 0 && P <= kFew), SmallFactor<(P > kFew || P == 0 ? 1 : P), N>, Factor<P, T>>;

}  // namespace thalweg::THALWEG_LEVEL
