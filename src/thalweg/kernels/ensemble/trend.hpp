// Forecast class means (Schnackenberg, Ligges & Weihs 2018): a straight line through a class's recent running means,
// against the times those means stand for, tells where the mean will be when the next row comes.
//
// A Trail holds what one class recorded: its mean y after each of its own updates, and the shifted time z that mean
// stands for. A WindowedLine holds the sums of the regression over the last `window` time points of a trail, each row
// entering and leaving once, so that a row costs O(p) whatever the window. Sums are kept about a reference and are
// taken afresh once per turnover of the window: rounding never outlives it.
#pragma once

#include "learner.hpp"
#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

// Recorded means of one class, oldest first, numbered for good.
class Trail {
 public:
  explicit Trail(int64_t p) : p(p) {}

  int64_t first() const { return dropped; }
  int64_t end() const { return dropped + int64_t(times.size()) - head; }
  int64_t time(int64_t i) const { return times[at(i)]; }
  double lag(int64_t i) const { return lags[at(i)]; }  // z = time - lag: small numbers, however late the time
  const double *mean(int64_t i) const { return means.data() + at(i) * p; }

  void record(int64_t time, double lag, const double *mean) {
    times.push_back(time);
    lags.push_back(lag);
    means.insert(means.end(), mean, mean + p);
  }
  void drop_before(int64_t i) {
    head += i - dropped;
    dropped = i;
    if (head > 64 && head > int64_t(times.size()) / 2) compact();  // amortised: half of it is new since the last time
  }

  void visit(State &state) {
    compact();
    state.integer("dropped", dropped, not_negative);
    state.integers("times", times);
    const int64_t count = int64_t(times.size());
    lags.resize(count);
    means.resize(count * p);
    state.matrix("lags", lags, 1, count, count);
    state.matrix("means", means, count, p, p);
    if (!std::is_sorted(times.begin(), times.end())) throw BadState("times");
  }

 private:
  void compact() {
    times.erase(times.begin(), times.begin() + head);
    lags.erase(lags.begin(), lags.begin() + head);
    means.erase(means.begin(), means.begin() + head * p);
    head = 0;
  }
  int64_t at(int64_t i) const { return head + i - dropped; }
  int64_t p, dropped = 0, head = 0;
  std::vector<int64_t> times;
  Buffer lags, means;
};

// Least squares of y on z over the records of the last `window` time points.                            eq. (8)-(12)
class WindowedLine {
 public:
  explicit WindowedLine(int64_t p) : p(p), sum_y(p), sum_zy(p), reference_y(p) {}

  int64_t oldest() const { return from; }
  int64_t count() const { return to - from; }

  void enter(const Trail &trail) {
    if (count() == 0) refer(trail, to);
    add(trail, to++, 1);
    if (--until_afresh <= 0) afresh(trail);
  }
  void leave_before(const Trail &trail, int64_t time) {
    while (from < to && trail.time(from) <= time) add(trail, from++, -1);
  }

  // The line's value at time `target`; false where no line can be drawn.
  bool forecast(int64_t target, double *out) const {
    const Shape line = shape(target);
    if (!line.drawable) return false;
    for (int64_t j = 0; j < p; j++)
      out[j] = reference_y[j] + sum_y[j] / line.n + slope(line, j) * line.ahead;  // eq. (11)
    return true;
  }

  // The standard error of that value, straight from the records; infinite where it is not known.
  void standard_error(const Trail &trail, int64_t target, double *out) const {
    const Shape line = shape(target);
    for (int64_t j = 0; j < p; j++) {
      out[j] = __builtin_inf();
      if (!line.drawable || count() < 3) continue;
      double residual = 0;
      for (int64_t i = from; i < to; i++) {
        const double fitted = sum_y[j] / line.n + slope(line, j) * (z_of(trail, i) - line.mean_z);
        const double d = trail.mean(i)[j] - reference_y[j] - fitted;
        residual += d * d;
      }
      out[j] = std::sqrt(residual / (line.n - 2) * (1 / line.n + line.ahead * line.ahead / line.spread));
    }
  }

  void visit(State &state, const Trail &trail) {
    state.integer("from", from);
    state.integer("to", to);
    state.integer("until_afresh", until_afresh);
    state.integer("reference_time", reference_time);
    state.real("reference_lag", reference_lag);
    state.real("sum_z", sum_z);
    state.real("sum_zz", sum_zz);
    state.matrix("reference_y", reference_y, 1, p, p);
    state.matrix("sum_y", sum_y, 1, p, p);
    state.matrix("sum_zy", sum_zy, 1, p, p);
    if (from > to || from < trail.first() || to != trail.end()) throw BadState("from");
  }

 private:
  struct Shape {
    double n, mean_z, spread, ahead;
    bool drawable;
  };
  Shape shape(int64_t target) const {
    const double n = double(count()), mean_z = sum_z / n, spread = sum_zz - n * mean_z * mean_z;  // eq. (12)
    const double ahead = double(target - reference_time) + reference_lag - mean_z;
    return {n, mean_z, spread, ahead, count() >= 2 && spread > 1e-9 * (sum_zz + 1e-9)};
  }
  double slope(const Shape &line, int64_t j) const {  // alpha_1 of eq. (12)
    return (sum_zy[j] - line.mean_z * sum_y[j]) / line.spread;
  }
  double z_of(const Trail &trail, int64_t i) const {
    return double(trail.time(i) - reference_time) - (trail.lag(i) - reference_lag);
  }
  void refer(const Trail &trail, int64_t i) {
    reference_time = trail.time(i);
    reference_lag = trail.lag(i);
    std::copy_n(trail.mean(i), p, reference_y.begin());
    sum_z = sum_zz = 0;
    std::fill(sum_y.begin(), sum_y.end(), 0.0);
    std::fill(sum_zy.begin(), sum_zy.end(), 0.0);
  }
  void add(const Trail &trail, int64_t i, double sign) {
    const double z = z_of(trail, i);
    const double *y = trail.mean(i);
    sum_z += sign * z;
    // Rounded when it enters, fused when it leaves: models continue to the same bytes whatever is compiled beside this.
    const volatile double square = z * z;
    sum_zz = sign > 0 ? sum_zz + square : fused(-z, z, sum_zz);
    for (int64_t j = 0; j < p; j++) {
      const double d = sign * (y[j] - reference_y[j]);
      sum_y[j] += d;
      sum_zy[j] += z * d;
    }
  }
  void afresh(const Trail &trail) {
    refer(trail, to - 1);
    for (int64_t i = from; i < to; i++) add(trail, i, 1);
    until_afresh = std::max<int64_t>(count(), 16);
  }

  int64_t p, from = 0, to = 0, until_afresh = 16, reference_time = 0;
  double reference_lag = 0, sum_z = 0, sum_zz = 0;
  Buffer sum_y, sum_zy, reference_y;
};

}  // namespace thalweg::THALWEG_LEVEL
