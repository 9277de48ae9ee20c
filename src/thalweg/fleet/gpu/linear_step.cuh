// One row of one key's perceptron or logistic regression, on the key's record in place, in the phases of both.cuh.
//
// The formulas are those of perceptron.hpp and logistic.hpp, for a constant rate and dense rows; neither averages weights
// nor has a step size for each feature. A record is a weight vector and a bias for each class, the order in which classes
// came (0: not yet), and how many rows were learned. O(c p) multiply-adds a row.
#pragma once

#include "both.cuh"

namespace thalweg::record {

constexpr double kNever = -1.7976931348623157e308;  // the score of a class that never came

template <int P, int C, int Lanes> struct Linear {
  using Value = int;
  static constexpr Value kNone = -1;
  static constexpr bool kHolds = false;
  static constexpr int kFeatures = P, kLanes = Lanes, kOwn = (P + Lanes - 1) / Lanes;
  static constexpr int kBias = C * P, kArrival = kBias + C, kRows = kArrival + C, kWords = kRows + 1;
  // The lanes' parts of each score and of |x|^2, scores, what is made of them, the row.
  static constexpr int kParts = 0, kNorm = C * Lanes, kScores = kNorm + Lanes, kMade = kScores + C, kRow = kMade + C,
                       kScratch = kRow + P;

  double *record, *scratch;
  int lane;
  double x[kOwn] = {};

  // Phase 1: the lane's part of each score.
  THALWEG_BOTH void begin(const double *own) {
    double norm = 0;
    THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
      const int i = t * Lanes + lane;
      x[t] = i < P ? own[t] : 0;
      norm += x[t] * x[t];
      if (i < P) scratch[kRow + i] = x[t];
    }
    scratch[kNorm + lane] = norm;
    for (int c = 0; c < C; c++) {
      double part = 0;
      THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
        const int i = t * Lanes + lane;
        if (i < P) part += record[c * P + i] * x[t];
      }
      scratch[kParts + c * Lanes + lane] = part;
    }
  }

  // Phase 2: scores, each by one lane.
  THALWEG_BOTH void project(int) const {
    for (int c = lane; c < C; c += Lanes) {
      double score = record[kBias + c];
      THALWEG_UNROLL for (int of = 0; of < Lanes; of++) score += scratch[kParts + c * Lanes + of];
      scratch[kScores + c] = record[kArrival + c] > 0 ? score : kNever;
    }
  }

 protected:
  THALWEG_BOTH bool is_awake(int c) const { return scratch[kScores + c] > kNever; }
  THALWEG_BOTH int highest(int but = -1) const {  // of the classes that came
    int best = -1;
    for (int c = 0; c < C; c++) {
      if (c != but && is_awake(c) && (best < 0 || scratch[kScores + c] > scratch[kScores + best])) best = c;
    }
    return best;
  }
  THALWEG_BOTH void add(int c, double by) const {
    THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
      const int i = t * Lanes + lane;
      if (i < P) record[c * P + i] += by * x[t];
    }
  }
  THALWEG_BOTH int arrived() const {
    int count = 0;
    for (int c = 0; c < C; c++) count += record[kArrival + c] > 0;
    return count;
  }
};

template <int P, int C, int Lanes> struct Perceptron : Linear<P, C, Lanes> {
  using Base = Linear<P, C, Lanes>;
  using Base::record, Base::scratch, Base::lane;

  struct Options {
    double rate, margin, start_scale;
    unsigned long long seed;
    int intercept;
  };
  Options options;

  THALWEG_BOTH Perceptron(double *record, double *scratch, Options options, int lane)
      : Base{record, scratch, lane}, options(options) {}

  // Phase 3: the class predicted, known to lane 0, -1 for a key's first row; then a class's first row gives it weights.
  THALWEG_BOTH int decide(int k) const {
    if (lane != 0) return -1;
    const int best = Base::highest();
    if (k >= 0 && !Base::is_awake(k)) wake(k);
    return best;
  }

  // Phase 4: weights learn, all but those of a class that came with this row.
  THALWEG_BOTH void update(int k) const {
    const int other = Base::highest(k);
    const double step = options.rate / 2;
    // "<=" and not "<": from equal weights a strict test would never begin to learn.
    if (other >= 0 && scratch[Base::kScores + k] - scratch[Base::kScores + other] <= options.margin) {
      Base::add(k, step);
      Base::add(other, -step);
      if (lane == 0 && options.intercept) record[Base::kBias + k] += step, record[Base::kBias + other] -= step;
    }
    if (lane == 0) record[Base::kRows] += 1;
  }

 private:
  // "Small random numbers", and the score of the row with them.
  THALWEG_BOTH void wake(int k) const {
    const int arrival = Base::arrived();
    record[Base::kArrival + k] = arrival + 1;
    if (options.intercept) record[Base::kBias + k] = small(arrival, 0);
    double score = record[Base::kBias + k];
    THALWEG_ROLLED for (int i = 0; i < P; i++) {
      record[k * P + i] = options.start_scale == 0 ? 0 : small(arrival, i + 1);
      score += record[k * P + i] * scratch[Base::kRow + i];
    }
    scratch[Base::kScores + k] = score;
  }
  THALWEG_BOTH double small(unsigned long long arrival, unsigned long long position) const {  // as in linear.hpp
    unsigned long long h =
        options.seed * 0x9e3779b97f4a7c15ull + arrival * 0xd1b54a32d192ed03ull + position * 0x8cb92ba72f3d8dd7ull;
    for (int round = 0; round < 2; round++) {
      h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
      h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
      h ^= h >> 31;
    }
    return options.start_scale * (2 * (double(h >> 11) * 0x1p-53) - 1);
  }
};

template <int P, int C, int Lanes> struct Logistic : Linear<P, C, Lanes> {
  using Base = Linear<P, C, Lanes>;
  using Base::record, Base::scratch, Base::lane;

  struct Options {
    double rate, penalty;
  };
  Options options;

  THALWEG_BOTH Logistic(double *record, double *scratch, Options options, int lane)
      : Base{record, scratch, lane}, options(options) {}

  // Phase 3: the class predicted, known to lane 0, -1 for a key's first row; then exp(score), each by one lane. A class
  // that comes with this row has the score 0.
  THALWEG_BOTH int decide(int k) const {
    const int best = Base::highest();
    if (k < 0) return best;
    double top = Base::is_awake(k) ? scratch[Base::kScores + k] : 0;
    for (int c = 0; c < C; c++) top = scratch[Base::kScores + c] > top ? scratch[Base::kScores + c] : top;
    for (int c = lane; c < C; c += Lanes) {
      const double score = c == k && !Base::is_awake(k) ? 0 : scratch[Base::kScores + c];
      scratch[Base::kMade + c] = exp(score - top);
    }
    return best;
  }

  // Phase 4: w_c += eta ([c = k] - p_c) [1, x].
  THALWEG_BOTH void update(int k) const {
    double whole = 0, norm = 1;
    for (int c = 0; c < C; c++) whole += scratch[Base::kMade + c];
    THALWEG_UNROLL for (int of = 0; of < Lanes; of++) norm += scratch[Base::kNorm + of];
    // A step beyond 4 / |[1, x]|^2 would overshoot the very row it learns: large rows are held to that.
    const double step = options.rate * norm < 4 ? options.rate : 4 / norm, shrink = step * options.penalty;
    for (int c = 0; c < C; c++) {
      const double by = step * ((c == k) - scratch[Base::kMade + c] / whole);
      if (options.penalty > 0) {
        THALWEG_UNROLL for (int t = 0; t < Base::kOwn; t++) {
          const int i = t * Lanes + lane;
          if (i < P) record[c * P + i] *= shrink < 1 ? 1 - shrink : 0;
        }
      }
      Base::add(c, by);
      if (lane == 0) record[Base::kBias + c] += by;
    }
    if (lane != 0) return;
    record[Base::kRows] += 1;
    if (record[Base::kArrival + k] == 0) record[Base::kArrival + k] = Base::arrived() + 1;
  }
};

}  // namespace thalweg::record
