// A bank of forgetting rates: eight O-LDCs with soft counts side by side, one rate in each lane, over rows of unit scale.
//
// The arithmetic is that of discriminant/row.hpp, in the order in which one pass over the row serves all rates
// (linear_algebra/lane_factor.hpp). A rate sets in once 1 / (t + 2) has fallen to it: until then a lane averages all rows
// alike. Posteriors are mixed with weights exp(-sharpness L), L <- discount L + [mistake], where L starts at a handicap.
#pragma once

#include "learner.hpp"
#include "linear_algebra/lane_factor.hpp"

namespace thalweg::THALWEG_LEVEL {

struct RateBankOptions {
  std::vector<double> rates, handicaps;
  double ridge = 1e-3, discount = 0.99, sharpness = 0.5;
};

class RateBank final : public Learner {
 public:
  RateBank(int64_t p, const RateBankOptions &options)
      : Learner(p, {1, int64_t(options.rates.size()), int64_t(options.rates.size())}), options(options), P_(p),
        variance(p * 8), held(p * 8), losses(8), e(p * 8), u(p * 8) {
    double padded[8];
    for (int i = 0; i < 8; i++) padded[i] = options.rates[std::min<std::size_t>(i, options.rates.size() - 1)];
    rates = Lanes::load(padded);
    reset();
  }
  Learner *copy() const override { return new RateBank(*this); }
  double rate() const override {  // of the last row; the share-weighted mean, on the scale of memories
    const Lanes last = greatest(rates, 1 / double(rows + 1));
    double share[8], memory = 0;
    shares(share);
    for (int64_t i = 0; i < members(); i++) memory += share[i] / last[int(i)];
    return 1 / memory;
  }

  void shares(double *out) const override { mixing_shares(losses.data(), members(), options.sharpness, out); }

  void posteriors(RowView x, double *out) const override {
    const int64_t c = classes();
    Scratch room(c * 8 + 8);
    scores_of_all(x, room.data());
    Lanes top = -1e300, whole = 0.0;
    for (int64_t j = 0; j < c; j++) top = greatest(top, at(room.data(), j));
    for (int64_t j = 0; j < c; j++) {
      const Lanes g = seen[j] ? exponential(at(room.data(), j) - top) : Lanes(0.0);
      g.store(room.data() + j * 8);
      whole = whole + g;
    }
    const Lanes share = Lanes(1.0) / greatest(whole, 1e-300);
    for (int64_t j = 0; j < c; j++) {
      const Lanes p = at(room.data(), j) * share;
      for (int64_t i = 0; i < members(); i++) out[i * c + j] = p[int(i)];
    }
  }

  void scores(RowView x, double *out) const override {
    Scratch room(members() * classes());
    posteriors(x, room.data());
    mix(room.data(), out);
  }

  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    const int64_t c = classes();
    const bool shows = wanted.kind == Wanted::kPosteriors;
    Scratch room(c + (shows ? 0 : members() * c));
    double *mixed = room.data(), *opinions = shows ? wanted.out : mixed + c;
    posteriors(x, opinions);
    int64_t given = -1;
    if (!shows) {
      mix(opinions, mixed);
      show_scores(mixed, wanted);
      given = highest(mixed, c);
    }
    for (int64_t i = 0; i < members(); i++)
      losses[i] = options.discount * losses[i] + weight * (rows == 0 || highest(opinions + i * c, c) != k);
    learn(x, k, weight == 1 ? rate_now() : rate_of(weight));
    return given;
  }

  void forget() override {
    for (Buffer *values : {&counts, &M, &weights, &half_square, &log_prior}) values->fill(0);
    std::fill(seen.begin(), seen.end(), 0);
    reset();
  }

  void visit(State &state) override {
    visit_classes(state);
    const int64_t p = features(), c = classes();
    state.integer("rows", rows);
    state.integer("since_refresh", since_refresh);
    state.integer("ridge_cursor", cursor);
    state.integers("seen", seen);
    if (int64_t(seen.size()) != c || cursor < 0 || cursor >= p || rows < 0) throw BadState("seen");
    state.matrix("total", total, 1, 8, 8);
    state.matrix("shift", shift_, 1, 8, 8);
    state.matrix("losses", losses, 1, 8, 8);
    state.matrix("counts", counts, c, 8, 8);
    state.unbounded([&] { state.matrix("log_prior", log_prior, c, 8, 8, below_infinity); });
    state.matrix("half_square", half_square, c, 8, 8);
    state.matrix("means", M, c, p * 8, p * 8);
    state.matrix("weights", weights, c, p * 8, p * 8);
    P_.visit(state);
    state.matrix("variance", variance, p, 8, 8);
    state.matrix("ridge_held", held, p, 8, 8);
  }

 protected:
  void insert(int64_t at) override {
    seen.insert(seen.begin() + at, 0);
    for (Buffer *values : {&counts, &half_square, &log_prior}) insert_row(*values, at, 8);
    for (Buffer *values : {&M, &weights}) insert_row(*values, at, features() * 8);
    along.resize(counts.size());
  }

 private:
  static constexpr double kMostEager = 1 - 1e-12;  // whatever a row counts for, something is left of those before it
  static constexpr int64_t kMostTurns = 7, kFewTurns = 3;  // of the ridge, a row: a turn costs half a row in wide ones

  static THALWEG_INLINE Lanes at(const double *values, int64_t i) { return Lanes::load(values + i * 8); }
  static THALWEG_INLINE Lanes at(const Buffer &values, int64_t i) { return at(values.data(), i); }
  static THALWEG_INLINE void set(Buffer &values, int64_t i, const Lanes &to) { to.store(values.data() + i * 8); }

  void reset() {
    P_.identity();
    variance.fill(1);
    held.fill(0);
    losses.assign(8, 0.0);
    std::copy(options.handicaps.begin(), options.handicaps.end(), losses.begin());
    total.assign(8, 1.0);  // the identity counts as one row of no class
    shift_.assign(8, 0.0);
    rows = since_refresh = cursor = 0;
  }

  // The logarithms of the members' probabilities, mixed.
  void mix(const double *opinions, double *out) const {
    const int64_t c = classes();
    double share[8];
    shares(share);
    for (int64_t j = 0; j < c; j++) {
      double p = 0;
      for (int64_t i = 0; i < members(); i++) p += share[i] * opinions[i * c + j];
      out[j] = std::log(p);
    }
  }

  Lanes rate_now() const { return greatest(rates, 1 / double(rows + 2)); }
  // Of w copies in sequence each rate would make 1 - (1 - rate)^w.
  Lanes rate_of(double weight) const {
    const Lanes once = rate_now();
    double lambda[8];
    for (int lane = 0; lane < 8; lane++) lambda[lane] = std::min(repeated(once[lane], weight), kMostEager);
    return Lanes::load(lambda);
  }

  void scores_of_all(const double *x, double *out) const {
    const int64_t p = features();
    for (int64_t c = 0; c < classes(); c++) {
      if (!seen[c]) {
        Lanes(-1e300).store(out + c * 8);
        continue;
      }
      Lanes g = at(log_prior, c) - at(half_square, c);
      for (int64_t j = 0; j < p; j++) g = g + at(weights, c * p + j) * x[j];
      g.store(out + c * 8);
    }
  }

  void learn(const double *x, int64_t k, const Lanes &lambda) {
    const int64_t p = features();
    const Lanes n = at(counts, k), keep = (Lanes(1.0) - lambda) * n;
    const Lanes gain = lambda / (keep + lambda), weight = lambda * (keep / (keep + lambda));
    const Lanes a = (Lanes(1.0) - lambda) * at(total, 0), grown = a + lambda, share = Lanes(1.0) / grown;
    for (int64_t j = 0; j < p; j++) {
      const Lanes m = at(M, k * p + j), d = Lanes(x[j]) - m;
      set(e, j, d);
      set(variance, j, share * (a * at(variance, j) + weight * d * d));
      set(M, k * p + j, m + gain * d);
    }
    bool stale = absorb({a, weight, grown / a}, gain, k);
    count(k, lambda, grown);
    rows++;
    stale |= top_up_ridge(a * share);
    if (rows % 16 == 0) stale |= P_.cap(variance);
    if (stale || ++since_refresh >= refresh_after(p)) refresh();
    for (int64_t c = 0; c < classes(); c++) {
      Lanes square = 0.0;
      for (int64_t i = 0; i < p; i++) square = square + at(weights, c * p + i) * at(M, c * p + i);
      set(half_square, c, Lanes(0.5) * square);
    }
  }

  // P and every w_c follow the change along e. True where P shrank so much that w has to be computed afresh.
  bool absorb(const LaneFactor::Change &change, const Lanes &gain, int64_t k) {
    const int64_t p = features();
    for (int64_t c = 0; c < classes(); c++) {
      Lanes dot = 0.0;
      for (int64_t j = 0; j < p; j++) dot = dot + at(weights, c * p + j) * at(e, j);
      set(along, c, dot);
    }
    const Lanes inverse = P_.absorb(e.data(), p - 1, change, u.data());
    const Lanes kappa = change.weight * inverse, shrink = change.a * inverse;
    for (int64_t c = 0; c < classes(); c++) {
      const Lanes factor = (c == k ? gain * shrink : Lanes(0.0)) - kappa * at(along, c);
      for (int64_t j = 0; j < p; j++)
        set(weights, c * p + j, change.scale * (at(weights, c * p + j) + factor * at(u, j)));
    }
    return any_above(kGreatShrink, shrink);
  }
  // The same for so much more variance of one feature.
  bool absorb_variance(int64_t feature, const Lanes &more) {
    const int64_t p = features();
    const Lanes inverse = P_.absorb_axis(feature, {1.0, more, 1.0}, u.data()), kappa = more * inverse;
    for (int64_t c = 0; c < classes(); c++) {
      const Lanes factor = Lanes(0.0) - kappa * at(weights, c * p + feature);
      for (int64_t j = 0; j < p; j++) set(weights, c * p + j, at(weights, c * p + j) + factor * at(u, j));
    }
    return any_above(kGreatShrink, inverse);
  }

  // Forgetting takes the same share of every class: what is common to all is left out of the priors, so that only
  // the row's own class needs a logarithm; now and then all are taken afresh.
  void count(int64_t k, const Lanes &lambda, const Lanes &grown) {
    const Lanes left = Lanes(1.0) - lambda;
    seen[k] = 1;
    set(total, 0, grown);
    set(shift_, 0, at(shift_, 0) - logarithm(left));
    for (int64_t c = 0; c < classes(); c++)
      if (seen[c]) set(counts, c, greatest(left * at(counts, c) + (c == k ? lambda : Lanes(0.0)), 1e-290));
    if (rows % 256 == 255) {
      set(shift_, 0, 0.0);
      for (int64_t c = 0; c < classes(); c++)
        if (seen[c]) set(log_prior, c, logarithm(at(counts, c)));
    } else {
      set(log_prior, k, logarithm(at(counts, k)) + at(shift_, 0));
    }
  }

  bool top_up_ridge(const Lanes &decay) {
    const int64_t p = features();
    for (int64_t j = 0; j < p; j++) set(held, j, at(held, j) * decay);
    double fastest = 1;
    for (int lane = 0; lane < 8; lane++) fastest = std::min(fastest, decay[lane]);
    const int64_t turns = std::min(turns_to_hold(p, fastest), p <= 16 ? kMostTurns : kFewTurns);
    bool stale = false;
    for (int64_t i = 0; i < turns; i++, cursor = (cursor + 1) % p) {
      const Lanes more = greatest(Lanes(options.ridge) - at(held, cursor), 0.0);
      stale |= absorb_variance(cursor, more);
      set(variance, cursor, at(variance, cursor) + more);
      set(held, cursor, at(held, cursor) + more);
    }
    return stale;
  }

  void refresh() {  // w = P m afresh
    const int64_t p = features();
    for (int64_t c = 0; c < classes(); c++) P_.apply(M.data() + c * p * 8, weights.data() + c * p * 8);
    since_refresh = 0;
  }

  RateBankOptions options;
  Lanes rates;
  LaneFactor P_;
  Buffer variance, held;                              // eight lanes each: per feature
  Buffer counts, log_prior, half_square, M, weights;  // per class
  Buffer total, shift_, losses;                       // one each
  Buffer e, u, along;                                 // the row at hand
  std::vector<int64_t> seen;
  int64_t rows = 0, since_refresh = 0, cursor = 0;
};

}  // namespace thalweg::THALWEG_LEVEL
