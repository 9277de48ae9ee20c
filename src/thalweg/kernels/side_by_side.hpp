// Streams of two features side by side, one discriminant in each lane of a vector: for sweeps over small streams.
//
// Every lane does what `Discriminant<2>` does, operation for operation and in its order, so that it ends with the same
// bits. A product that is there rounded before it is added is written `apart(a, b)` here, else the compiler would fuse
// the two. What is rare, the start and a cap, is left to the learner itself.
#pragma once

#include "discriminant.hpp"

namespace thalweg::THALWEG_LEVEL {

// With hard counts and a constant rate, what follows from a class's count n = 0, 1, … alone.
class CountTable {
 public:
  struct Entry {
    double gain, weight, log_prior, log_count;  // as in Discriminant::learn and Discriminant::count
  };
  CountTable(bool covariance_2008, double rate, int64_t rows) : entries_(rows + 1) {
    const double fade = 1 - rate, news = rate;
    for (int64_t i = 0; i <= rows; i++) {
      const double n = double(i), keep = fade * n + 0.0, beta = (n + 1) * fade / (keep + news);
      const double rest = keep / (keep + news);
      Entry &entry = entries_[i];
      entry.gain = news / (keep + news);
      entry.weight = covariance_2008 ? news * rest * rest : news * n / (n + 1) * beta * beta;
      entry.log_prior = std::log(i > 0 ? n + news / fade : 1.0);
      entry.log_count = news == fade ? entry.log_prior : std::log(n + 1);
    }
  }
  const Entry *data() const { return entries_.data(); }

 private:
  std::vector<Entry> entries_;
};

class SideBySide {
  using V = VectorOf<kLanes>::type;
  typedef int64_t I __attribute__((vector_size(sizeof(V))));
  using D2 = Discriminant<2>;

 public:
  // Whether a learner may take part: two features, a constant rate, no ridge.
  static D2 *fitting(Learner &learner) {
    auto *found = dynamic_cast<D2 *>(&learner);
    return found && found->options.ridge == 0 && found->rate_.is_constant() && found->rows == 0 ? found : nullptr;
  }
  static bool alike(const D2 &a, const D2 &b) {
    return a.options.soft_counts == b.options.soft_counts && a.options.covariance_2008 == b.options.covariance_2008 &&
           a.options.warmup == b.options.warmup && a.rate_.value == b.rate_.value && a.classes() == b.classes();
  }

  // A learner, its rows, its labels, and where its answers go.
  struct Stream {
    D2 *learner;
    const double *X;
    const int64_t *y;
    int64_t *answers;
  };

  // Test-then-train, for streams that are alike, all of them of as many rows.
  static void run(const std::vector<Stream> &streams, int64_t rows) {
    const D2 &first = *streams[0].learner;
    const CountTable table(first.options.covariance_2008, first.rate_.value, first.options.soft_counts ? 0 : rows);
    std::size_t done = 0;
    for (; done + 2 * kLanes <= streams.size(); done += 2 * kLanes) run_pair(streams.data() + done, rows, table);
    for (; done < streams.size(); done++) {
      Outputs out;
      out.answers = streams[done].answers;
      streams[done].learner->run(streams[done].X, streams[done].y, rows, out);
    }
  }

 private:
  // Two vectors of streams: the processor works on one while the other waits for its last row.
  static void run_pair(const Stream *streams, int64_t rows, const CountTable &table) {
    const int64_t start = std::min(rows, streams[0].learner->warm_left);
    for (int i = 0; i < 2 * kLanes; i++)
      for (int64_t t = 0; t < start; t++)
        streams[i].answers[t] = streams[i].learner->step(streams[i].X + 2 * t, streams[i].y[t]);
    if (start == rows) return;
    SideBySide one(streams, table.data()), other(streams + kLanes, table.data());
    for (int64_t t = start; t < rows; t++) {
      one.step(t);
      other.step(t);
    }
    one.give_back();
    other.give_back();
  }

  SideBySide(const Stream *streams, const CountTable::Entry *table)
      : streams(streams), table(table), options(streams[0].learner->options), classes(streams[0].learner->classes()),
        rate(streams[0].learner->rate_.value), total(streams[0].learner->total), of_class(classes) {
    for (int i = 0; i < kLanes; i++) take(i);
  }

  struct OfClass {
    V count, log_prior, half_square, m0, m1, w0, w1;
  };

  template <class Factor> static THALWEG_INLINE V apart(V a, Factor b) { return a * b + 0.0; }
  static THALWEG_INLINE V pick(I mask, V yes, V no) { return mask ? yes : no; }
  // By bits, so that a fused `yes` is not taken apart into a product and a masked sum.
  static THALWEG_INLINE V pick_fused(I mask, V yes, V no) { return (V)((mask & (I)yes) | (~mask & (I)no)); }

  THALWEG_INLINE void step(int64_t t) {
    V z0, z1;
    I k;
    for (int i = 0; i < kLanes; i++) {
      z0[i] = streams[i].X[2 * t];
      z1[i] = streams[i].X[2 * t + 1];
      k[i] = streams[i].y[t];
    }
    z0 -= origin0;
    z1 -= origin1;
    // The answer, eq. (3)
    I given = I{} - 1;
    V top = broadcast<V>(-__builtin_inf());
    for (const OfClass &c : of_class) {
      const V score = c.log_prior - c.half_square + (apart(c.w0, z0) + apart(c.w1, z1));
      const I higher = score > top, place = I{} + (&c - of_class.data());
      given = higher ? place : given;
      top = pick(higher, score, top);
    }
    for (int i = 0; i < kLanes; i++) streams[i].answers[t] = given[i];

    // Discriminant::learn
    V n{}, m0{}, m1{};
    for (int64_t c = 0; c < classes; c++) {
      const I own = k == c;
      n = pick(own, of_class[c].count, n);
      m0 = pick(own, of_class[c].m0, m0);
      m1 = pick(own, of_class[c].m1, m1);
    }
    // All lanes have seen as many rows at the same rate, so their totals are one number.
    const double fade = 1 - rate, news = rate, a = fade * total + 0.0, grown = a + news;
    const double share = 1 / grown, scale = grown / a;
    V gain, weight, log_tilted, log_whole;
    if (options.soft_counts) {
      const V keep = apart(n, fade), rest = keep / (keep + news);
      gain = news / (keep + news);
      weight = options.covariance_2008 ? news * rest * rest : news * rest;
    } else {
      for (int i = 0; i < kLanes; i++) {
        const CountTable::Entry &entry = table[int64_t(n[i])];
        gain[i] = entry.gain, weight[i] = entry.weight;
        log_tilted[i] = entry.log_prior, log_whole[i] = entry.log_count;
      }
    }
    last_gain = gain;
    const V e0 = z0 - m0, e1 = z1 - m1;
    variance0 = share * (a * variance0 + weight * e0 * e0);
    variance1 = share * (a * variance1 + weight * e1 * e1);
    m0 = m0 + gain * e0;
    m1 = m1 + gain * e1;
    for (int64_t c = 0; c < classes; c++) {
      const I own = k == c;
      of_class[c].m0 = pick_fused(own, m0, of_class[c].m0);
      of_class[c].m1 = pick_fused(own, m1, of_class[c].m1);
    }

    // Factor::absorb: u = P e, then P itself
    const V f0 = e0 + apart(upper, e1), f1 = e1 + 0.0;
    const V g0 = diagonal0 * f0, g1 = diagonal1 * f1;
    const V last_term = apart(weight * f1, g1), both_terms = apart(weight * f0, g0) + last_term;
    const V after1 = a + last_term, after0 = a + both_terms;
    const V inverse1 = 1 / after1, inverse0 = 1 / after0, lambda0 = -weight * f0 * inverse1;
    diagonal0 = scale * diagonal0 * (after1 * inverse0);
    diagonal1 = scale * diagonal1 * (a * inverse1);
    const V u1 = g1 + g0 * upper;
    upper = upper + g1 * lambda0;

    // Discriminant::absorb: every w = P m follows
    const V kappa = weight / after0, shrink = a / after0, own_gain = apart(gain, shrink);
    for (int64_t c = 0; c < classes; c++) {
      OfClass &of = of_class[c];
      const V along = apart(of.w0, e0) + apart(of.w1, e1);
      const V factor = pick(k == c, own_gain, V{}) - kappa * along;
      of.w0 = scale * (of.w0 + factor * g0);
      of.w1 = scale * (of.w1 + factor * u1);
      of.half_square = 0.5 * (apart(of.w0, of.m0) + apart(of.w1, of.m1));
    }
    if (options.soft_counts) count_softly(k, grown);
    else count(k, n, log_tilted, log_whole);
    rows_done++;

    const V floor0 = variance0 > kLeast ? variance0 : broadcast<V>(kLeast), ratio0 = diagonal0 * floor0;
    const V floor1 = variance1 > kLeast ? variance1 : broadcast<V>(kLeast), ratio1 = diagonal1 * floor1;
    const I stale = shrink < D2::kGreatShrink, capped = (ratio0 > kMost) | (ratio1 > kMost);
    since_refresh += 1;
    const I due = stale | (since_refresh >= D2::kRefresh);
    if (any(capped)) refresh(due | cap(capped));
    else if (any(due)) refresh(due);
  }

  static THALWEG_INLINE bool any(I mask) {
    int64_t found = 0;
    for (int i = 0; i < kLanes; i++) found |= mask[i];
    return found;
  }

  THALWEG_INLINE void count_softly(I k, double grown) {
    total = grown;
    for (OfClass &of : of_class) {
      V left = apart(of.count, 1 - rate);
      left = of.count > 1e-290 ? left : V{};
      of.count = pick(k == (&of - of_class.data()), left + rate, left);
      for (int i = 0; i < kLanes; i++) of.log_prior[i] = std::log(of.count[i]);
    }
  }
  THALWEG_INLINE void count(I k, V n, V log_tilted, V log_whole) {
    for (int64_t c = 0; c < classes; c++) {
      OfClass &of = of_class[c];
      of.count = pick(k == c, n + 1.0, of.count);
      of.log_prior = pick(k == c, log_tilted, pick(last == c, log_count, of.log_prior));
    }
    total += 1;
    log_count = log_whole;
    last = k;
  }

  // The learners of these lanes cap their factors themselves; the lanes where that changed something.
  __attribute__((noinline)) I cap(I lanes) {
    I changed{};
    for (int i = 0; i < kLanes; i++) {
      if (!lanes[i]) continue;
      give_back(i);
      D2 &learner = *streams[i].learner;
      if (learner.P_.cap(learner.variance)) changed[i] = -1;
      take(i);
    }
    return changed;
  }

  // Discriminant::refresh in these lanes: w = P m afresh.
  __attribute__((noinline)) void refresh(I lanes) {
    for (OfClass &of : of_class) {
      const V g0 = diagonal0 * (of.m0 + apart(upper, of.m1)), g1 = apart(diagonal1, of.m1 + 0.0), w1 = g1 + g0 * upper;
      of.half_square = pick_fused(lanes, 0.5 * (apart(g0, of.m0) + apart(w1, of.m1)), of.half_square);
      of.w0 = pick_fused(lanes, g0, of.w0);
      of.w1 = pick_fused(lanes, w1, of.w1);
    }
    since_refresh &= ~lanes;
  }

  void take(int i) {
    const D2 &one = *streams[i].learner;
    origin0[i] = one.origin[0], origin1[i] = one.origin[1];
    variance0[i] = one.variance[0], variance1[i] = one.variance[1];
    const auto [u, d0, d1] = one.P_.entries();
    upper[i] = u, diagonal0[i] = d0, diagonal1[i] = d1;
    log_count[i] = one.log_count, last_gain[i] = one.last_gain_;
    last[i] = one.last, since_refresh[i] = one.since_refresh;
    for (int64_t c = 0; c < classes; c++) {
      OfClass &of = of_class[c];
      of.count[i] = one.counts[c], of.log_prior[i] = one.log_prior[c], of.half_square[i] = one.half_square[c];
      of.m0[i] = one.M[2 * c], of.m1[i] = one.M[2 * c + 1];
      of.w0[i] = one.weights[2 * c], of.w1[i] = one.weights[2 * c + 1];
    }
  }
  void give_back(int i) {
    D2 &one = *streams[i].learner;
    one.rows += rows_done - rows_given[i];
    rows_given[i] = rows_done;
    one.variance[0] = variance0[i], one.variance[1] = variance1[i];
    one.P_.set_entries({upper[i], diagonal0[i], diagonal1[i]});
    one.total = total, one.log_count = log_count[i], one.last_gain_ = last_gain[i];
    one.last = last[i], one.since_refresh = since_refresh[i];
    for (int64_t c = 0; c < classes; c++) {
      const OfClass &of = of_class[c];
      one.counts[c] = of.count[i], one.log_prior[c] = of.log_prior[i], one.half_square[c] = of.half_square[i];
      one.M[2 * c] = of.m0[i], one.M[2 * c + 1] = of.m1[i];
      one.weights[2 * c] = of.w0[i], one.weights[2 * c + 1] = of.w1[i];
    }
  }
  void give_back() {
    for (int i = 0; i < kLanes; i++) give_back(i);
  }

  static constexpr double kLeast = Factor<2>::kLeastVariance, kMost = Factor<2>::kSlack / Factor<2>::kResolution;

  const Stream *streams;
  const CountTable::Entry *table;
  const DiscriminantOptions options;
  const int64_t classes;
  const double rate;
  double total;
  std::vector<OfClass, CacheAligned<OfClass>> of_class;
  V origin0, origin1, variance0, variance1, upper, diagonal0, diagonal1, log_count, last_gain;
  I last, since_refresh;
  int64_t rows_done = 0;
  int64_t rows_given[kLanes] = {};
};

}  // namespace thalweg::THALWEG_LEVEL
