// The online linear discriminant classifier, O-LDC (Kuncheva & Plumpton 2008; corrected by Schnackenberg et al. 2018).
//
// For a row x of class k, with e = x - m_k before the row, every variant is one formula,
//     m_k <- m_k + gain e,      S <- (a S + weight e e') / (a + lambda),      a = (1 - lambda) N,
// and differs in gain, weight and in how the counts go on. A row that counts w times (ours): soft counts take it for w
// copies in sequence, lambda -> 1 - (1 - lambda)^w; hard counts set lambda w against (1 - lambda) N and count it w times,
// which at lambda = 1/2 is w copies too. All rows are taken relative to the first one ever seen:
// a common shift changes no decision, and offsets such as time stamps then cost no digits.
#pragma once

#include "discriminant_row.hpp"
#include "rate.hpp"

namespace thalweg::THALWEG_LEVEL {

class DiscriminantBlocks;

template <int P> class Discriminant final : public MeanLearner, private DiscriminantRow<P> {
  using Row = DiscriminantRow<P>;
  using W = typename Row::W;
  friend class DiscriminantBlocks;
  template <int> friend class SideBySide;

 public:
  Discriminant(int64_t p, DiscriminantOptions options, Rate rate)
      : MeanLearner(p), Row(p, options), rate_(std::move(rate)), ridge_held(stride()), long_mean(stride()),
        long_variance(stride()), warm_left(std::max<int64_t>(1, options.warmup)) {}

  MeanLearner *copy() const override { return new Discriminant(*this); }
  double rate() const override { return rate_.value; }

  void scores(const double *x, double *out) const override {
    Scratch at(stride());
    width.difference(x, origin.data(), at.data());
    score(at.data(), out);
  }

  THALWEG_AS_WRITTEN int64_t step(const double *x, int64_t k) override {
    return take(x, k, 1, Share::once);
  }

  void run(const double *X, const int64_t *y, int64_t count, const Outputs &out) override {
    if constexpr (P == 0) {
      run_wide(X, y, count, out);
    } else if constexpr (P <= kFew) {
      if (out.scores || out.rates) run_as(*this, X, y, count, out);
      else run_answers(X, y, count, out.answers);
    } else {
      run_as(*this, X, y, count, out);
    }
  }
  void weighted_run(const double *X, const int64_t *y, const double *masses, int64_t count,
                    const Outputs &out) override;

  int64_t mistakes_on(const double *X, const int64_t *y, int64_t count) const override {
    Scratch room(stride() + classes());
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++) {
      width.difference(X + i * features(), origin.data(), room.data());
      score(room.data(), room.data() + stride());
      wrong += highest(room.data() + stride(), classes()) != y[i];
    }
    return wrong;
  }

  bool starting() const override { return warm_left > 0; }
  double last_gain() const override { return last_gain_; }
  const double *mean(int64_t c) const override { return M.data() + c * stride(); }
  double log_prior_of(int64_t c) const override { return log_prior[c]; }
  void localise(const double *x, double *to) const override {
    for (int64_t j = 0; j < features(); j++) to[j] = x[j] - origin[j];
  }
  void weigh(const double *mean, double *w) override {
    std::copy(mean, mean + features(), z_.begin());
    P_.apply(z_.data(), e_.data());
    std::copy(e_.begin(), e_.begin() + features(), w);
  }

  void begin(const double *X, const int64_t *y, int64_t count) override { weighted_begin(X, y, nullptr, count); }
  void weighted_begin(const double *X, const int64_t *y, const double *masses, int64_t count) override {
    forget();
    for (int64_t i = 0; i < count; i++) {
      const double mass = masses ? masses[i] : 1, *x = X + i * features();
      if (!(mass > 0)) continue;
      if (rows++ == 0) std::copy(x, x + features(), origin.begin());
      width.difference(x, origin.data(), z_.data());
      gather(z_.data(), y[i], mass);
    }
    if (rows == 0) return;
    settle();
    warm_left = 0;
    end_start();
  }

  void visit(State &state) override {
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
    P_.visit(state);
    rate_.visit(state);
  }

 protected:
  int64_t weighted_step(const double *x, int64_t k, double mass) override {
    return take(x, k, mass, [&](double lambda) { return share(lambda, mass); });
  }
  void insert(int64_t at) override {
    Row::insert_class(at);
    if (last >= at) last++;
  }

 private:
  static constexpr double kLeastFade = 1e-12;   // no row, whatever its weight, leaves less of what was known

  using Row::stride, Row::score, Row::approach, Row::reweigh, Row::tidy, Row::count_row, Row::refresh_after;
  using Row::kGreatShrink;

  Share share(double lambda, double mass) const {
    if (mass == 1) return Share::once(lambda);
    if (!options.soft_counts) return {1 - lambda, lambda * mass, mass};
    const double fade = std::exp(mass * std::log1p(-lambda));
    return {std::max(fade, std::min(kLeastFade, 1 - lambda)), repeated(lambda, mass), mass};
  }

  // Few features take so little time that a row's call and what never changes would be felt.
  THALWEG_AS_WRITTEN void run_answers(const double *X, const int64_t *y, int64_t count, int64_t *answers) {
    int64_t i = 0;
    for (; i < count && warm_left > 0; i++) {
      const int64_t given = step(X + i * P, y[i]);
      if (answers) answers[i] = given;
    }
    rows += count - i;
    const bool constant = rate_.kind() == Rate::kConstant;
    const Share always = Share::once(rate_.value);
    typename W::Room z(z_);
    for (; i < count; i++) {
      width.difference(X + i * P, origin.data(), z);
      const int64_t given = Row::answer_to(z);
      learn(z, Move(options, y[i], counts[y[i]], total, constant ? always : Share::once(rate_.next(given != y[i]))));
      if (answers) answers[i] = given;
    }
  }
  template <class ShareAt> THALWEG_INLINE int64_t take(const double *x, int64_t k, double mass, ShareAt share_at) {
    if (rows++ == 0) std::copy(x, x + features(), origin.begin());
    typename W::Room z(z_);
    width.difference(x, origin.data(), z);
    const int64_t given = Row::answer_to(z);
    if (warm_left > 0) {
      gather(z, k, mass);
      settle();
      if (--warm_left == 0) end_start();
    } else {
      learn(z, Move(options, k, counts[k], total, share_at(rate_.next(given != k))));
    }
    return given;
  }

  THALWEG_INLINE void learn(const double *z, const Move &move) {
    bool stale = Row::follow(z, move);
    if (options.ridge > 0) {
      survey(z, move.row.mass);
      stale |= top_up_ridge(move, [&](int64_t j, double more) { return raise(j, more); });
    }
    tidy(stale);
    count_row(move);
  }

  // Whole chunks, discriminant_runs.hpp; behind the start, null masses: each row counts once.
  static constexpr int64_t kWide = 256;
  void run_wide(const double *X, const int64_t *y, int64_t count, const Outputs &out);
  void run_on(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out);
  void run_singly(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out);
  void run_in_one_pass(const double *X, const int64_t *y, int64_t count, const Outputs &out);
  int64_t write_answer(int64_t i, const Outputs &out);

  // Each feature's long-run variance, the measure of the ridge: of all rows at first, of some thousands later, and with
  // wild values cut, lest one of them stiffen the model for good.
  void survey(const double *z, double mass) {
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
  template <class Raise> __attribute__((noinline)) bool top_up_ridge(const Move &move, Raise raise) {
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
  double raise(int64_t j, double more) {
    std::fill(e_.begin(), e_.end(), 0.0);
    e_[j] = 1;
    const RankOne change{1, more, 1};
    const double inverse = P_.absorb(e_.data(), change, u_.data());
    return reweigh(e_.data(), u_.data(), change, inverse, -1, 0);
  }

  // The start: means and scatter with equal weights, or the rows' own (Welford).
  __attribute__((noinline)) void gather(const double *z, int64_t k, double mass) {
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
  __attribute__((noinline)) void settle() {
    const int64_t p = features(), n = stride();
    Row::weigh_classes();
    Scratch room(n * n);
    double *covariance = room.data();
    int64_t seen = 0;
    for (int64_t j = 0; j < p; j++) {
      for (int64_t i = j; i < p; i++) covariance[j * n + i] = scatter[j * n + i] / total;
      ridge_held[j] = options.ridge * long_variance[j];
      variance[j] = covariance[j * n + j] + ridge_held[j];
    }
    for (int64_t c = 0; c < classes(); c++) seen += counts[c] > 0;
    const bool full_rank_possible = options.ridge > 0 || rows - seen >= p;
    if (!full_rank_possible || !P_.invert(covariance, variance.data())) {
      P_.identity();
      std::fill(variance.begin(), variance.begin() + p, 1.0);
      // Without a ridge this says that the identity stands in: whoever adds models up must know it.
      std::fill(ridge_held.begin(), ridge_held.end(), options.ridge > 0 ? 0.0 : 1.0);
    }
    Row::refresh(true);
  }

  // With soft counts the rows of the start weigh what they would have weighed at the rate, alike, and never more in
  // all than a full memory: few rows are then averaged until the memory is full, many do not outweigh what follows.
  void end_start() {
    scatter.clear();
    if (!options.soft_counts) return;
    const double whole = std::min(1.0, total * rate_.value);
    for (double &count : counts) count *= whole / total;
    total = whole;
    Row::weigh_classes();
  }

  void forget() {
    for (Buffer *values :
         {&counts, &half_square, &M, &weights, &origin, &variance, &ridge_held, &long_mean, &long_variance})
      std::fill(values->begin(), values->end(), 0.0);
    std::fill(log_prior.begin(), log_prior.end(), -__builtin_inf());
    scatter.clear();
    P_.identity();
    rate_.reset();
    rows = since_refresh = cursor = 0;
    total = surveyed = 0;
    last = -1;
    warm_left = std::max<int64_t>(1, options.warmup);
  }

  using Row::width, Row::options, Row::P_, Row::counts, Row::log_prior, Row::half_square, Row::M, Row::weights;
  using Row::origin, Row::variance, Row::z_, Row::e_, Row::u_, Row::score_, Row::last, Row::since_refresh, Row::total;
  using Row::last_gain_, Row::log_count;
  Rate rate_;
  Buffer ridge_held;                                 // per feature
  Buffer long_mean, long_variance;                   // per feature, over the long run; kept where there is a ridge
  Buffer scatter;                                    // feature x feature, during the start
  int64_t rows = 0, warm_left, cursor = 0;
  double surveyed = 0;  // rows behind the long-run variance
};

}  // namespace thalweg::THALWEG_LEVEL

#include "discriminant_runs.hpp"  // the rest of it
