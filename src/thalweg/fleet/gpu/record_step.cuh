// One row of one key's discriminant, on the key's record in place: by a thread of a GPU, or by the host in a test.
//
// The same lines compile for both, so that a machine without a GPU tests the mathematics against `Discriminant`, whose
// formulas these are (discriminant.hpp): soft counts, a constant rate, no ridge. A record is P = L D L' (row by row above
// the diagonal of L'), the class means, the variances and the counts, and nothing that follows from these: w_c = P m_c and
// the origin would be a third more to read and to write. A row is scored by (x - m_c)'P(x - m_c), whose projection
// L'(x - m_k) the update needs anyway.
//
// O((c + 1) p^2) multiply-adds a row; p^2 / 2 + (c + 1.5) p numbers a key are read and written once for all of its rows.
#pragma once

#ifdef __CUDACC__
#define THALWEG_BOTH __device__ __forceinline__
#define THALWEG_SELDOM __device__ __noinline__
#define THALWEG_UNROLL _Pragma("unroll")
#else
#include <cmath>
#define THALWEG_BOTH inline
#define THALWEG_SELDOM inline
#define THALWEG_UNROLL
#endif

namespace thalweg::record {

struct Options {
  double rate;
  int warmup;
};

constexpr double kSingular = 1e-11, kLeastVariance = 1e-80, kResolution = 1e-20, kSlack = 100, kLeastCount = 1e-290;

template <int P, int C> struct Discriminant {
  // Places in a record. During the start the scatter lies where U = L' and D will.
  static constexpr int kD = P * (P - 1) / 2, kMeans = kD + P, kVariance = kMeans + C * P, kCounts = kVariance + P,
                       kTotal = kCounts + C, kRows = kTotal + 1, kWords = kRows + 1;
  static THALWEG_BOTH constexpr int above(int j, int i) { return j * P - j * (j + 1) / 2 + i - j - 1; }  // i > j

  double *record;
  const Options &options;

  // The class predicted for x before its class k is learned; -1 for a key's first row. k < 0: nothing is learned.
  THALWEG_BOTH int take(const double *x, int k) const {
    if (record[kRows] < options.warmup || record[kRows] == 0) return take_first(x, k);
    double f[P];  // of class k
    int best = -1;
    double top = 0;
    for (int c = 0; c < C; c++) {
      double e[P], square = 0;
      THALWEG_UNROLL for (int j = 0; j < P; j++) e[j] = x[j] - record[kMeans + c * P + j];
      THALWEG_UNROLL for (int j = 0; j < P; j++) {
        double projected = e[j];
        THALWEG_UNROLL for (int i = P - 1; i > j; i--) projected += record[above(j, i)] * e[i];
        square += record[kD + j] * projected * projected;
        f[j] = c == k ? projected : f[j];
      }
      const double count = record[kCounts + c], score = log(count) - 0.5 * square;  // eq. (3)
      if (count > 0 && (best < 0 || score > top)) top = score, best = c;
    }
    if (k >= 0) learn(x, k, f);
    return best;
  }

 private:
  THALWEG_BOTH void learn(const double *x, int k, const double *f) const {
    const double fade = 1 - options.rate, news = options.rate, n = record[kCounts + k], total = record[kTotal];
    const double inverse = 1 / (fade * n + news), gain = n > 0 ? news * inverse : 1;  // eq. (10)
    const double a = fade * total, weight = news * (fade * n * inverse), grown = a + news, whole = 1 / grown;
    double u[P], alpha = a, per_alpha = 1 / a;
    const double scale = grown * per_alpha;
    THALWEG_UNROLL for (int j = P - 1; j >= 0; j--) {  // eq. (7), (12)
      const double d = record[kD + j], g = d * f[j], wf = weight * f[j], lambda = wf * per_alpha, before = alpha;
      alpha += wf * g;
      per_alpha = 1 / alpha;
      double *mean = record + kMeans + k * P + j, *variance = record + kVariance + j;
      const double e = x[j] - *mean, spread = (weight * e * e + a * *variance) * whole;
      *mean += gain * e;
      *variance = spread;
      record[kD + j] = capped(scale * before * d * per_alpha, spread);
      THALWEG_UNROLL for (int i = P - 1; i > j; i--) {
        const double entry = record[above(j, i)];
        record[above(j, i)] = entry - u[i] * lambda;
        u[i] += g * entry;
      }
      u[j] = g;
    }
    THALWEG_UNROLL for (int c = 0; c < C; c++) {
      const double count = record[kCounts + c], left = count > kLeastCount ? count * fade : 0;
      record[kCounts + c] = c == k ? left + news : left;
    }
    record[kTotal] = grown;
  }
  // A direction without variance grows no further.
  static THALWEG_BOTH double capped(double d, double variance) {
    const double least = kResolution * (variance > kLeastVariance ? variance : kLeastVariance);
    return d * least > kSlack ? 1 / least : d;
  }

  // The first rows of a key weigh alike; the identity stands in for a covariance that is singular.
  THALWEG_SELDOM int take_first(const double *x, int k) const {
    double U[kD + 1], D[P], top = 0;
    settle(U, D);
    int best = -1;
    for (int c = 0; c < C; c++) {
      const double count = record[kCounts + c], *m = record + kMeans + c * P;
      double square = 0;
      for (int j = 0; j < P; j++) {
        double f = x[j] - m[j];
        for (int i = P - 1; i > j; i--) f += U[above(j, i)] * (x[i] - m[i]);
        square += D[j] * f * f;
      }
      const double score = log(count) - 0.5 * square;
      if (count > 0 && (best < 0 || score > top)) top = score, best = c;
    }
    if (k < 0) return best;
    gather(x, k);
    if (record[kRows] >= options.warmup) {
      const bool settled = settle(U, D);
      const double total = record[kTotal], whole = total * options.rate < 1 ? total * options.rate : 1;
      for (int j = 0; j < P; j++) record[kVariance + j] = settled ? record[kD + j] / total : 1;
      for (int at = 0; at < kD; at++) record[at] = U[at];
      for (int j = 0; j < P; j++) record[kD + j] = D[j];
      for (int c = 0; c < C; c++) record[kCounts + c] *= whole / total;
      record[kTotal] = whole;
    }
    return best;
  }

  THALWEG_BOTH void gather(const double *x, int k) const {
    double *m = record + kMeans + k * P;
    const double before = record[kCounts + k], count = before + 1, weight = before / count;
    for (int j = 0; j < P; j++) {
      const double e = x[j] - m[j];
      record[kD + j] += weight * e * e;
      for (int i = j + 1; i < P; i++) record[above(j, i)] += weight * e * (x[i] - m[i]);
    }
    for (int j = 0; j < P; j++) m[j] += (x[j] - m[j]) / count;
    record[kCounts + k] = count;
    record[kTotal] += 1;
    record[kRows] += 1;
  }

  // P = S^-1 of the scatter, or the identity, and then false. S = C E C' with C unit upper triangular from the last
  // coordinate backwards; L' = C^-1, D = E^-1.
  THALWEG_BOTH bool settle(double *U, double *D) const {
    int seen = 0;
    for (int c = 0; c < C; c++) seen += record[kCounts + c] > 0;
    if (record[kRows] - seen >= P && invert(U, D)) return true;
    for (int at = 0; at < kD; at++) U[at] = 0;
    for (int j = 0; j < P; j++) D[j] = 1;
    return false;
  }
  THALWEG_BOTH bool invert(double *U, double *D) const {
    const double share = 1 / record[kTotal];
    for (int at = 0; at < kD; at++) U[at] = record[at] * share;
    for (int j = 0; j < P; j++) D[j] = record[kD + j] * share;
    for (int i = P - 1; i >= 0; i--) {
      if (!(D[i] > kSingular * record[kD + i] * share) || !(D[i] > kLeastVariance)) return false;
      for (int j = 0; j < i; j++) {
        const double c = U[above(j, i)] / D[i];
        D[j] -= c * U[above(j, i)];
        for (int h = j + 1; h < i; h++) U[above(j, h)] -= c * U[above(h, i)];
      }
      for (int j = 0; j < i; j++) U[above(j, i)] /= D[i];
    }
    for (int j = P - 1; j >= 0; j--) {
      D[j] = 1 / D[j];
      for (int h = P - 1; h > j; h--) {
        const double c = U[above(j, h)];
        U[above(j, h)] = -c;
        for (int i = h + 1; i < P; i++) U[above(j, i)] -= c * U[above(h, i)];
      }
    }
    return true;
  }
};

}  // namespace thalweg::record
