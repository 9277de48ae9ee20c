// One row of one key's discriminant, on the key's record in place, in the phases of both.cuh.
//
// The same lines compile for both, so that a machine without a GPU tests the mathematics against `Discriminant`, whose
// formulas these are (discriminant.hpp): soft counts, a constant rate, no ridge. A record is P = L D L' (row by row above
// the diagonal of L'), the class means, the variances and the counts, and nothing that follows from these: w_c = P m_c and
// the origin would be a third more to read and to write. A row is scored by (x - m_c)'P(x - m_c), whose projection
// L'(x - m_k) the update needs anyway.
//
// A lane has every Lanes-th entry of x, of the projection (a row of L' each) and of the update (a column of L' each, which
// is independent of the others once the projection is known).
//
// O((c + 1) p^2) multiply-adds a row; p^2 / 2 + (c + 1.5) p numbers a key are read and written once for all of its rows.
#pragma once

#include "factor_step.cuh"

namespace thalweg::record {

constexpr double kSingular = 1e-11, kResolution = 1e-20, kSlack = 100, kLeastCount = 1e-290;

template <int P, int C, int Lanes> struct Discriminant {
  using Value = int;
  static constexpr Value kNone = -1;
  static constexpr bool kHolds = false;
  struct Options {
    double rate;
    int warmup;
  };
  static constexpr int kFeatures = P, kLanes = Lanes;
  // Places in a record. During the start the scatter lies where U = L' and D will.
  static constexpr int kD = P * (P - 1) / 2, kMeans = kD + P, kVariance = kMeans + C * P, kCounts = kVariance + P,
                       kTotal = kCounts + C, kRows = kTotal + 1, kWords = kRows + 1;
  // Places in the scratch: x - m_c of each class (later d_j f_j in the place of class k), f = L'(x - m_k) (later the
  // factors of the update), d_j f_j^2, the lanes' parts of each distance, log counts.
  static constexpr int kDeviations = 0, kProjected = C * P, kSquares = kProjected + P, kDistances = kSquares + P,
                       kLogs = kDistances + C * Lanes, kScratch = kLogs + C;
  static constexpr int kOwn = (P + Lanes - 1) / Lanes;        // entries of a lane
  static constexpr int kTogether = C > 1 && P <= 24 ? 2 : 1;  // classes that share a load of U
  static THALWEG_BOTH constexpr int above(int j, int i) { return record::above<P>(j, i); }

  double *record, *scratch;
  Options options;
  int lane;
  bool starting = false;

  // Phase 1: the row, of which the lane has the entries lane, lane + Lanes, ….
  THALWEG_BOTH void begin(const double *own) {
    starting = record[kRows] < options.warmup || record[kRows] == 0;
    THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
      const int i = t * Lanes + lane;
      if (i >= P) continue;
      if (starting) {
        scratch[kDeviations + i] = own[t];  // the row itself, for the lane that takes it
      } else {
        THALWEG_UNROLL for (int c = 0; c < C; c++) {
          scratch[kDeviations + c * P + i] = own[t] - record[kMeans + c * P + i];
        }
      }
    }
    for (int c = lane; c < C; c += Lanes) scratch[kLogs + c] = log(record[kCounts + c]);
  }

  // Phase 2: distances to the class means; f of class k.
  THALWEG_BOTH void project(int k) const {
    if (starting) return;
    for (int begin = 0; begin < C; begin += kTogether) {
      double e[kTogether][P], distance[kTogether] = {};
      THALWEG_UNROLL for (int c = 0; c < kTogether; c++) {
        THALWEG_UNROLL for (int i = 0; i < P; i++) {
          e[c][i] = begin + c < C ? scratch[kDeviations + (begin + c) * P + i] : 0;
        }
      }
      THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
        const int j = t * Lanes + lane;
        if (j >= P) continue;
        double f[kTogether] = {};
        THALWEG_UNROLL for (int i = P - 1; i >= t * Lanes; i--) {
          if (i < j) continue;
          const double entry = i > j ? record[above(j, i)] : 1;
          THALWEG_UNROLL for (int c = 0; c < kTogether; c++) f[c] += entry * e[c][i];
        }
        const double d = record[kD + j];
        THALWEG_UNROLL for (int c = 0; c < kTogether; c++) {
          const double square = d * f[c] * f[c];
          distance[c] += square;
          if (begin + c == k) scratch[kProjected + j] = f[c], scratch[kSquares + j] = square;
        }
      }
      THALWEG_UNROLL for (int c = 0; c < kTogether; c++) {
        if (begin + c < C) scratch[kDistances + (begin + c) * Lanes + lane] = distance[c];
      }
    }
  }

  // Phase 3: the class predicted, known to lane 0, -1 for a key's first row; then all of the record but U and the counts
  // learns. k < 0: nothing is learned.
  THALWEG_BOTH int decide(int k) const {
    if (starting) return lane == 0 ? start(record, options, scratch + kDeviations, k) : -1;
    int best = -1;
    if (lane == 0) {
      double top = 0;
      for (int c = 0; c < C; c++) {
        double distance = 0;
        THALWEG_UNROLL for (int of = 0; of < Lanes; of++) distance += scratch[kDistances + c * Lanes + of];
        const double score = scratch[kLogs + c] - 0.5 * distance;  // eq. (3)
        if (record[kCounts + c] > 0 && (best < 0 || score > top)) top = score, best = c;
      }
    }
    if (k >= 0) learn(k);
    return best;
  }

  // Phase 4: U and the counts learn.
  THALWEG_BOTH void update(int k) const {
    if (starting) return;
    double u[kOwn] = {};
    rotate<P, Lanes>(record, scratch + kDeviations + k * P, scratch + kProjected, lane, u);  // eq. (7), (12)
    const double fade = 1 - options.rate, news = options.rate;
    for (int c = lane; c < C; c += Lanes) {
      const double count = record[kCounts + c], left = count > kLeastCount ? count * fade : 0;
      record[kCounts + c] = c == k ? left + news : left;
    }
    if (lane == 0) record[kTotal] = fade * record[kTotal] + news;
  }

 private:
  THALWEG_BOTH void learn(int k) const {
    const double fade = 1 - options.rate, news = options.rate, n = record[kCounts + k], a = fade * record[kTotal];
    const double inverse = reciprocal(fade * n + news), gain = n > 0 ? news * inverse : 1;  // eq. (10)
    const double weight = news * (fade * n * inverse), grown = a + news, whole = reciprocal(grown);
    const double scale = grown * reciprocal(a);
    double before[kOwn] = {};
    alphas<P, Lanes>(scratch + kSquares, a, weight, lane, before);
    THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
      const int j = t * Lanes + lane;
      if (j >= P) continue;
      const double d = record[kD + j], f = scratch[kProjected + j], e = scratch[kDeviations + k * P + j];
      const double after = before[t] + weight * scratch[kSquares + j];
      const double spread = (weight * e * e + a * record[kVariance + j]) * whole;
      record[kMeans + k * P + j] += gain * e;
      record[kVariance + j] = spread;
      record[kD + j] = capped(scale * before[t] * d * reciprocal(after), spread);
      scratch[kProjected + j] = weight * f * reciprocal(before[t]);
      scratch[kDeviations + k * P + j] = d * f;
    }
  }
  // A direction without variance grows no further.
  static THALWEG_BOTH double capped(double d, double variance) {
    const double least = kResolution * (variance > kLeastVariance ? variance : kLeastVariance);
    return d * least > kSlack ? 1 / least : d;
  }

  // Not inlined, and by values: the steps of later rows keep their own in registers.
  static THALWEG_SELDOM int start(double *record, Options options, const double *x, int k) {
    return Discriminant{record, nullptr, options, 0}.take_first(x, k);
  }
  // The first rows of a key weigh alike; the identity stands in for a covariance that is singular.
  THALWEG_BOTH int take_first(const double *x, int k) const {
    double U[kD + 1], D[P], top = 0;
    settle(U, D);
    int best = -1;
    THALWEG_ROLLED for (int c = 0; c < C; c++) {
      const double count = record[kCounts + c], *m = record + kMeans + c * P;
      double square = 0;
      THALWEG_ROLLED for (int j = 0; j < P; j++) {
        double f = x[j] - m[j];
        THALWEG_ROLLED for (int i = P - 1; i > j; i--) f += U[above(j, i)] * (x[i] - m[i]);
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
      THALWEG_ROLLED for (int j = 0; j < P; j++) record[kVariance + j] = settled ? record[kD + j] / total : 1;
      THALWEG_ROLLED for (int at = 0; at < kD; at++) record[at] = U[at];
      THALWEG_ROLLED for (int j = 0; j < P; j++) record[kD + j] = D[j];
      THALWEG_ROLLED for (int c = 0; c < C; c++) record[kCounts + c] *= whole / total;
      record[kTotal] = whole;
    }
    return best;
  }

  THALWEG_BOTH void gather(const double *x, int k) const {
    double *m = record + kMeans + k * P;
    const double before = record[kCounts + k], count = before + 1, weight = before / count;
    THALWEG_ROLLED for (int j = 0; j < P; j++) {
      const double e = x[j] - m[j];
      record[kD + j] += weight * e * e;
      THALWEG_ROLLED for (int i = j + 1; i < P; i++) record[above(j, i)] += weight * e * (x[i] - m[i]);
    }
    THALWEG_ROLLED for (int j = 0; j < P; j++) m[j] += (x[j] - m[j]) / count;
    record[kCounts + k] = count;
    record[kTotal] += 1;
    record[kRows] += 1;
  }

  // P = S^-1 of the scatter, or the identity, and then false. S = C E C' with C unit upper triangular from the last
  // coordinate backwards; L' = C^-1, D = E^-1.
  THALWEG_BOTH bool settle(double *U, double *D) const {
    int seen = 0;
    THALWEG_ROLLED for (int c = 0; c < C; c++) seen += record[kCounts + c] > 0;
    if (record[kRows] - seen >= P && invert(U, D)) return true;
    THALWEG_ROLLED for (int at = 0; at < kD; at++) U[at] = 0;
    THALWEG_ROLLED for (int j = 0; j < P; j++) D[j] = 1;
    return false;
  }
  THALWEG_BOTH bool invert(double *U, double *D) const {
    const double share = 1 / record[kTotal];
    THALWEG_ROLLED for (int at = 0; at < kD; at++) U[at] = record[at] * share;
    THALWEG_ROLLED for (int j = 0; j < P; j++) D[j] = record[kD + j] * share;
    THALWEG_ROLLED for (int i = P - 1; i >= 0; i--) {
      if (!(D[i] > kSingular * record[kD + i] * share) || !(D[i] > kLeastVariance)) return false;
      THALWEG_ROLLED for (int j = 0; j < i; j++) {
        const double c = U[above(j, i)] / D[i];
        D[j] -= c * U[above(j, i)];
        THALWEG_ROLLED for (int h = j + 1; h < i; h++) U[above(j, h)] -= c * U[above(h, i)];
      }
      THALWEG_ROLLED for (int j = 0; j < i; j++) U[above(j, i)] /= D[i];
    }
    THALWEG_ROLLED for (int j = P - 1; j >= 0; j--) {
      D[j] = 1 / D[j];
      THALWEG_ROLLED for (int h = P - 1; h > j; h--) {
        const double c = U[above(j, h)];
        U[above(j, h)] = -c;
        THALWEG_ROLLED for (int i = h + 1; i < P; i++) U[above(j, i)] -= c * U[above(h, i)];
      }
    }
    return true;
  }
};

}  // namespace thalweg::record
