// Linear regressions of one target side by side, a lane each, over rows of unit scale with a constant beside them.
//
// Up to kWidest features: recursive least squares at eight forgetting rates, S <- gamma S + v v', w <- w + r P v / (gamma +
// v'Pv), with P = S^-1 as L D L' (linear_algebra/lane_factor.hpp), so that one pass over the row serves all rates. A rate
// sets in once the rows weigh 1 / rate. Entries of D stay below a bound: in directions that forgetting has emptied the
// weights stand still. O(p^2) a row.
//
// Features that are mostly zero, as those of categories, keep a ridge, so many rows of unit scale that say "no weight". The
// features of a column of categories sum to one, so that nothing but a ridge settles what they have in common, and what is
// rare is hardly ever corrected: forgetting would let both drift, and the first rows of a category be far off. A feature gets
// back what was forgotten of its ridge whenever its turn comes.
//
// Of more features: gradient steps w <- w + rate r v / v'v, where the rates are step sizes. O(p) a row.
#pragma once

#include "learner.hpp"
#include "linear_algebra/lane_factor.hpp"

namespace thalweg::THALWEG_LEVEL {

class LinearBank {
 public:
  static constexpr int64_t kWidest = 200;

  LinearBank(int64_t p, const std::vector<double> &given)
      : p(p), q(p + 1), rates_(int64_t(given.size())), P_(least_squares() ? q : 1), weights(q * kCount), v(q * kCount),
        u(q * kCount), held(least_squares() ? p * kCount : 0) {
    if (given.empty() || rates_ > kCount) throw std::invalid_argument("needs one to eight rates");
    double padded[kCount];
    for (int lane = 0; lane < kCount; lane++) padded[lane] = given[std::min<int64_t>(lane, rates_ - 1)];
    rates = Lanes::load(padded);
    begin();
  }

  int64_t members() const { return rates_; }
  void begin() {
    P_.identity();
    P_.scale(1 / kPrior);
    weights.fill(0);
    held.fill(kPrior);
    weight = 0;
    turn = -p;
  }

  Lanes answers(const double *z) const {
    Lanes sum = at(weights, p);
    for (int64_t j = 0; j < p; j++) sum = sum + at(weights, j) * z[j];
    return sum;
  }

  // The residuals of the answers to z, of a row that counts `times` times; beyond `limit` a lane counts the row for less.
  // `filled` are the shares of values that are not zero.
  void learn(const double *z, const double *filled, const Lanes &residual, double times, double limit) {
    if (least_squares()) square_step(z, filled, residual, times, limit);
    else gradient_step(z, residual, times, limit);
    weight += times;
  }

  void visit(State &state) {
    state.real("weight", weight, not_negative);
    state.matrix("weights", weights, q, kCount, kCount, finite);
    if (!least_squares()) return;
    state.integer("turn", turn, within<int64_t>(-p, p * kTurn - 1));
    state.matrix("held", held, p, kCount, kCount, not_negative);
    P_.visit(state);
  }

 private:
  static constexpr int kCount = Lanes::kCount;
  static constexpr double kPrior = 1e-2;  // rows of unit scale that say "no weight", at the start
  static constexpr double kMost = 1e3;    // of D: less than a thousandth of a row is known of a direction
  static constexpr double kRidge = 1;     // of a feature that is nearly always zero
  static constexpr int64_t kTurn = 4;     // rows until the next feature gets its ridge back

  bool least_squares() const { return p <= kWidest; }
  static THALWEG_INLINE Lanes at(const Buffer &values, int64_t i) { return Lanes::load(values.data() + i * kCount); }
  static THALWEG_INLINE void set(Buffer &values, int64_t i, const Lanes &to) { to.store(values.data() + i * kCount); }

  void square_step(const double *z, const double *filled, const Lanes &residual, double times, double limit) {
    const Lanes rate = pick(Lanes(1.0) > rates * weight, Lanes(0.0), rates);
    Lanes kept = Lanes(1.0) - rate, k = 1.0;
    if (times != 1) repeat(rate, times, kept, k);
    if (limit < __builtin_inf()) k = k * shortened(residual, limit);
    for (int64_t j = 0; j < p; j++) set(v, j, z[j]);
    set(v, p, 1.0);
    const Lanes inverse = P_.absorb(v.data(), p, {kept, k, Lanes(1.0) / kept}, u.data());
    const Lanes pace = k * residual * inverse;
    for (int64_t j = 0; j < q; j++) set(weights, j, at(weights, j) + pace * at(u, j));
    P_.hold_below(kMost);
    if (!(weight > 0)) return;  // of the shares nothing is known yet
    if (turn < 0 || turn % kTurn == 0) hold_ridge(turn < 0 ? turn + p : turn / kTurn, filled, kept);
    if (++turn == p * kTurn) turn = 0;
  }
  void hold_ridge(int64_t feature, const double *filled, const Lanes &kept) {
    const double ridge = kRidge * (1 - filled[feature]);
    double more[kCount], most = 0, *own = held.data() + feature * kCount;
    for (int lane = 0; lane < kCount; lane++) {
      own[lane] *= std::pow(kept[lane], double(p * kTurn));
      more[lane] = std::max(0.0, ridge - own[lane]);
      own[lane] += more[lane];
      most = std::max(most, more[lane]);
    }
    if (!(most > 0)) return;
    const Lanes mass = Lanes::load(more), inverse = P_.absorb_axis(feature, {1.0, mass, 1.0}, u.data());
    const Lanes back = mass * at(weights, feature) * inverse;
    for (int64_t j = 0; j < q; j++) set(weights, j, at(weights, j) - back * at(u, j));
  }
  // What is left of the rows before, and what the row counts for: as `times` copies in sequence.
  static void repeat(const Lanes &rate, double times, Lanes &kept, Lanes &k) {
    double fade[kCount], news[kCount];
    for (int lane = 0; lane < kCount; lane++) {
      const double lost = std::min(repeated(rate[lane], times), kMostEager);
      fade[lane] = 1 - lost;
      news[lane] = rate[lane] > 0 ? lost / rate[lane] : times;
    }
    kept = Lanes::load(fade), k = Lanes::load(news);
  }
  static Lanes shortened(const Lanes &residual, double limit) {
    double share[kCount];
    for (int lane = 0; lane < kCount; lane++) share[lane] = std::min(1.0, limit / std::fabs(residual[lane]));
    return Lanes::load(share);
  }
  void gradient_step(const double *z, const Lanes &residual, double times, double limit) {
    double square = 1, step[kCount];
    for (int64_t j = 0; j < p; j++) square += z[j] * z[j];
    for (int lane = 0; lane < kCount; lane++)
      step[lane] = repeated(rates[lane], times) * std::clamp(residual[lane], -limit, limit) / square;
    const Lanes pace = Lanes::load(step);
    for (int64_t j = 0; j < p; j++) set(weights, j, at(weights, j) + pace * z[j]);
    set(weights, p, at(weights, p) + pace);
  }
  static constexpr double kMostEager = 1 - 1e-12;  // whatever a row counts for, something is left of those before it

  int64_t p, q, rates_;
  Lanes rates;
  LaneFactor P_;
  Buffer weights, v, u;  // eight lanes for each feature and the constant
  Buffer held;           // the ridge that is left of each feature
  double weight = 0;     // of all rows
  int64_t turn = 0;      // rows since that of the first feature; negative before each had its first, one a row
};

}  // namespace thalweg::THALWEG_LEVEL
