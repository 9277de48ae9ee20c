// What recursive least squares does whatever the width: how large a feature is, its penalty's books, what it is saved as.
// It is compiled once and not for every width.
#pragma once

#include "regressor.hpp"
#include "triangle.hpp"

namespace thalweg::THALWEG_LEVEL {

struct LeastSquaresOptions {
  bool intercept = true;
  double penalty = 0, forgetting = 0;
};

class AnyLeastSquares : public Regressor {
 public:
  void begin(const double *X, const double *Y, const double *masses, int64_t count) override {
    forget();
    survey(X, masses, count);
    run(X, Y, masses, count, {});
  }

  THALWEG_APART void visit(State &state) override {
    visit_outputs(state);
    const int64_t p = features(), n = stride_;
    state.integer("rows", rows);
    state.integer("penalty_cursor", cursor);
    state.real("weight", weight);
    state.matrix("origin", origin, 1, p, n);
    state.matrix("mean", mean, 1, p, n);
    state.matrix("scale", scale, 1, p, n);
    state.matrix("penalty_held", penalty_held, 1, p, n);
    state.matrix("target_origin", target_origin, 1, outputs(), outputs());
    state.matrix("target_mean", target_mean, 1, outputs(), outputs());
    state.matrix("weights", weights, outputs(), p, n);
    factor().visit(state);
    if (rows < 0) throw BadState("rows");
    if (cursor < 0 || cursor >= p) throw BadState("penalty_cursor");
    if (!(weight >= 0)) throw BadState("weight");
    asleep = std::count(scale.begin(), scale.begin() + p, 0.0);
  }

 protected:
  THALWEG_APART AnyLeastSquares(int64_t p, int64_t stride, const LeastSquaresOptions &options)
      : Regressor(p), options(options), gamma(1 - options.forgetting), stride_(stride), origin(stride), mean(stride),
        scale(stride), penalty_held(stride), e_(stride), u_(stride), asleep(p) {}

  virtual Triangle &factor() = 0;
  virtual void raise(int64_t feature, double more) = 0;  // a row along its axis with target zero

  THALWEG_APART void make_room() override {
    target_origin.assign(outputs(), 0.0);
    target_mean.assign(outputs(), 0.0);
    residual.assign(outputs(), 0.0);
    weights.assign(outputs() * stride_, 0.0);
  }

  // Of one typical row, the share that stands for "nothing is known of this direction": small enough to bias nothing,
  // large enough that the rounding of one row, 1e-16 of it, does not pass for news. Over many rows rounding adds up:
  // along linearly dependent features the weights wander unless there is a penalty.
  static constexpr double kNothingKnown = 1e-13;
  static constexpr double kLongRun = 2e-4, kWild = 100;  // a memory of 5,000 rows; squares beyond the mean square, cut
  static constexpr int64_t kTrusted = 30;                // rows before a value can be wild
  static constexpr double kLeastFade = 1e-12;  // no row, whatever it counts for, leaves less of what was known

  // What a row counts for: the old rows are multiplied by `fade`, the mean takes `gain` of e and S takes k e e'.
  struct Share {
    double fade, grown, k, gain;
  };
  THALWEG_INLINE Share share_of(double times, double weight) const {
    const double fade = times == 1 ? gamma : std::max(std::pow(gamma, times), std::min(kLeastFade, gamma));
    const double lost = options.forgetting;
    const double news = times == 1 ? 1 : lost > 0 ? repeated(lost, times) / lost : times;
    const double kept = fade * weight, grown = kept + news;
    return {fade, grown, options.intercept ? kept * news / grown : news, news / grown};
  }

  // A feature's first deviation says how large it is: from there its prior weight is the penalty and next to nothing.
  THALWEG_APART void wake(const double *e) {
    for (int64_t j = 0; j < features(); j++) wake(j, e[j] * e[j]);
  }
  void wake(int64_t j, double square) {
    if (scale[j] > 0 || !(square > kLeastVariance)) return;
    scale[j] = square;
    penalty_held[j] = options.penalty;
    factor().release(j, options.penalty + kNothingKnown * square);
    asleep--;
  }

  // Of a batch the mean squared deviations say it: they are the same whatever the order of the rows.
  THALWEG_APART void survey(const double *X, const double *masses, int64_t count) {
    for (int64_t j = 0; j < features(); j++) {
      double all = 0, centre = 0, square = 0;
      for (int64_t i = 0; i < count; i++) {
        const double mass = masses ? masses[i] : 1, d = X[i * features() + j] - centre;
        if (!(mass > 0)) continue;
        all += mass;
        if (options.intercept) centre += d * mass / all;
        square += (d * (X[i * features() + j] - centre) - square) * mass / all;
      }
      wake(j, square);
    }
  }

  // Forgetting eats the penalty and what little stands for nothing known: both are held.
  template <class Raise> THALWEG_INLINE void hold(const double *e, double fade, Raise raise) {
    follow_scale(e);
    if (options.penalty > 0) top_up_penalty(fade, raise);
    hold_little();
  }
  THALWEG_APART void hold(const double *e, double fade) {
    hold(e, fade, [&](int64_t j, double more) { this->raise(j, more); });
  }
  THALWEG_APART void follow_scale(const double *e) {
    const double gain = std::max(1 / double(rows), kLongRun);
    for (int64_t j = 0; j < features() && rows > 1; j++) {  // the first row says nothing of a scale that `fit` knows
      double square = e[j] * e[j];
      if (rows > kTrusted) square = std::min(square, kWild * scale[j]);  // one wild value must not stiffen it for good
      if (scale[j] > 0) scale[j] += gain * (square - scale[j]);
    }
  }
  THALWEG_APART void hold_little() {
    factor().hold_above(scale, kNothingKnown);
    for (int64_t j = 0; asleep > 0 && j < features(); j++)
      if (scale[j] == 0) factor().release(j, 1);
  }

  // A feature's share of the penalty is a row along its axis with target zero. The features are topped up in turn, as
  // many a row as keeps each above half of its due.
  template <class Raise> THALWEG_APART void top_up_penalty(double fade, Raise raise) {
    const int64_t p = features(), turns = penalty_turns(fade);
    for (int64_t j = 0; j < p; j++) penalty_held[j] *= fade;
    for (int64_t i = 0; i < turns; i++, cursor = (cursor + 1) % p) {
      if (scale[cursor] == 0) continue;
      raise(cursor, options.penalty - penalty_held[cursor]);
      penalty_held[cursor] = options.penalty;
    }
  }
  int64_t penalty_turns(double fade) const {
    const int64_t p = features();
    return std::clamp<int64_t>(int64_t(std::ceil(double(p) * (1 - fade) / 0.69)), 1, p);
  }

  THALWEG_APART void forget() {
    for (Buffer *values : {&origin, &mean, &scale, &penalty_held, &target_origin, &target_mean, &weights})
      std::fill(values->begin(), values->end(), 0.0);
    factor().identity();
    rows = cursor = 0;
    asleep = features();
    weight = 0;
  }

  LeastSquaresOptions options;
  double gamma;
  int64_t stride_;
  Buffer origin, mean, scale, penalty_held;  // per feature; scale: the typical square of its deviation, 0: none yet
  Buffer target_origin, target_mean;         // per output
  Buffer weights;                            // output x feature
  Buffer e_, u_, residual;                   // the row at hand
  int64_t rows = 0, cursor = 0, asleep;      // asleep: features that have not deviated yet
  double weight = 0;                         // N, of all rows so far
};

}  // namespace thalweg::THALWEG_LEVEL
