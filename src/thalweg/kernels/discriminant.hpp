// The online linear discriminant classifier, O-LDC (Kuncheva & Plumpton 2008; corrected by Schnackenberg et al. 2018).
//
// For a row x of class k, with e = x - m_k before the row, every variant is one formula,
//     m_k <- m_k + gain e,      S <- (a S + weight e e') / (a + lambda),      a = (1 - lambda) N,
// and differs in gain, weight and in how the counts go on. A row that counts w times (ours): soft counts take it for w
// copies in sequence, lambda -> 1 - (1 - lambda)^w; hard counts set lambda w against (1 - lambda) N and count it w times,
// which at lambda = 1/2 is w copies too. All rows are taken relative to the first one ever seen:
// a common shift changes no decision, and offsets such as time stamps then cost no digits.
#pragma once

#include "discriminant_move.hpp"
#include "rate.hpp"

namespace thalweg::THALWEG_LEVEL {

class DiscriminantBlocks;

template <int P> class Discriminant final : public MeanLearner {
  friend class DiscriminantBlocks;
  using W = Width<P>;
  using V = typename W::V;
  static constexpr int L = W::L;

 public:
  Discriminant(int64_t p, DiscriminantOptions options, Rate rate)
      : MeanLearner(p), width(p), options(options), rate_(std::move(rate)), P_(p), origin(stride()), variance(stride()),
        ridge_held(stride()), long_mean(stride()), long_variance(stride()), z_(stride()), e_(stride()), u_(stride()),
        warm_left(std::max<int64_t>(1, options.warmup)) {}

  MeanLearner *copy() const override { return new Discriminant(*this); }
  double rate() const override { return rate_.value; }

  void scores(const double *x, double *out) const override {
    Scratch at(stride());
    width.difference(x, origin.data(), at.data());
    score(at.data(), out);
  }

  int64_t step(const double *x, int64_t k) override {
    return take(x, k, 1, Share::once);
  }

  void run(const double *X, const int64_t *y, int64_t count, const Outputs &out) override;
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
    insert_row(counts, at, 1);
    insert_row(log_prior, at, 1);
    log_prior[at] = -__builtin_inf();
    insert_row(half_square, at, 1);
    insert_row(M, at, stride());
    insert_row(weights, at, stride());
    score_.resize(counts.size());
    if (last >= at) last++;
  }

 private:
  static constexpr int64_t kRefresh = 64;      // rows after which w = P m is computed afresh, at least p
  static constexpr double kGreatShrink = 1e-4;  // a row that shrinks P more than this spoils w: compute it afresh

  static constexpr double kLeastFade = 1e-12;   // no row, whatever its weight, leaves less of what was known

  int64_t stride() const { return width.stride(); }

  Share share(double lambda, double mass) const {
    if (mass == 1) return Share::once(lambda);
    if (!options.soft_counts) return {1 - lambda, lambda * mass, mass};
    const double fade = std::exp(mass * std::log1p(-lambda));
    return {std::max(fade, std::min(kLeastFade, 1 - lambda)), repeated(lambda, mass), mass};
  }

  template <class ShareAt> THALWEG_INLINE int64_t take(const double *x, int64_t k, double mass, ShareAt share_at) {
    if (rows++ == 0) std::copy(x, x + features(), origin.begin());
    typename W::Room z(z_);
    width.difference(x, origin.data(), z);
    score(z, score_.data());
    const int64_t given = highest(score_.data(), classes());
    if (warm_left > 0) {
      gather(z, k, mass);
      settle();
      if (--warm_left == 0) end_start();
    } else {
      learn(z, Move(options, k, counts[k], total, share_at(rate_.next(given != k))));
    }
    return given;
  }

  // g_c = ln P_c - m_c'S^-1 m_c / 2 + m_c'S^-1 x                                                    eq. (3)
  THALWEG_INLINE void score(const double *at, double *out) const {
    for (int64_t c = 0; c < classes(); c++)
      out[c] = log_prior[c] - half_square[c] + width.dot(weights.data() + c * stride(), at);
  }

  THALWEG_INLINE void learn(const double *z, const Move &move) {
    typename W::Room e(e_), u(u_);
    width.difference_padded(z, M.data() + move.k * stride(), e);
    approach(e, move);
    const double inverse = P_.absorb(e, move.change, u);  // eq. (7), (12)
    bool stale = reweigh(e, u, move.change, inverse, move.k, move.gain) < kGreatShrink;
    if (options.ridge > 0) {
      survey(z, move.row.mass);
      stale |= top_up_ridge(move, [&](int64_t j, double more) { return raise(j, more); });
    }
    tidy(stale);
    count_row(move);
  }

  // Whole chunks, discriminant_runs.hpp; behind the start, null masses: each row counts once.
  static constexpr int64_t kWide = 256;
  void run_on(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out);
  void run_singly(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out);
  void run_in_one_pass(const double *X, const int64_t *y, int64_t count, const Outputs &out);
  int64_t write_answer(int64_t i, const Outputs &out);

  // The class's mean and the variances follow e = x - m_k.
  THALWEG_INLINE void approach(const double *e, const Move &move) {
    double *m = M.data() + move.k * stride();
    last_gain_ = move.gain;
    for (int64_t b = 0; b < width.blocks(); b++) {
      const V eb = load<V>(e + b * L), vb = load<V>(variance.data() + b * L);
      store<V>(variance.data() + b * L, move.whole * (move.change.a * vb + move.change.weight * eb * eb));
      store<V>(m + b * L, load<V>(m + b * L) + move.gain * eb);
    }
  }

  // Every w_c = P m_c follows the rank-one change of P along e, u = P e; w corrects itself through e'w (never through
  // u'm, whose error grows without bound). Returns by how much P shrinks along e.
  THALWEG_INLINE double reweigh(const double *e, const double *u, const RankOne &change, double inverse, int64_t k,
                                double gain) {
    const double kappa = change.weight * inverse, shrink = change.a * inverse;
    const double own[2] = {0, gain * shrink};  // looked up, without a branch: labels are hard to foresee
    for (int64_t c = 0; c < classes(); c++) {
      double *w = weights.data() + c * stride();
      const double *m = M.data() + c * stride();
      const double scaled = change.scale * (own[c == k] - kappa * width.dot(w, e));
      V square{};
      for (int64_t b = 0; b < width.blocks(); b++) {
        const V wb = change.scale * load<V>(w + b * L) + scaled * load<V>(u + b * L);
        store<V>(w + b * L, wb);
        square += wb * load<V>(m + b * L);
      }
      half_square[c] = 0.5 * sum(square);
    }
    return shrink;
  }

  THALWEG_INLINE void tidy(bool stale) {
    if (P_.needs_cap(variance.data())) stale |= P_.cap(variance);
    if (stale || ++since_refresh >= refresh_after()) refresh();
  }
  int64_t refresh_after() const { return std::max(kRefresh, width.features()); }

  // The counts, and the priors they imply                                                            eq. (11)
  THALWEG_INLINE void count_row(const Move &move) {
    const Share &row = move.row;
    move.count(options, counts.data(), classes(), total);
    if (options.soft_counts) {
      for (int64_t c = 0; c < classes(); c++) log_prior[c] = std::log(counts[c]);
      return;
    }
    // Hard counts: the printed prior favours the last row's class by lambda, the others keep their counts.
    log_prior[last] = log_count;
    log_prior[move.k] = std::log(move.n > 0 ? move.n + row.news / row.fade : row.mass);
    log_count = row.news == row.fade * row.mass ? log_prior[move.k] : std::log(move.n + row.mass);
    last = move.k;
  }

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

  __attribute__((noinline)) void refresh() {
    for (int64_t c = 0; c < classes(); c++) {
      P_.apply(M.data() + c * stride(), weights.data() + c * stride());
      half_square[c] = 0.5 * width.dot(weights.data() + c * stride(), M.data() + c * stride());
    }
    since_refresh = 0;
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
    log_count = std::log(counts[k]);
  }

  // Ends the start: P = S^-1, or the identity where S is singular (the paper's footnote 3).
  __attribute__((noinline)) void settle() {
    const int64_t p = features(), n = stride();
    for (int64_t c = 0; c < classes(); c++) log_prior[c] = std::log(counts[c]);
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
      std::fill(ridge_held.begin(), ridge_held.end(), 0.0);
    }
    refresh();
  }

  // With soft counts the rows of the start weigh what they would have weighed at the rate, alike, and never more in
  // all than a full memory: few rows are then averaged until the memory is full, many do not outweigh what follows.
  void end_start() {
    scatter.clear();
    if (!options.soft_counts) return;
    const double whole = std::min(1.0, total * rate_.value);
    for (double &count : counts) count *= whole / total;
    total = whole;
    for (int64_t c = 0; c < classes(); c++) log_prior[c] = std::log(counts[c]);
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

  W width;
  DiscriminantOptions options;
  Rate rate_;
  Factor<P> P_;
  Buffer counts, log_prior, half_square;             // per class
  Buffer M, weights;                                 // class x feature: m_c and w_c = P m_c
  Buffer origin, variance, ridge_held;               // per feature
  Buffer long_mean, long_variance;                   // per feature, over the long run; kept where there is a ridge
  Buffer scatter;                                    // feature x feature, during the start
  Buffer z_, e_, u_, score_;                         // the row at hand
  int64_t rows = 0, warm_left, last = -1, since_refresh = 0, cursor = 0;
  double total = 0, surveyed = 0;  // weight of all rows; rows behind the long-run variance
  double last_gain_ = 0;           // by which the last row moved its class's mean
  double log_count = 0;            // log_count: of the last row's class, whose prior is tilted
};

}  // namespace thalweg::THALWEG_LEVEL

#include "discriminant_runs.hpp"  // the rest of it
