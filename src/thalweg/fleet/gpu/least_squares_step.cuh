// One row of one key's recursive least squares, on the key's record in place, in the phases of both.cuh.
//
// The formulas are those of least_squares.hpp, for one target and rows that count once. A record is the host's: rows, the
// feature whose penalty is topped up next, the weight of all rows, of each feature its first value, mean deviation from it,
// typical square and the penalty held, the same of the target, the weights, and P = L D L'.
//
// Forgetting eats the penalty. Each feature that is topped up takes three more phases (`hold`), as many features a row as
// the options say. O(p^2) multiply-adds for a row and for a feature that is topped up; a row that is only predicted: O(p).
#pragma once

#include "factor_step.cuh"

namespace thalweg::record {

// As in regression/any_width.hpp.
constexpr double kNothingKnown = 1e-13, kLongRun = 2e-4, kWild = 100, kTrusted = 30;

template <int P, int, int Lanes> struct LeastSquares {
  using Value = double;
  static constexpr Value kNone = -1.7976931348623157e308;
  static constexpr bool kHolds = true;
  struct Options {
    double penalty, forgetting;
    int intercept, turns;  // turns: features topped up after a row, 0 where there is no penalty to hold
  };
  static constexpr int kFeatures = P, kLanes = Lanes, kOwn = (P + Lanes - 1) / Lanes;
  static constexpr int kRows = 0, kCursor = 1, kWeight = 2, kOrigin = 3, kMean = kOrigin + P, kScale = kMean + P,
                       kHeld = kScale + P, kTargetOrigin = kHeld + P, kTargetMean = kTargetOrigin + 1,
                       kWeights = kTargetMean + 1, kU = kWeights + P, kD = kU + P * (P - 1) / 2, kWords = kD + P;
  // e = x - mean (later g_j = d_j f_j), f = L'e (later lambda), d_j f_j^2, the lanes' parts of the prediction.
  static constexpr int kDeviations = 0, kProjected = P, kSquares = 2 * P, kParts = 3 * P, kScratch = kParts + Lanes;

  double *record, *scratch;
  Options options;
  int lane;
  double e[kOwn] = {};
  double rows = 0, gain = 0;  // this one included; the share of e that the mean takes
  double push = 0;            // by how much the weights go along P v
  double more = 0;            // of the penalty, for the feature that is topped up
  int axis = 0;               // that feature

  // Phase 1: the row relative to the mean, and the lane's part of the prediction.
  THALWEG_BOTH void begin(const double *own) {
    const bool is_first = record[kRows] == 0;
    double part = 0;
    THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
      const int i = t * Lanes + lane;
      if (i >= P) continue;
      if (is_first) record[kD + i] = 1;
      if (is_first && options.intercept) record[kOrigin + i] = own[t];
      e[t] = own[t] - record[kOrigin + i] - record[kMean + i];
      scratch[kDeviations + i] = e[t];
      part += record[kWeights + i] * e[t];
    }
    scratch[kParts + lane] = part;
  }

  // Phase 2: f, for a row that is learned.
  THALWEG_BOTH void project(double y) const {
    if (!(y > kNone)) return;
    double v[P];
    THALWEG_UNROLL for (int i = 0; i < P; i++) v[i] = scratch[kDeviations + i];
    THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
      const int j = t * Lanes + lane;
      if (j >= P) continue;
      wake(j, e[t] * e[t]);
      double f = 0;
      THALWEG_UNROLL for (int i = P - 1; i >= t * Lanes; i--) {
        if (i >= j) f += (i > j ? record[kU + above<P>(j, i)] : 1) * v[i];
      }
      reach(j, f);
    }
  }

  // Phase 3: the prediction, known to every lane, 0 for a key's first row; then D learns.
  THALWEG_BOTH double decide(double y) {
    double relative = record[kTargetMean];
    THALWEG_UNROLL for (int of = 0; of < Lanes; of++) relative += scratch[kParts + of];
    const double given = record[kRows] > 0 ? record[kTargetOrigin] + relative : 0;
    if (!(y > kNone)) return given;
    const double fade = 1 - options.forgetting, kept = fade * record[kWeight];
    rows = record[kRows] + 1;
    gain = reciprocal(kept + 1);
    settle(fade, options.intercept ? kept * gain : 1, y - target_origin(y) - relative);
    return given;
  }

  // Phase 4: U, the weights and the means learn.
  THALWEG_BOTH void update(double y) const {
    turn();
    const double fade = 1 - options.forgetting, pace = 1 / rows > kLongRun ? 1 / rows : kLongRun;
    THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
      const int j = t * Lanes + lane;
      if (j >= P) continue;
      if (options.intercept) record[kMean + j] += gain * e[t];
      if (options.forgetting == 0) continue;
      follow(record[kScale + j], e[t] * e[t], pace);
      if (options.turns > 0) record[kHeld + j] *= fade;
      else bound(j);
    }
    if (lane != 0) return;
    if (options.intercept) {
      record[kTargetOrigin] = target_origin(y);
      record[kTargetMean] += gain * (y - record[kTargetOrigin] - record[kTargetMean]);
    }
    record[kWeight] = fade * record[kWeight] + 1;
    record[kRows] = rows;
  }

  // Phases 5 and on, three for each feature that is topped up: a row along its axis with target zero.
  THALWEG_BOTH void hold(int phase) {
    if (phase % 3 == 0) {
      axis = int(record[kCursor]);
      more = record[kScale + axis] > 0 ? options.penalty - record[kHeld + axis] : 0;
      THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
        const int j = t * Lanes + lane;
        if (j < P) reach(j, j < axis ? record[kU + above<P>(j, axis)] : j == axis);
      }
    } else if (phase % 3 == 1) {
      settle(1, more, -record[kWeights + axis]);
      if (lane == 0) record[kCursor] = axis + 1 < P ? axis + 1 : 0;
      if (lane == axis % Lanes && record[kScale + axis] > 0) record[kHeld + axis] = options.penalty;
    } else {
      turn();
      for (int j = lane; phase + 1 == 3 * options.turns && j < P; j += Lanes) bound(j);
    }
  }

 private:
  // Targets are counted from the first one, as are the features: this saves the digits of a large offset.
  THALWEG_BOTH double target_origin(double y) const {
    return rows > 1 || !options.intercept ? record[kTargetOrigin] : y;
  }
  // A feature's first deviation says how large it is: from there its prior weight is the penalty and next to nothing.
  THALWEG_BOTH void wake(int j, double square) const {
    if (record[kScale + j] > 0 || !(square > kLeastVariance)) return;
    record[kScale + j] = square;
    record[kHeld + j] = options.penalty;
    record[kD + j] = 1 / (options.penalty + kNothingKnown * square);
  }
  THALWEG_BOTH void reach(int j, double f) const {
    scratch[kProjected + j] = f;
    scratch[kSquares + j] = record[kD + j] * f * f;
  }
  THALWEG_BOTH void settle(double a, double k, double residual) {
    double before[kOwn] = {};
    push = k * residual * reciprocal(alphas<P, Lanes>(scratch + kSquares, a, k, lane, before));
    const double scale = reciprocal(a);
    THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
      const int j = t * Lanes + lane;
      if (j >= P) continue;
      const double d = record[kD + j], f = scratch[kProjected + j], after = before[t] + k * scratch[kSquares + j];
      record[kD + j] = scale * d * (before[t] * reciprocal(after));
      scratch[kProjected + j] = k * f * reciprocal(before[t]);
      scratch[kDeviations + j] = d * f;
    }
  }
  THALWEG_BOTH void turn() const {
    double u[kOwn] = {};
    rotate<P, Lanes>(record + kU, scratch + kDeviations, scratch + kProjected, lane, u);
    THALWEG_UNROLL for (int t = 0; t < kOwn; t++) {
      const int i = t * Lanes + lane;
      if (i < P) record[kWeights + i] += push * u[t];
    }
  }
  THALWEG_BOTH void follow(double &scale, double square, double pace) const {
    if (!(scale > 0 && rows > 1)) return;  // the first row says nothing of a scale that it made
    if (rows > kTrusted && square > kWild * scale)
      square = kWild * scale;  // one wild value must not stiffen it for good
    scale += pace * (square - scale);
  }
  // What stands for nothing known is held; a feature that never deviated is known no better than at the start.
  THALWEG_BOTH void bound(int j) const {
    const double scale = record[kScale + j],
                 most = 1 / (kNothingKnown * (scale > kLeastVariance ? scale : kLeastVariance));
    record[kD + j] = scale == 0 ? 1 : record[kD + j] < most ? record[kD + j] : most;
  }
};

}  // namespace thalweg::record
