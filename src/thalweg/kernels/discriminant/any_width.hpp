// The part of a discriminant that is independent of its width: the start, the bookkeeping of the ridge, the saved state.
// It is compiled once and not for every width.
#pragma once

#include "discriminant/row.hpp"
#include "rate.hpp"
#include "running_variance.hpp"

namespace thalweg::THALWEG_LEVEL {

class AnyDiscriminant : public MeanLearner, protected DiscriminantState<> {
 public:
  // Before the first row and without a ridge; and whether another is the same in all but its rate.
  bool is_plain() const { return rows == 0 && !(options.ridge > 0); }
  bool goes_with(const AnyDiscriminant &other) const {
    return options.soft_counts == other.options.soft_counts &&
           options.covariance_2008 == other.options.covariance_2008 && options.warmup == other.options.warmup &&
           classes() == other.classes();
  }
  double rate() const override { return rate_.value; }
  bool starting() const override { return warm_left > 0; }
  double last_gain() const override { return last_gain_; }
  const double *mean(int64_t c) const override { return M.data() + c * stride(); }
  double log_prior_of(int64_t c) const override { return log_prior[c]; }
  void localise(const double *x, double *to) const override {
    for (int64_t j = 0; j < features(); j++) to[j] = x[j] - origin[j];
  }

  void forget() override;
  void begin(const double *X, const int64_t *y, const double *masses, int64_t count) override;

  void visit(State &state) override;

 protected:
  AnyDiscriminant(int64_t p, int64_t stride, const DiscriminantOptions &options, const Rate &rate);
  AnyDiscriminant(const AnyDiscriminant &);
  ~AnyDiscriminant() override;

  virtual Triangle &factor() = 0;
  virtual void refresh_weights() = 0;  // w = P m afresh
  virtual double raise(int64_t feature,
                       double more) = 0;  // adds to a feature's variance; returns by how much P shrinks

  void insert(int64_t at) override;

  static constexpr double kLeastFade = 1e-12;  // no row, whatever its weight, leaves less of what was known

  THALWEG_INLINE Share share(double lambda, double mass) const {
    return __builtin_expect(mass == 1, true) ? Share::once(lambda) : share_of_several(lambda, mass);
  }
  Share share_of_several(double lambda, double mass) const;

  void weigh_classes();

  void survey(const double *z, double mass) { long_run.learn(z, features(), mass); }

  // Keeps ridge * (long-run variance) on the diagonal while forgetting eats it: the features are topped up in turn,
  // as many a row as keeps each above half of its due. `raise(feature, variance)` returns by how much P shrinks.
  template <class Raise> THALWEG_NOINLINE bool top_up_ridge(const Move &move, Raise raise) {
    const int64_t p = features(), turns = ridge_turns(move);
    for (int64_t j = 0; j < p; j++) ridge_held[j] *= kept(move);
    bool stale = false;
    for (int64_t i = 0; i < turns; i++, cursor = (cursor + 1) % p) {
      const double due = options.ridge * long_run.variance[cursor], more = due - ridge_held[cursor];
      if (!(more > 0)) continue;
      stale |= raise(cursor, more) < kGreatShrink;
      variance[cursor] += more;
      ridge_held[cursor] = due;
    }
    return stale;
  }
  static double kept(const Move &move) { return move.change.a * move.whole; }
  int64_t ridge_turns(const Move &move) const { return turns_to_hold(features(), kept(move)); }
  bool hold_ridge(const double *z, const Move &move);

  // The start: means and scatter with equal weights, or the rows' own (Welford).
  void gather(const double *z, int64_t k, double mass);

  // Ends the start: P = S^-1, or the identity where S is singular (the paper's footnote 3).
  void settle();
  // The weights of the start, before its factor was rounded.
  void weigh_by(const double *rows_of_U);

  // With soft counts the rows of the start weigh what they would have weighed at the rate, alike, and never more in
  // all than a full memory: few rows are then averaged until the memory is full, many do not outweigh what follows.
  void end_start();

  Rate rate_;
  Buffer ridge_held;         // per feature
  RunningVariance long_run;  // the measure of the ridge, kept where there is one
  Buffer scatter;            // feature x feature, during the start
  int64_t rows = 0, warm_left, cursor = 0;
  static constexpr std::size_t kSmallScatter = 64;  // not worth the time to free it
  static constexpr double kOrderless = 30;          // rows whose order does not change the measure of the ridge
};

}  // namespace thalweg::THALWEG_LEVEL
