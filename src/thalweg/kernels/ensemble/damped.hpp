// A learner that sees slow features damped. A clock or a counter hardly changes over the memory of a quick learner, which takes
// its few values for a trend and extrapolates; the later the labels, the farther.
//
// A feature is slow by its mean squared change from row to row, relative to that of independent rows,
//     s = mean (z_t - z_{t-1})^2 / (2 mean z_t^2),
// and is multiplied by sqrt(s / kSlow) where that is below 1: the learner's ridge then outweighs what varies little.
// Rows are expected at unit scale (scaled.hpp). O(p) a row beside the learner.
#pragma once

#include "ensemble/row_wrapper.hpp"
#include "running_variance.hpp"

namespace thalweg::THALWEG_LEVEL {

class Damped final : public RowsWrapper<Damped> {
 public:
  explicit Damped(const Learner &inner)
      : RowsWrapper(inner, inner.features()), last(features()), squares(features()), changes(features()),
        factor(features(), 1.0) {}

  struct Changed {
    Changed(const double *x, const Damped &by) : room(by.features()) {
      for (int64_t j = 0; j < by.features(); j++) room.data()[j] = by.factor[j] * x[j];
    }
    const double *row() { return room.data(); }
    Scratch room;
  };
  Changed changed(const double *x) const { return {x, *this}; }
  // The first rows say nothing: their changes are those of a scale that is not settled yet.
  void follow(const double *x, int64_t, double weight) {
    rows += weight;
    const double counted = rows - kUnsettled, gain = std::max(weight / counted, repeated(kMemory, weight));
    for (int64_t j = 0; j < features(); j++) {
      const double change = x[j] - last[j];
      last[j] = x[j];
      if (counted < weight) continue;
      squares[j] += gain * (x[j] * x[j] - squares[j]);
      changes[j] += gain * (change * change - changes[j]);
    }
    find_factors();
  }

  void forget() override {
    rows = 0;
    for (Buffer *values : {&last, &squares, &changes}) values->fill(0);
    factor.fill(1);
    inner->forget();
  }
  void visit(State &state) override {
    RowWrapper::visit(state);
    state.under("damping_", [&] {
      state.real("rows", rows, not_negative);
      state.matrix("last", last, 1, features(), features(), finite);
      state.matrix("squares", squares, 1, features(), features(), amount);
      state.matrix("changes", changes, 1, features(), features(), amount);
    });
    find_factors();
  }

 private:
  static constexpr double kSlow = 0.005, kMemory = RunningVariance::kLongRun, kUnsettled = 100;

  void find_factors() {
    for (int64_t j = 0; j < features(); j++) {
      const double slow = 2 * kSlow * squares[j];
      factor[j] = changes[j] < slow ? std::sqrt(changes[j] / slow) : 1;
    }
  }

  double rows = 0;
  Buffer last, squares, changes, factor;
};

}  // namespace thalweg::THALWEG_LEVEL
