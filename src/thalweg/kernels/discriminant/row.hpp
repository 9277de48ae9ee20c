// What a discriminant keeps between rows and how a row changes it, for one model (N = double) or for eight side by side
// (N = Lanes), in the same lines and to the same bits.
//
// A `MoveOf` says what a row does by its class, its share and the counts before it. It does not depend on the row's
// values, so it can be known ahead of them. S is the type of what models of one rate and age have in common, such as the
// weight of all rows.
#pragma once

#include "linear_algebra/numbers.hpp"
#include "linear_algebra/small_factor.hpp"

namespace thalweg::THALWEG_LEVEL {

struct DiscriminantOptions {
  bool soft_counts = false;
  bool covariance_2008 = false;
  int64_t warmup = 10;
  double ridge = 0;
};

// What a row counts for: old counts are multiplied by `fade`, `news` is set beside them; hard counts grow by `mass`.
template <class S> struct ShareOf {
  S fade, news, tilt;  // tilt: news / fade
  double mass;

  ShareOf() = default;
  THALWEG_INLINE ShareOf(const S &fade, const S &news, double mass)
      : fade(fade), news(news), tilt(news / fade), mass(mass) {}
  static THALWEG_INLINE ShareOf once(const S &lambda) { return ShareOf(1 - lambda, lambda, 1); }
};

template <class N, class S> struct MoveOf {
  Index<N> k;
  ShareOf<S> row;
  N n, gain;               // rows of the class before, and by how much its mean moves towards the row
  S grown, whole;          // weight of all rows with this one, and its inverse
  RankOneOf<N, S> change;  // of P

  MoveOf() = default;
  THALWEG_INLINE MoveOf(const DiscriminantOptions &options, const Index<N> &k, const N &n, const S &total,
                        const ShareOf<S> &row)
      : k(k), row(row), n(n) {
    const N inverse = 1 / fused(N(row.fade), n, N(row.news));
    const N rest = row.fade * n * inverse;                // 1 - gain, without its cancellation
    gain = usually(n > 0.0, row.news * inverse, N(1.0));  // eq. (10); 1 for the first row of a class, to the last bit
    change.a = row.fade * total;
    if (options.covariance_2008) {
      change.weight = row.news * rest * rest;  // z = x - m_k after the row, eq. (12)
    } else if (options.soft_counts) {
      change.weight = row.news * rest;  // the exact exponentially weighted scatter, ours
    } else {
      // Schnackenberg eq. (3), lambda n / (n + w) v v', with v = (n + w) (1 - lambda) / (keep + news) e, eq. (4)
      const N faded = row.fade * inverse;
      change.weight = row.news * n * (n + row.mass) * faded * faded;
    }
    grown = fused(row.fade, total, row.news);
    whole = 1 / grown;
    change.scale = grown * (1 / change.a);
  }

  // The counts of the classes and of all rows go on.
  THALWEG_INLINE void count(const DiscriminantOptions &options, double *counts, int64_t classes, S &total) const {
    if (!options.soft_counts) {
      put_at_class<N>(counts, Of<N>::kCount, classes, k, n + row.mass);
      total = total + row.mass;
      return;
    }
    for (int64_t c = 0; c < classes; c++) {
      const N before = load<N>(counts + c * Of<N>::kCount), left = usually(before > 1e-290, before, N(0.0));
      store<N>(counts + c * Of<N>::kCount, pick(same(k, c), fused(left, N(row.fade), N(row.news)), left * row.fade));
    }
    total = grown;
  }
};

using Share = ShareOf<double>;
using Move = MoveOf<double, double>;

// The state between rows.
template <class N = double, class S = double> struct DiscriminantState {
  static constexpr int kCount = Of<N>::kCount;

  DiscriminantState(int64_t stride, const DiscriminantOptions &options)
      : options(options), stride_(stride), origin(stride), variance(stride), z_(stride), e_(stride), u_(stride) {}

  int64_t stride() const { return stride_; }

  THALWEG_NOINLINE void insert_class(int64_t at) {
    for (Buffer *values : {&counts, &log_prior, &half_square}) values->insert_zeros(at * kCount, kCount);
    for (Buffer *values : {&M, &weights}) values->insert_zeros(at * stride(), stride());
    std::fill_n(log_prior.begin() + at * kCount, kCount, -__builtin_inf());
    score_.resize(counts.size());
    known++;
  }

  DiscriminantOptions options;
  int64_t stride_, known = 0;             // numbers to a vector of features; classes
  Buffer counts, log_prior, half_square;  // per class
  Buffer M, weights;                      // class x feature: m_c and w_c = P m_c
  Buffer origin, variance;                // per feature
  Buffer z_, e_, u_, score_;              // the row at hand
  Index<N> last = -1, since_refresh = 0;
  S total = 0.0;                   // weight of all rows
  N last_gain_ = 0.0;              // by which the last row moved its class's mean
  N log_count = 0.0;               // of the last row's class, whose prior is tilted
  S fade_ = 1.0, log_fade_ = 0.0;  // of the last row
};

// The same for two classes and few features in the object itself, so that the compiler knows every place.
template <int P, class N = double, class S = double> struct TwoClassState {
  static constexpr int kCount = Of<N>::kCount;
  static constexpr int64_t known = 2;

  TwoClassState(int64_t, const DiscriminantOptions &options) : options(options) {}
  void insert_class(int64_t) {}  // they are there

  DiscriminantOptions options;
  Fixed<2 * kCount> counts, log_prior, half_square;
  Fixed<2 * P * kCount> M, weights;
  Fixed<P * kCount> origin, variance;
  Buffer e_, u_;  // not used
  Index<N> last, since_refresh;
  S total;
  N last_gain_, log_count;
  S fade_ = 1.0, log_fade_ = 0.0;
};

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
      store<V>(e + b * L, load<V>(z + b * L) - at_class<V>(M.data(), stride(), known, move.k, b * L));
    approach(e, move);
    const N inverse = P_.absorb(e, move.change, u);  // eq. (7), (12)
    return N(kGreatShrink) > reweigh(e, u, move.change, inverse, move.k, move.gain);
  }

  // The class's mean and the variances follow e = x - m_k.
  THALWEG_INLINE void approach(const double *e, const MoveOf<N, S> &move) {
    last_gain_ = move.gain;
    for (int64_t b = 0; b < width.blocks(); b++) {
      double *variances = variance.data() + b * L;
      const V eb = load<V>(e + b * L), m = at_class<V>(M.data(), stride(), known, move.k, b * L);
      store<V>(variances, N(move.whole) * fused(move.change.weight * eb, eb, N(move.change.a) * load<V>(variances)));
      put_at_class<V>(M.data(), stride(), known, move.k, fused(move.gain, eb, m), b * L);
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
    return reweigh_each(along, u, change, inverse, k, gain, [&](int64_t c, auto moved) THALWEG_LAMBDA {
      for (int64_t b = 0; b < width.blocks(); b++) moved(b);
      set(half_square, c, 0.5 * width.dot(weights.data() + c * stride(), M.data() + c * stride()));
    });
  }
  // The same, and on the way what the next row needs of the weights: as `look`.
  THALWEG_INLINE N reweigh_and_look(const double *u, const RankOneOf<N, S> &change, const N &inverse, const Index<N> &k,
                                    const N &gain, const double *z, const double *e, double *scores, double *along) {
    const auto known = [&](int64_t c) THALWEG_LAMBDA { return along[c]; };
    return reweigh_each(known, u, change, inverse, k, gain, [&](int64_t c, auto moved) THALWEG_LAMBDA {
      const double *m = M.data() + c * stride();
      double products[3];
      width.template dots<3>(
          [&](int64_t b, auto add) THALWEG_LAMBDA {
            const V w = moved(b);
            add(0, w, load<V>(m + b * L));
            add(1, w, load<V>(z + b * L));
            add(2, w, load<V>(e + b * L));
          },
          products);
      set(half_square, c, 0.5 * products[0]);
      scores[c] = number(log_prior, c) - number(half_square, c) + products[1];
      along[c] = products[2];
    });
  }
  // The scores of a row, and w_c'e.
  THALWEG_INLINE void look(const double *z, const double *e, double *scores, double *along) const {
    score(z, scores);
    for (int64_t c = 0; c < known; c++) along[c] = along_weights(c, e);
  }

  THALWEG_INLINE N along_weights(int64_t c, const double *e) const {
    return width.dot(weights.data() + c * stride(), e);
  }

  // Returns whether some w was computed afresh.
  THALWEG_INLINE bool tidy(Mask<N> stale) {
    const Mask<N> grown = P_.needs_cap(variance.data());
    if (any(grown)) stale = stale | P_.cap(variance, grown);
    since_refresh = since_refresh + 1;
    stale = stale | (since_refresh >= Index<N>(refresh_after(width.features())));
    const bool afresh = any(stale);
    if (afresh) refresh(stale);
    return afresh;
  }

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

  W width;
  Factor P_;
  using Kept::options, Kept::known, Kept::counts, Kept::log_prior, Kept::half_square, Kept::M, Kept::weights;
  using Kept::origin, Kept::variance, Kept::e_, Kept::u_, Kept::last, Kept::since_refresh, Kept::total;
  using Kept::last_gain_, Kept::log_count, Kept::fade_, Kept::log_fade_;

 private:
  // Every w_c by `act(c, moved)`, where moved(b) is a block of it after the change, made when it is asked for.
  template <class Along, class Act>
  THALWEG_INLINE N reweigh_each(Along along, const double *u, const RankOneOf<N, S> &change, const N &inverse,
                                const Index<N> &k, const N &gain, Act act) {
    const N kappa = change.weight * inverse, shrink = change.a * inverse, scale = change.scale;
    const OrZero<N> own{gain * shrink};
    each_class([&](int64_t c) THALWEG_LAMBDA {
      double *w = weights.data() + c * stride();
      const N scaled = scale * fused(-kappa, along(c), own.where(same(k, c)));
      act(c, [&](int64_t b) THALWEG_LAMBDA {
        const V moved = fused(scaled, load<V>(u + b * L), scale * load<V>(w + b * L));
        store<V>(w + b * L, moved);
        return moved;
      });
    });
    return shrink;
  }
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
