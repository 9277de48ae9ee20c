// The part of recursive least squares that is independent of the width: how large a feature is, the bookkeeping of the
// penalty, the saved state. It is compiled once and not for every width.
#pragma once

#include "linear_algebra/triangle.hpp"
#include "regression/regressor.hpp"

namespace thalweg::THALWEG_LEVEL {

struct LeastSquaresOptions {
  bool intercept = true;
  double penalty = 0, forgetting = 0;
};

class AnyLeastSquares : public Regressor {
 public:
  void begin(const double *X, const double *Y, const double *masses, int64_t count) override;

  void visit(State &state) override;

 protected:
  AnyLeastSquares(int64_t p, int64_t stride, const LeastSquaresOptions &options);

  virtual Triangle &factor() = 0;
  virtual void raise(int64_t feature, double more) = 0;  // a row along its axis with target zero

  void make_room() override;

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
  void wake(const double *e);
  void wake(int64_t j, double square);

  // Of a batch the mean squared deviations say it: they are the same whatever the order of the rows.
  void survey(const double *X, const double *masses, int64_t count);

  // Forgetting eats the penalty and what little stands for nothing known: both are held.
  template <class Raise> THALWEG_INLINE void hold(const double *e, double fade, Raise raise) {
    follow_scale(e);
    if (options.penalty > 0) top_up_penalty(fade, raise);
    hold_little();
  }
  void hold(const double *e, double fade);
  void follow_scale(const double *e);
  void hold_little();

  // A feature's share of the penalty is a row along its axis with target zero. The features are topped up in turn, as
  // many a row as keeps each above half of its due.
  template <class Raise> THALWEG_NOINLINE void top_up_penalty(double fade, Raise raise) {
    const int64_t p = features(), turns = penalty_turns(fade);
    for (int64_t j = 0; j < p; j++) penalty_held[j] *= fade;
    for (int64_t i = 0; i < turns; i++, cursor = (cursor + 1) % p) {
      if (scale[cursor] == 0) continue;
      raise(cursor, options.penalty - penalty_held[cursor]);
      penalty_held[cursor] = options.penalty;
    }
  }
  int64_t penalty_turns(double fade) const { return turns_to_hold(features(), fade); }

  void forget();

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
