// What a discriminant does whatever its width: its start, its ridge's books, what it is saved as. No row behind the start
// waits for it, but for the ridge, and so it is compiled once and not for every width.
#pragma once

#include "discriminant_state.hpp"
#include "rate.hpp"

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

  void begin(const double *X, const int64_t *y, int64_t count) override { weighted_begin(X, y, nullptr, count); }
  THALWEG_APART void weighted_begin(const double *X, const int64_t *y, const double *masses, int64_t count) override {
    forget();
    for (int64_t i = 0; i < count; i++) {
      const double mass = masses ? masses[i] : 1, *x = X + i * features();
      if (!(mass > 0)) continue;
      if (rows++ == 0) std::copy(x, x + features(), origin.begin());
      localise(x, z_.data());
      gather(z_.data(), y[i], mass);
    }
    if (rows == 0) return;
    settle();
    warm_left = 0;
    end_start();
  }

  THALWEG_APART void visit(State &state) override {
    visit_classes(state);
    const int64_t p = features(), c = classes(), n = stride();
    state.integer("rows", rows);
    state.integer("warm_left", warm_left);
    state.integer("last_class", last);
    state.integer("since_refresh", since_refresh);
    state.integer("ridge_cursor", cursor);
    state.real("total", total);
    state.real("log_count", log_count);
    if (last < (warm_left > 0 ? -1 : 0) || last >= c) throw BadState("last_class");
    if (cursor < 0 || cursor >= p) throw BadState("ridge_cursor");
    state.matrix("counts", counts, 1, c, c);
    state.matrix("log_prior", log_prior, 1, c, c);
    state.matrix("half_square", half_square, 1, c, c);
    state.matrix("means", M, c, p, n);
    state.matrix("weights", weights, c, p, n);
    state.matrix("origin", origin, 1, p, n);
    state.matrix("variance", variance, 1, p, n);
    state.real("surveyed", surveyed);
    state.matrix("ridge_held", ridge_held, 1, p, n);
    state.matrix("long_mean", long_mean, 1, p, n);
    state.matrix("long_variance", long_variance, 1, p, n);
    if (warm_left > 0) {
      scatter.resize(n * n, 0.0);
      state.matrix("scatter", scatter, p, p, n);
    } else {
      scatter.clear();
    }
    factor().visit(state);
    rate_.visit(state);
  }

 protected:
  THALWEG_APART AnyDiscriminant(int64_t p, int64_t stride, const DiscriminantOptions &options, const Rate &rate)
      : MeanLearner(p), DiscriminantState(stride, options), rate_(rate), ridge_held(stride), long_mean(stride),
        long_variance(stride), warm_left(std::max<int64_t>(1, options.warmup)) {}
  THALWEG_APART AnyDiscriminant(const AnyDiscriminant &) = default;
  THALWEG_APART ~AnyDiscriminant() override = default;

  virtual Triangle &factor() = 0;
  virtual void refresh_weights() = 0;  // w = P m afresh
  virtual double raise(int64_t feature,
                       double more) = 0;  // adds to a feature's variance; returns by how much P shrinks

  void insert(int64_t at) override {
    insert_class(at);
    if (last >= at) last++;
  }

  static constexpr double kLeastFade = 1e-12;  // no row, whatever its weight, leaves less of what was known

  THALWEG_INLINE Share share(double lambda, double mass) const {
    return __builtin_expect(mass == 1, true) ? Share::once(lambda) : share_of_several(lambda, mass);
  }
  THALWEG_APART Share share_of_several(double lambda, double mass) const {
    if (!options.soft_counts) return {1 - lambda, lambda * mass, mass};
    const double fade = std::exp(mass * std::log1p(-lambda));
    return {std::max(fade, std::min(kLeastFade, 1 - lambda)), repeated(lambda, mass), mass};
  }

  void weigh_classes() {
    for (int64_t c = 0; c < classes(); c++) log_prior[c] = counts[c] > 0 ? logarithm(counts[c]) : -__builtin_inf();
  }

  // Each feature's long-run variance, the measure of the ridge: of all rows at first, of some thousands later, and with
  // wild values cut, lest one of them stiffen the model for good.
  THALWEG_APART void survey(const double *z, double mass) {
    surveyed += mass;
    const double gain = std::max(mass / surveyed, repeated(2e-4, mass));
    for (int64_t j = 0; j < features(); j++) {
      double d = z[j] - long_mean[j];
      if (surveyed > 30 && long_variance[j] > 0) {
        const double most = 10 * std::sqrt(long_variance[j]);
        d = std::clamp(d, -most, most);
      }
      long_mean[j] += gain * d;
      long_variance[j] = (1 - gain) * (long_variance[j] + gain * d * d);
    }
  }

  // Keeps ridge * (long-run variance) on the diagonal while forgetting eats it: the features are topped up in turn,
  // as many a row as keeps each above half of its due. `raise(feature, variance)` returns by how much P shrinks.
  template <class Raise> THALWEG_APART bool top_up_ridge(const Move &move, Raise raise) {
    const int64_t p = features(), turns = ridge_turns(move);
    for (int64_t j = 0; j < p; j++) ridge_held[j] *= kept(move);
    bool stale = false;
    for (int64_t i = 0; i < turns; i++, cursor = (cursor + 1) % p) {
      const double due = options.ridge * long_variance[cursor], more = due - ridge_held[cursor];
      if (!(more > 0)) continue;
      stale |= raise(cursor, more) < kGreatShrink;
      variance[cursor] += more;
      ridge_held[cursor] = due;
    }
    return stale;
  }
  static double kept(const Move &move) { return move.change.a * move.whole; }
  int64_t ridge_turns(const Move &move) const {
    const int64_t p = features();
    return std::clamp<int64_t>(int64_t(std::ceil(double(p) * (1 - kept(move)) / 0.69)), 1, p);
  }
  THALWEG_APART bool hold_ridge(const double *z, const Move &move) {
    survey(z, move.row.mass);
    return top_up_ridge(move, [&](int64_t j, double more) { return raise(j, more); });
  }

  // The start: means and scatter with equal weights, or the rows' own (Welford).
  THALWEG_APART void gather(const double *z, int64_t k, double mass) {
    const int64_t p = features(), n = stride();
    if (scatter.empty()) scatter.assign(n * n, 0.0);
    double *m = M.data() + k * n;
    const double before = counts[k];
    counts[k] += mass;
    total += mass;
    last_gain_ = mass / counts[k];
    survey(z, mass);
    for (int64_t j = 0; j < p; j++) {
      e_[j] = z[j] - m[j];
      m[j] += e_[j] * mass / counts[k];
    }
    const double weight = before * mass / counts[k];
    for (int64_t j = 0; j < p; j++) {
      const double f = weight * e_[j];
      for (int64_t i = j; i < p; i++) scatter[j * n + i] += f * e_[i];
    }
    last = k;
    log_count = logarithm(counts[k]);
  }

  // Ends the start: P = S^-1, or the identity where S is singular (the paper's footnote 3).
  THALWEG_APART void settle() {
    const int64_t p = features(), n = stride();
    weigh_classes();
    Scratch room(n * n);
    double *covariance = room.data();
    int64_t seen = 0;
    for (int64_t j = 0; j < p; j++) {
      for (int64_t i = j; i < p; i++) covariance[j * n + i] = scatter[j * n + i] / total;
      ridge_held[j] = options.ridge * long_variance[j];
      variance[j] = covariance[j * n + j] + ridge_held[j];
    }
    for (int64_t c = 0; c < classes(); c++) seen += counts[c] > 0;
    for (int64_t j = 0; j < p; j++) factor().measure(j, variance[j]);
    const bool full_rank_possible = options.ridge > 0 || rows - seen >= p;
    if (full_rank_possible && factor().invert(covariance, n, variance.data())) {
      refresh_weights();
      if (factor().in_units()) weigh_by(covariance);
      return;
    }
    factor().identity();
    std::fill(variance.begin(), variance.begin() + p, 1.0);
    // Without a ridge this says that the identity stands in: whoever adds models up must know it.
    std::fill(ridge_held.begin(), ridge_held.end(), options.ridge > 0 ? 0.0 : 1.0);
    refresh_weights();
  }
  // The weights of the start, before its factor was rounded.
  void weigh_by(const double *rows_of_U) {
    for (int64_t c = 0; c < classes(); c++) {
      const double *m = M.data() + c * stride();
      double *w = weights.data() + c * stride();
      factor().apply_rows(rows_of_U, stride(), m, w);
      half_square[c] = 0;
      for (int64_t j = 0; j < features(); j++) half_square[c] += 0.5 * w[j] * m[j];
    }
  }

  // With soft counts the rows of the start weigh what they would have weighed at the rate, alike, and never more in
  // all than a full memory: few rows are then averaged until the memory is full, many do not outweigh what follows.
  THALWEG_APART void end_start() {
    if (scatter.size() > kSmallScatter) scatter = Buffer();  // and its memory, twice that of the factor
    else scatter.clear();
    if (!options.soft_counts) return;
    const double whole = std::min(1.0, total * rate_.value);
    for (double &count : counts) count *= whole / total;
    total = whole;
    weigh_classes();
  }

  THALWEG_APART void forget() {
    for (Buffer *values :
         {&counts, &half_square, &M, &weights, &origin, &variance, &ridge_held, &long_mean, &long_variance})
      std::fill(values->begin(), values->end(), 0.0);
    std::fill(log_prior.begin(), log_prior.end(), -__builtin_inf());
    scatter = Buffer();
    factor().identity();
    rate_.reset();
    rows = since_refresh = cursor = 0;
    total = surveyed = 0;
    last = -1;
    warm_left = std::max<int64_t>(1, options.warmup);
  }

  Rate rate_;
  Buffer ridge_held;                // per feature
  Buffer long_mean, long_variance;  // per feature, over the long run; kept where there is a ridge
  Buffer scatter;                   // feature x feature, during the start
  int64_t rows = 0, warm_left, cursor = 0;
  double surveyed = 0;                              // rows behind the long-run variance
  static constexpr std::size_t kSmallScatter = 64;  // not worth the time to free it
};

}  // namespace thalweg::THALWEG_LEVEL
