// What a row does to a discriminant, by its class, its share and the counts before it: nothing of it depends on the
// row's values, so it can be known ahead of them. N: one number, or one for each of several models; S: the same for what
// models of one rate and age have in common.
#pragma once

#include "factor.hpp"
#include "numbers.hpp"

namespace thalweg::THALWEG_LEVEL {

struct DiscriminantOptions {
  bool soft_counts = false;
  bool covariance_2008 = false;
  int64_t warmup = 10;
  double ridge = 0;
};

// What a row counts for: old counts are multiplied by `fade`, `news` is set beside them; hard counts grow by `mass`.
template <class S> struct ShareOf {
  S fade, news, tilt;  // tilt: news / fade
  double mass;

  ShareOf() = default;
  THALWEG_INLINE ShareOf(const S &fade, const S &news, double mass)
      : fade(fade), news(news), tilt(news / fade), mass(mass) {}
  static THALWEG_INLINE ShareOf once(const S &lambda) { return ShareOf(1 - lambda, lambda, 1); }
};

template <class N, class S> struct MoveOf {
  Index<N> k;
  ShareOf<S> row;
  N n, gain;               // rows of the class before, and by how much its mean moves towards the row
  S grown, whole;          // weight of all rows with this one, and its inverse
  RankOneOf<N, S> change;  // of P

  MoveOf() = default;
  THALWEG_INLINE MoveOf(const DiscriminantOptions &options, const Index<N> &k, const N &n, const S &total,
                        const ShareOf<S> &row)
      : k(k), row(row), n(n) {
    const N inverse = 1 / fused(N(row.fade), n, N(row.news));
    const N rest = row.fade * n * inverse;                // 1 - gain, without its cancellation
    gain = usually(n > 0.0, row.news * inverse, N(1.0));  // eq. (10); 1 for the first row of a class, to the last bit
    change.a = row.fade * total;
    if (options.covariance_2008) {
      change.weight = row.news * rest * rest;  // z = x - m_k after the row, eq. (12)
    } else if (options.soft_counts) {
      change.weight = row.news * rest;  // the exact exponentially weighted scatter, ours
    } else {
      // Schnackenberg eq. (3), lambda n / (n + w) v v', with v = (n + w) (1 - lambda) / (keep + news) e, eq. (4)
      const N faded = row.fade * inverse;
      change.weight = row.news * n * (n + row.mass) * faded * faded;
    }
    grown = fused(row.fade, total, row.news);
    whole = 1 / grown;
    change.scale = grown * (1 / change.a);
  }

  // The counts of the classes and of all rows go on.
  THALWEG_INLINE void count(const DiscriminantOptions &options, double *counts, int64_t classes, S &total) const {
    if (!options.soft_counts) {
      put_at_class<N>(counts, Of<N>::kCount, classes, k, n + row.mass);
      total = total + row.mass;
      return;
    }
    for (int64_t c = 0; c < classes; c++) {
      const N before = load<N>(counts + c * Of<N>::kCount), left = usually(before > 1e-290, before, N(0.0));
      store<N>(counts + c * Of<N>::kCount, pick(same(k, c), fused(left, N(row.fade), N(row.news)), left * row.fade));
    }
    total = grown;
  }
};

using Share = ShareOf<double>;
using Move = MoveOf<double, double>;

}  // namespace thalweg::THALWEG_LEVEL
