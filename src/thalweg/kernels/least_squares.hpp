// Recursive least squares with forgetting: after every row the exact minimiser of
//     sum_i gamma^(t-i) (y_i - b - w'x_i)^2 + penalty |w|^2,      gamma = 1 - forgetting.
//
// With an intercept the rows are taken relative to their weighted mean, so that the scatter of the deviations and not
// the raw moments are inverted: with e = x - mean before the row, N the weight of all rows so far,
//     S <- gamma S + k e e',  k = gamma N / (gamma N + 1);      w <- w + k r P e / (gamma + k e'Pe),  r = y - answer.
// A row that counts c times is c copies in sequence: gamma -> gamma^c, and 1 -> q = 1 + gamma + … + gamma^(c-1), ours.
// P = S^-1 is kept as L D L' (factor.hpp). All outputs share it. O(p^2 + p m) a row. From p = 256 on chunks of rows go
// through P in blocks (least_squares_blocks.hpp).
#pragma once

#include "factor.hpp"
#include "regressor.hpp"

namespace thalweg::THALWEG_LEVEL {

struct LeastSquaresOptions {
  bool intercept = true;
  double penalty = 0, forgetting = 0;
};

class LeastSquaresBlocks;

template <int P> class LeastSquares final : public Regressor {
  friend class LeastSquaresBlocks;
  using W = Width<P>;
  using V = typename W::V;
  static constexpr int L = W::L;

 public:
  LeastSquares(int64_t p, LeastSquaresOptions options)
      : Regressor(p), width(p), options(options), gamma(1 - options.forgetting), P_(p), origin(width.stride(), 0.0),
        mean(width.stride(), 0.0), scale(width.stride(), 0.0), penalty_held(width.stride(), 0.0), e_(width.stride(), 0.0),
        u_(width.stride(), 0.0), asleep(p) {}

  void answer(const double *x, double *out) const override {
    Scratch e(width.stride());
    deviation(x, mean.data(), e.data());
    for (int64_t o = 0; o < outputs(); o++) out[o] = target_origin[o] + relative_answer(o, e.data());
  }

  void begin(const double *X, const double *Y, const double *masses, int64_t count) override {
    forget();
    survey(X, masses, count);
    run(X, Y, masses, count, {});
  }

  void run(const double *X, const double *Y, const double *masses, int64_t count,
           const RegressionOutputs &out) override;

  void coefficients(double *out, double *intercepts) const override {
    for (int64_t o = 0; o < outputs(); o++) {
      const double *w = weights.data() + o * width.stride();
      std::copy_n(w, features(), out + o * features());
      intercepts[o] = target_origin[o] + target_mean[o] - width.dot(w, mean.data()) - width.dot(w, origin.data());
    }
  }

  void visit(State &state) override {
    visit_outputs(state);
    const int64_t p = features(), n = width.stride();
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
    P_.visit(state);
    if (rows < 0) throw BadState("rows");
    if (cursor < 0 || cursor >= p) throw BadState("penalty_cursor");
    if (!(weight >= 0)) throw BadState("weight");
    asleep = std::count(scale.begin(), scale.begin() + p, 0.0);
  }

 protected:
  void learn(const double *x, const double *y, double times, double *given) override {
    if (rows == 0) {
      std::fill_n(given, outputs(), 0.0);
      if (options.intercept) {  // the digits of a large offset are saved by beginning to count at the first row
        std::copy_n(x, features(), origin.begin());
        std::copy_n(y, outputs(), target_origin.begin());
      }
    }
    typename W::Room e(e_);
    deviation(x, mean.data(), e);
    if (asleep > 0) wake(e);
    for (int64_t o = 0; o < outputs(); o++) {
      const double relative = relative_answer(o, e);
      if (rows > 0) given[o] = target_origin[o] + relative;
      residual[o] = (y[o] - target_origin[o]) - relative;
    }
    const Share share = share_of(times, weight);
    if (share.k > 0) absorb(e, share.fade, share.k, 1 / share.fade);  // the first row has nothing to deviate from
    move_on(e, y, share);
    if (options.forgetting > 0) hold(e, share.fade, [&](int64_t j, double more) { raise(j, more); });
  }
  void make_room() override {
    target_origin.assign(outputs(), 0.0);
    target_mean.assign(outputs(), 0.0);
    residual.assign(outputs(), 0.0);
    weights.assign(outputs() * width.stride(), 0.0);
  }

 private:
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
  // The means and the weight of all rows.
  THALWEG_INLINE void move_on(const double *e, const double *y, const Share &share) {
    if (options.intercept) {
      width.add(mean.data(), share.gain, e);
      for (int64_t o = 0; o < outputs(); o++)
        target_mean[o] += share.gain * ((y[o] - target_origin[o]) - target_mean[o]);
    }
    weight = share.grown;
    rows++;
  }

  THALWEG_INLINE void deviation(const double *x, const double *mean, double *e) const {
    width.difference(x, origin.data(), e);
    width.difference_padded(e, mean, e);
  }
  THALWEG_INLINE double relative_answer(int64_t o, const double *e) const {
    return target_mean[o] + width.dot(weights.data() + o * width.stride(), e);
  }

  // S <- a S + k v v', P <- its inverse, and every w towards its residual along v.
  THALWEG_INLINE void absorb(const double *v, double a, double k, double inverse_a) {
    typename W::Room u(u_);
    const double inverse = P_.absorb(v, RankOne{a, k, inverse_a}, u);
    for (int64_t o = 0; o < outputs(); o++) width.add(weights.data() + o * width.stride(), k * residual[o] * inverse, u);
  }

  // A feature's first deviation says how large it is: from there its prior weight is the penalty and next to nothing.
  __attribute__((noinline)) void wake(const double *e) {
    for (int64_t j = 0; j < features(); j++) wake(j, e[j] * e[j]);
  }
  void wake(int64_t j, double square) {
    if (scale[j] > 0 || !(square > Factor<P>::kLeastVariance)) return;
    scale[j] = square;
    penalty_held[j] = options.penalty;
    P_.release(j, options.penalty + kNothingKnown * square);
    asleep--;
  }

  // Of a batch the mean squared deviations say it: they are the same whatever the order of the rows.
  void survey(const double *X, const double *masses, int64_t count) {
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
    const double gain = std::max(1 / double(rows), kLongRun);
    for (int64_t j = 0; j < features() && rows > 1; j++) {  // the first row says nothing of a scale that `fit` knows
      double square = e[j] * e[j];
      if (rows > kTrusted) square = std::min(square, kWild * scale[j]);  // one wild value must not stiffen it for good
      if (scale[j] > 0) scale[j] += gain * (square - scale[j]);
    }
    if (options.penalty > 0) top_up_penalty(fade, raise);
    P_.hold_above(scale, kNothingKnown);
    for (int64_t j = 0; asleep > 0 && j < features(); j++)
      if (scale[j] == 0) P_.release(j, 1);
  }

  // A feature's share of the penalty is a row along its axis with target zero. The features are topped up in turn, as
  // many a row as keeps each above half of its due.
  template <class Raise> __attribute__((noinline)) void top_up_penalty(double fade, Raise raise) {
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
  void raise(int64_t j, double more) {
    std::fill(e_.begin(), e_.end(), 0.0);
    e_[j] = 1;
    for (int64_t o = 0; o < outputs(); o++) residual[o] = -weights[o * width.stride() + j];
    absorb(e_.data(), 1, more, 1);
  }

  void forget() {
    for (Buffer *values : {&origin, &mean, &scale, &penalty_held, &target_origin, &target_mean, &weights})
      std::fill(values->begin(), values->end(), 0.0);
    P_.identity();
    rows = cursor = 0;
    asleep = features();
    weight = 0;
  }

  W width;
  LeastSquaresOptions options;
  double gamma;
  Factor<P> P_;
  Buffer origin, mean, scale, penalty_held;  // per feature; scale: the typical square of its deviation, 0: none yet
  Buffer target_origin, target_mean;         // per output
  Buffer weights;                            // output x feature
  Buffer e_, u_, residual;                   // the row at hand
  int64_t rows = 0, cursor = 0, asleep;      // asleep: features that have not deviated yet
  double weight = 0;                         // N, of all rows so far
};

}  // namespace thalweg::THALWEG_LEVEL

#include "least_squares_blocks.hpp"  // the rest of it
