// The forecasting discriminant: a base learner whose class means are replaced by their forecast for the coming row.
//
// One window: the paper's rule, with the base's own covariance. Several: a bank over the same recorded means, each
// window with the covariance of its own forecast residuals, their posteriors mixed with weights exp(-sharpness L),
// where L is the window's discounted count of mistakes.
#pragma once

#include "ensemble/trend.hpp"
#include "linear_algebra/factor.hpp"
#include "linear_algebra/numbers.hpp"

namespace thalweg::THALWEG_LEVEL {

struct ForecasterOptions {
  std::vector<int64_t> windows;
  int64_t horizon = 1;
  double discount = 0.99, sharpness = 0.5, residual_rate = 0.01;  // of the bank
};

class Forecaster final : public Learner {
 public:
  Forecaster(const MeanLearner &base, ForecasterOptions options)
      : Learner(base.features(), {1, int64_t(options.windows.size())}), options(std::move(options)), base(base.copy()),
        x_(base.features()) {
    for (int64_t window : this->options.windows) bank.emplace_back(window, features());
  }
  Learner *copy() const override { return new Forecaster(*this); }
  double rate() const override { return base->rate(); }

  void shares(double *out) const override {
    for (std::size_t i = 0; i < bank.size(); i++) out[i] = bank[i].loss;
    mixing_shares(out, members(), options.sharpness, out);
  }

  void scores(RowView x, double *out) const override {
    Scratch room(features() + members() + classes());
    double *at = room.data(), *share = at + features(), *own = share + members();
    base->localise(x, at);
    if (members() > 1) shares(share);
    score<double>(at, share, own, out);
  }

  // Whatever it counts for, a row is one step of time.
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    show(x, wanted);
    const int64_t given = answer(x);
    const bool of_the_start = base->starting();
    if (members() > 1) learn_bank(x, k, weight);
    base->step(x, k, weight);
    note(k, of_the_start);
    return given;
  }

  // Eight rows side by side, as `answer` would answer each of them.
  int64_t mistakes_on(const double *X, const int64_t *y, int64_t rows) const override {
    constexpr int kCount = Lanes::kCount;
    const int64_t p = features(), c = classes();
    Scratch room(p + members() + kCount * (p + 2 * c));
    double *shift = room.data(), *share = shift + p, *at = share + members(), *own = at + kCount * p;
    double *score_of = own + kCount * c;
    std::fill(at, at + p, 0.0);
    base->localise(at, shift);  // minus the origin
    if (members() > 1) shares(share);
    const Answered most = answer_in_lanes(X, y, rows, p, shift, at, [&](const double *row) {
      score<Lanes>(row, share, own, score_of);
      return best_of<Lanes>(score_of, c);
    });
    return most.wrong + Learner::mistakes_on(X + most.rows * p, y + most.rows, rows - most.rows);
  }

  void forget() override { begin(nullptr, nullptr, nullptr, 0); }
  void begin(const double *X, const int64_t *y, const double *weights, int64_t rows) override {
    std::fill(lag.begin(), lag.end(), 0.0);
    std::fill(last_time.begin(), last_time.end(), 0);
    trails.assign(classes(), Trail(features()));
    for (Member &member : bank) {
      member.lines.assign(classes(), WindowedLine(features()));
      member.loss = 0;
    }
    now = 0;
    // The base sees all rows at once; a class's shifted time is the mean of its times.                  eq. (10)
    base->begin(X, y, weights, rows);
    Buffer count(classes(), 0.0);
    for (int64_t i = 0; i < rows; i++) {
      const double weight = weights ? weights[i] : 1;
      if (!(weight > 0)) continue;
      const double t = double(++now), z = double(last_time[y[i]]) - lag[y[i]];
      count[y[i]] += weight;
      lag[y[i]] = t - (z + (t - z) * weight / count[y[i]]);
      last_time[y[i]] = now;
    }
    started = now;
    adopt_covariance();
    aim();
  }

  // Where each class is heading: forecast means, and the standard errors of the line; those of window `member`.
  void forecast(int64_t member, double *means, double *errors) {
    const int64_t p = features();
    Buffer origin(p, 0.0), zero(p, 0.0);
    base->localise(zero.data(), origin.data());  // minus the origin the means are measured from
    for (int64_t c = 0; c < classes(); c++) {
      std::fill(errors + c * p, errors + (c + 1) * p, __builtin_inf());
      const Member &m = bank[member];
      if (blend(m, c) > 0) m.lines[c].standard_error(trails[c], now + options.horizon, errors + c * p);
      for (int64_t j = 0; j < p; j++) means[c * p + j] = m.means[c * p + j] - origin[j];
    }
  }

  void visit(State &state) override {
    visit_classes(state);
    base->visit(state);
    if (base->classes() != classes()) throw BadState("n_classes");
    state.integer("trend_now", now);
    state.integer("trend_started", started);
    state.matrix("trend_lag", lag, 1, classes(), classes());
    state.integers("trend_last_time", last_time);
    if (int64_t(last_time.size()) != classes() || now < 0 || started > now) throw BadState("trend_last_time");
    for (int64_t c = 0; c < classes(); c++) {
      const std::string name = "trail" + std::to_string(c) + "_";
      state.part(name, trails[c]);
      for (std::size_t i = 0; i < bank.size(); i++)
        state.under(name + "line" + std::to_string(i) + "_", [&] { bank[i].lines[c].visit(state, trails[c]); });
    }
    if (members() > 1)
      for (std::size_t i = 0; i < bank.size(); i++) state.part("member" + std::to_string(i) + "_", bank[i]);
    aim();
  }

 protected:
  void insert(int64_t at) override {
    base->announce(at);
    insert_row(lag, at, 1);
    insert_row(last_time, at, 1);
    trails.insert(trails.begin() + at, Trail(features()));
    for (Member &member : bank) {
      member.lines.insert(member.lines.begin() + at, WindowedLine(features()));
      insert_row(member.means, at, features());
      insert_row(member.weights, at, features());
      insert_row(member.bias, at, 1);
      member.bias[at] = -__builtin_inf();
    }
  }

 private:
  struct Member {
    Member(int64_t window, int64_t p)
        : window(window), residual(p), variance(Width<0>(p).stride(), 1.0), padded(variance.size(), 0.0), u(padded) {}
    void visit(State &state) {
      state.real("loss", loss, not_negative);
      residual.visit(state);
      const int64_t p = int64_t(means.size() / std::max<std::size_t>(lines.size(), 1));
      if (p > 0) state.matrix("variance", variance, 1, p, int64_t(variance.size()));
    }
    int64_t window;
    Factor<0> residual;               // inverse covariance of this window's forecast residuals
    Buffer variance;                  // of the residuals over all rows: what a still feature is measured by
    Buffer padded, u;                 // room
    std::vector<WindowedLine> lines;  // per class
    Buffer means, weights, bias;      // per class: forecast mean m, w = P m, ln P_c - m'w / 2
    double loss = 0;
  };

  // A feature that stands still for a while keeps this share of its variance: it must not drown the others.
  static constexpr double kLeastShare = 1e-3;
  static constexpr double kMostEager = 1 - 1e-12;  // whatever a row counts for, something is left of those before it

  // The score of each class for the row at `at`, or for as many rows as N holds; `own` is room for as many.
  template <class N> THALWEG_INLINE void score(const double *at, const double *share, double *own, double *out) const {
    constexpr int kCount = Of<N>::kCount;
    const int64_t c = classes();
    if (members() == 1) return discriminants<N>(bank[0], at, out);
    for (int64_t j = 0; j < c; j++) store<N>(out + j * kCount, N(0.0));
    for (int64_t i = 0; i < members(); i++) {
      discriminants<N>(bank[i], at, own);
      add_posterior<N>(bank[i], own, share[i], out);
    }
    for (int64_t j = 0; j < c; j++) {
      const N mixed = load<N>(out + j * kCount);
      store<N>(out + j * kCount, usually(mixed > N(0.0), logarithm(mixed), N(-__builtin_inf())));
    }
  }
  template <class N> THALWEG_INLINE void discriminants(const Member &member, const double *at, double *out) const {
    constexpr int kCount = Of<N>::kCount;
    for (int64_t c = 0; c < classes(); c++) {
      const double *w = member.weights.data() + c * features();
      N dot = 0.0;
      for (int64_t j = 0; j < features(); j++) dot = fused(N(w[j]), load<N>(at + j * kCount), dot);
      store<N>(out + c * kCount, N(member.bias[c]) + dot);  // eq. (13)
    }
  }

  template <class N>
  THALWEG_INLINE void add_posterior(const Member &member, double *g, double share, double *out) const {
    constexpr int kCount = Of<N>::kCount;
    N top = -__builtin_inf(), whole = 0.0;
    for (int64_t c = 0; c < classes(); c++) top = greatest(load<N>(g + c * kCount), top);
    const auto seen = [&](int64_t c) THALWEG_LAMBDA { return member.bias[c] > -__builtin_inf(); };
    for (int64_t c = 0; c < classes(); c++) {
      if (!seen(c)) continue;
      const N likelihood = exponential(load<N>(g + c * kCount) - top);
      store<N>(g + c * kCount, likelihood);
      whole = whole + likelihood;
    }
    const N part = N(share) / whole;
    for (int64_t c = 0; c < classes(); c++)
      if (seen(c)) store<N>(out + c * kCount, fused(part, load<N>(g + c * kCount), load<N>(out + c * kCount)));
  }

  // Each window is judged by its own answer, and learns the covariance of its own residual.
  void learn_bank(const double *x, int64_t k, double weight) {
    Scratch room(classes());
    base->localise(x, x_.data());
    const bool known = base->log_prior_of(k) > -__builtin_inf();
    const double all = double(now) + weight;
    const double rho = std::min(std::max(repeated(options.residual_rate, weight), weight / all), kMostEager);
    for (Member &member : bank) {
      discriminants<double>(member, x_.data(), room.data());
      member.loss = options.discount * member.loss + weight * (highest(room.data(), classes()) != k);
      if (!known || base->starting()) continue;
      for (int64_t j = 0; j < features(); j++) member.padded[j] = x_[j] - member.means[k * features() + j];
      for (int64_t j = 0; j < features(); j++) {
        double &variance = member.variance[j];
        const double square = std::min(member.padded[j] * member.padded[j], 100 * variance);  // wild values are cut
        variance += (square - variance) * weight / all;
      }
      member.residual.absorb(member.padded.data(), RankOne{1 - rho, rho, 1 / (1 - rho)}, member.u.data());
      member.residual.hold_above(member.variance, kLeastShare);
    }
  }

  // After the base has learned a row of class k.
  void note(int64_t k, bool of_the_start) {
    now++;
    const double z = double(last_time[k] - now) - lag[k];  // the shifted time, relative to now
    lag[k] = -(z - base->last_gain() * z);                 // eq. (1) with the time in place of x
    last_time[k] = now;
    if (of_the_start) {
      started = now;
      if (!base->starting()) adopt_covariance();
    }
    if (now > started) {
      trails[k].record(now, lag[k], base->mean(k));
      for (Member &member : bank) member.lines[k].enter(trails[k]);
    }
    for (int64_t c = 0; c < classes(); c++) {
      int64_t oldest = trails[c].end();
      for (Member &member : bank) {
        member.lines[c].leave_before(trails[c], now - member.window);  // eq. (8)
        oldest = std::min(oldest, member.lines[c].oldest());
      }
      trails[c].drop_before(oldest);
    }
    aim();
  }

  // The bank begins with the covariance the base starts from.
  void adopt_covariance() {
    if (members() == 1) return;
    const int64_t p = features();
    Buffer precision(p * p), unit(p, 0.0);
    for (int64_t j = 0; j < p; j++) {
      unit[j] = 1;
      base->weigh(unit.data(), precision.data() + j * p);
      unit[j] = 0;
    }
    for (Member &member : bank) {
      member.residual.adopt(precision.data());
      for (int64_t j = 0; j < p; j++) member.variance[j] = 1 / precision[j * p + j];  // at most the variance itself
    }
  }

  // The share of the trend in the forecast: none before a window of steps has passed, and none again for a class that
  // stays away, fading over the second half of the window.
  double blend(const Member &member, int64_t c) const {
    if (now - started < member.window || trails[c].end() == trails[c].first()) return 0;
    const double age = double(now - last_time[c]), half = 0.5 * double(member.window);
    return std::clamp((double(member.window) - age) / half, 0.0, 1.0);
  }

  // The forecast means of every window, and their discriminants.
  void aim() {
    const int64_t p = features();
    for (Member &member : bank)
      for (int64_t c = 0; c < classes(); c++) {
        double *mean = member.means.data() + c * p, *w = member.weights.data() + c * p;
        const double *own = base->mean(c);
        const double share = blend(member, c);
        if (share > 0 && member.lines[c].forecast(now + options.horizon, mean))
          for (int64_t j = 0; j < p; j++) mean[j] = own[j] + share * (mean[j] - own[j]);
        else std::copy_n(own, p, mean);
        if (members() > 1) {
          std::copy_n(mean, p, member.padded.begin());
          member.residual.apply(member.padded.data(), member.u.data());
          std::copy_n(member.u.begin(), p, w);
        } else {
          base->weigh(mean, w);
        }
        double square = 0;
        for (int64_t j = 0; j < p; j++) square += mean[j] * w[j];
        member.bias[c] = base->log_prior_of(c) - 0.5 * square;
      }
  }

  ForecasterOptions options;
  Owned<MeanLearner> base;
  Buffer lag;                      // per class: how far its mean lags behind the time it was last updated
  std::vector<int64_t> last_time;  // per class: when that was
  std::vector<Trail> trails;       // per class
  std::vector<Member> bank;        // one per window
  Buffer x_;
  int64_t now = 0, started = 0;  // rows learned; of these, rows of the start
};

}  // namespace thalweg::THALWEG_LEVEL
