// What a row does to a discriminant, by its class, its share and the counts before it: nothing of it depends on the
// row's values, so it can be known ahead of them.
#pragma once

#include "factor.hpp"

namespace thalweg::THALWEG_LEVEL {

struct DiscriminantOptions {
  bool soft_counts = false;
  bool covariance_2008 = false;
  int64_t warmup = 10;
  double ridge = 0;
};

// What a row counts for: old counts are multiplied by `fade`, `news` is set beside them; hard counts grow by `mass`.
struct Share {
  double fade, news, mass;

  static Share once(double lambda) { return {1 - lambda, lambda, 1}; }
};

struct Move {
  int64_t k;
  Share row;
  double n, gain;  // rows of the class before, and by how much its mean moves towards the row
  double whole;    // 1 / (weight of all rows with this one)
  RankOne change;  // of P

  Move() = default;
  THALWEG_INLINE Move(const DiscriminantOptions &options, int64_t k, double n, double total, const Share &row)
      : k(k), row(row), n(n) {
    const double keep = row.fade * n, inverse = 1 / (keep + row.news);
    const double rest = keep * inverse;  // 1 - gain, without its cancellation
    gain = row.news / (keep + row.news);  // eq. (10); 1 for the first row of a class, to the last bit
    change.a = row.fade * total;
    if (options.covariance_2008) {
      change.weight = row.news * rest * rest;  // z = x - m_k after the row, eq. (12)
    } else if (options.soft_counts) {
      change.weight = row.news * rest;  // the exact exponentially weighted scatter, ours
    } else {
      // Schnackenberg eq. (3), lambda n / (n + w) v v', with v = (n + w) (1 - lambda) / (keep + news) e, eq. (4)
      const double faded = row.fade * inverse;
      change.weight = row.news * n * (n + row.mass) * faded * faded;
    }
    const double grown = change.a + row.news;
    whole = 1 / grown;
    change.scale = grown * (1 / change.a);
  }

  // The counts of the classes and of all rows go on.
  THALWEG_INLINE void count(const DiscriminantOptions &options, double *counts, int64_t classes, double &total) const {
    if (options.soft_counts) {
      for (int64_t c = 0; c < classes; c++) counts[c] = counts[c] > 1e-290 ? counts[c] * row.fade : 0;
      counts[k] += row.news;
      total = change.a + row.news;
    } else {
      counts[k] = n + row.mass;
      total += row.mass;
    }
  }
};

}  // namespace thalweg::THALWEG_LEVEL
