// What a discriminant keeps between rows and how a row changes it, for one model (N = double) or for eight side by side
// (N = Lanes), in the same lines and to the same bits.
#pragma once

#include "discriminant_state.hpp"
#include "small_factor.hpp"

namespace thalweg::THALWEG_LEVEL {

// Kept and Factor: where the state lies that the rows change.
template <int P, class N = double, class S = double, class Kept = DiscriminantState<N, S>,
          class Factor = FactorOf<P, N>>
class DiscriminantRow : public Kept {
 public:
  using W = WidthOf<P, N>;
  using Shared = S;
  using V = typename W::V;
  static constexpr int L = W::L, kCount = Of<N>::kCount;

  template <class... Rest>
  DiscriminantRow(const W &width, const Rest &...rest) : Kept(rest...), width(width), P_(width) {}

  static W width_for(int64_t p) { return Factor::width_for(p); }
  THALWEG_INLINE int64_t stride() const { return width.stride(); }

  // g_c = ln P_c - m_c'S^-1 m_c / 2 + m_c'S^-1 x                                                    eq. (3)
  THALWEG_INLINE void score(const double *at, double *out) const {
    for (int64_t c = 0; c < known; c++) store<N>(out + c * kCount, score_of(c, at));
  }
  THALWEG_INLINE N score_of(int64_t c, const double *at) const {
    return width.dot(weights.data() + c * stride(), at, number(log_prior, c) - number(half_square, c));
  }
  // The class of the highest of them, the first of several; -1 where there is none.
  THALWEG_INLINE Index<N> answer_to(const double *at) const {
    if (known == 0) return -1;
    N top = score_of(0, at);
    Index<N> best = pick(top > N(-__builtin_inf()), Index<N>(0), Index<N>(-1));
    const auto rival = [&](int64_t c) THALWEG_LAMBDA {
      const N score = score_of(c, at);
      best = pick(score > top, Index<N>(c), best);
      top = greatest(score, top);
    };
    if (P > 0 && P <= kFew && known == 2) rival(1);
    else
      for (int64_t c = 1; c < known; c++) rival(c);
    return best;
  }
  THALWEG_INLINE N count_of(const Index<N> &k) const { return at_class<N>(counts.data(), kCount, known, k); }

  // The row z moves its class's mean, P and every w. Tells where P shrank so much that w is spoilt.
  THALWEG_INLINE Mask<N> follow(const double *z, const MoveOf<N, S> &move) {
    typename W::Room e(e_), u(u_);
    for (int64_t b = 0; b < width.blocks(); b++)
      store<V>(e + b * L, load<V>(z + b * L) - at_class<V>(M.data() + b * L, stride(), known, move.k));
    approach(e, move);
    const N inverse = P_.absorb(e, move.change, u);  // eq. (7), (12)
    return N(kGreatShrink) > reweigh(e, u, move.change, inverse, move.k, move.gain);
  }

  // The class's mean and the variances follow e = x - m_k.
  THALWEG_INLINE void approach(const double *e, const MoveOf<N, S> &move) {
    last_gain_ = move.gain;
    for (int64_t b = 0; b < width.blocks(); b++) {
      double *means = M.data() + b * L, *variances = variance.data() + b * L;
      const V eb = load<V>(e + b * L), m = at_class<V>(means, stride(), known, move.k);
      store<V>(variances, N(move.whole) * fused(move.change.weight * eb, eb, N(move.change.a) * load<V>(variances)));
      put_at_class<V>(means, stride(), known, move.k, fused(move.gain, eb, m));
    }
  }

  // Every w_c = P m_c follows the rank-one change of P along e, u = P e; w corrects itself through e'w (never through
  // u'm, whose error grows without bound). Returns by how much P shrinks along e.
  THALWEG_INLINE N reweigh(const double *e, const double *u, const RankOneOf<N, S> &change, const N &inverse,
                           const Index<N> &k, const N &gain) {
    const auto along = [&](int64_t c) THALWEG_LAMBDA { return along_weights(c, e); };
    return reweigh_by(along, u, change, inverse, k, gain);
  }
  // The same where every e'w_c is known already.
  template <class Along>
  THALWEG_INLINE N reweigh_by(Along along, const double *u, const RankOneOf<N, S> &change, const N &inverse,
                              const Index<N> &k, const N &gain) {
    const N kappa = change.weight * inverse, shrink = change.a * inverse, scale = change.scale;
    const OrZero<N> own{gain * shrink};
    each_class([&](int64_t c) THALWEG_LAMBDA {
      double *w = weights.data() + c * stride();
      const double *m = M.data() + c * stride();
      const N scaled = scale * fused(-kappa, along(c), own.where(same(k, c)));
      for (int64_t b = 0; b < width.blocks(); b++)
        store<V>(w + b * L, fused(scaled, load<V>(u + b * L), scale * load<V>(w + b * L)));
      set(half_square, c, 0.5 * width.dot(w, m));
    });
    return shrink;
  }

  THALWEG_INLINE N along_weights(int64_t c, const double *e) const {
    return width.dot(weights.data() + c * stride(), e);
  }

  THALWEG_INLINE void tidy(Mask<N> stale) {
    const Mask<N> grown = P_.needs_cap(variance.data());
    if (any(grown)) stale = stale | P_.cap(variance, grown);
    since_refresh = since_refresh + 1;
    stale = stale | (since_refresh >= Index<N>(refresh_after()));
    if (any(stale)) refresh(stale);
  }
  int64_t refresh_after() const { return std::max(kRefresh, width.features()); }

  // w = P m afresh
  __attribute__((noinline)) void refresh(Mask<N> wanted) {
    for (int64_t c = 0; c < known; c++) {
      double *w = weights.data() + c * stride();
      typename W::Room room(u_);
      P_.apply(M.data() + c * stride(), room);
      for (int64_t b = 0; b < width.blocks(); b++) put_where<V>(wanted, w + b * L, load<V>(room + b * L));
      put_where<N>(wanted, half_square.data() + c * kCount, 0.5 * width.dot(w, M.data() + c * stride()));
    }
    since_refresh = pick(wanted, Index<N>(0), since_refresh);
  }

  // The counts, and the priors they imply                                                            eq. (11)
  THALWEG_INLINE void count_row(const MoveOf<N, S> &move) {
    const ShareOf<S> &row = move.row;
    move.count(options, counts.data(), known, total);
    if (options.soft_counts) return weigh_classes(move);
    // Hard counts: the printed prior favours the last row's class by lambda, the others keep their counts.
    put_at_class<N>(log_prior.data(), kCount, known, last, log_count);
    const N tilted = logarithm(usually(move.n > 0.0, move.n + N(row.tilt), N(row.mass)));
    put_at_class<N>(log_prior.data(), kCount, known, move.k, tilted);
    const auto alike = row.news == row.fade * row.mass;
    log_count = all(alike) ? tilted : usually(alike, tilted, logarithm(move.n + N(row.mass)));
    last = move.k;
  }
  // Only the row's own class needs a logarithm: all others have faded by one factor.
  THALWEG_INLINE void weigh_classes(const MoveOf<N, S> &move) {
    if (any(fade_ != move.row.fade)) {
      fade_ = move.row.fade;
      log_fade_ = logarithm(fade_);
    }
    const N own = logarithm(count_of(move.k));
    each_class([&](int64_t c) THALWEG_LAMBDA {
      const N faded = usually(number(counts, c) > 0.0, number(log_prior, c) + N(log_fade_), N(-__builtin_inf()));
      set(log_prior, c, pick(same(move.k, c), own, faded));
    });
  }

  static constexpr int64_t kRefresh = 64;  // rows after which w = P m is computed afresh, at least p

  W width;
  Factor P_;
  using Kept::options, Kept::known, Kept::counts, Kept::log_prior, Kept::half_square, Kept::M, Kept::weights;
  using Kept::origin, Kept::variance, Kept::e_, Kept::u_, Kept::last, Kept::since_refresh, Kept::total;
  using Kept::last_gain_, Kept::log_count, Kept::fade_, Kept::log_fade_, Kept::kGreatShrink;

 private:
  // Two classes, the common case, without a loop where a loop would be felt.
  template <class Do> THALWEG_INLINE void each_class(Do act) const {
    if (P > 0 && P <= kFew && known == 2) return act(0), act(1);
    for (int64_t c = 0; c < known; c++) act(c);
  }
  template <class Values> static THALWEG_INLINE N number(const Values &values, int64_t c) {
    return load<N>(values.data() + c * kCount);
  }
  template <class Values> static THALWEG_INLINE void set(Values &values, int64_t c, const N &to) {
    store<N>(values.data() + c * kCount, to);
  }
};

// What two rows' states hold, array by array and number by number.
template <class A, class B, class Act> THALWEG_INLINE void each_array(A &a, B &b, Act act) {
  act(a.counts, b.counts), act(a.log_prior, b.log_prior), act(a.half_square, b.half_square);
  act(a.M, b.M), act(a.weights, b.weights), act(a.origin, b.origin), act(a.variance, b.variance);
  act(a.P_.U, b.P_.U), act(a.P_.D, b.P_.D);
}
template <class A, class B, class Act> THALWEG_INLINE void each_number(A &a, B &b, Act act) {
  act(a.last, b.last), act(a.since_refresh, b.since_refresh);
  act(a.total, b.total), act(a.last_gain_, b.last_gain_), act(a.log_count, b.log_count);
}

}  // namespace thalweg::THALWEG_LEVEL
