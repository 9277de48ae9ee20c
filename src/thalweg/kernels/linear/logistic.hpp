// Multinomial logistic regression by stochastic gradient: w_c += eta ([c = k] - p_c) [1, x], at one rate or with a step
// size for each feature.
#pragma once

#include "linear/feature_steps.hpp"
#include "linear/linear.hpp"

namespace thalweg::THALWEG_LEVEL {

struct LogisticOptions {
  double penalty = 0;
  bool per_feature = false;
  double forgetting = 0;       // of squared gradients, with a step size for each feature
  double initial_squares = 1;  // what they start from
};

template <class Weights> class Logistic final : public Linear<Weights> {
  THALWEG_LINEAR(Weights)

 public:
  Logistic(int64_t p, LogisticOptions options, Rate rate)
      : Base(p, std::move(rate)), options(options), steps(weights, options.forgetting, options.initial_squares) {}
  Learner *copy() const override { return new Logistic(*this); }

  void forget() override {
    Base::forget();
    steps.clear();
    unit = 1;
  }
  void visit(State &state) override {
    Base::visit(state);
    if (options.per_feature) steps.visit(state, weights.features());
    if (!Weights::kSparse || !(options.penalty > 0)) return;
    state.real("weights_unit", unit, [](double u) { return u > 0 && u <= 1; });
  }

 protected:
  void insert(int64_t at) override {
    Base::insert(at);
    pulls.resize(score_.size());
  }
  void make_room(const int64_t *ids, int64_t count) override {
    Base::make_room(ids, count);
    if (options.per_feature) steps.appear(count);
  }
  void score(Row x, double *out) const override {
    Base::score(x, out);
    if (unit == 1) return;
    for (int64_t c = 0; c < classes(); c++) out[c] = bias[c] + unit * (out[c] - bias[c]);
  }
  void wake(int64_t k) override { score_[k] = 0; }  // zero weights

  void learn(Row x, int64_t k, int64_t, double eta, double weight) override {
    double top = -__builtin_inf(), whole = 0;
    for (int64_t c = 0; c < classes(); c++) top = std::max(top, score_[c]);
    for (int64_t c = 0; c < classes(); c++) whole += score_[c] = std::exp(score_[c] - top);
    for (int64_t c = 0; c < classes(); c++) pulls[c] = arrival[c] < 0 ? 0 : (c == k) - score_[c] / whole;
    if (options.per_feature) {
      double square = 0;  // fused, so that it is rounded alike whatever number of classes was only announced
      for (int64_t c = 0; c < classes(); c++) square = std::fma(pulls[c], pulls[c], square);
      const double length = steps.learn(x, square);
      move(steps.scaled(), std::min(weight * eta, 4 / length), steps.bias_step());
    } else {
      // A step beyond 4 / |[1, x]|^2 would overshoot the very row it learns: large rows are held to that.
      move(x, std::min(weight * eta, 4 / (1 + weights.squared_norm(x))), 1);
    }
  }

 private:
  void move(Row x, double step, double bias_step) {
    if (options.penalty > 0) shrink(1 - std::min(1.0, step * options.penalty));
    for (int64_t c = 0; c < classes(); c++) {
      pulls[c] *= step;
      bias[c] += bias_step * pulls[c];
      pulls[c] /= unit;
    }
    weights.add_all(pulls.data(), classes(), x);
  }
  // All weights times `kept`. Sparse ones are `unit` times what is stored: only the unit changes, mostly.
  void shrink(double kept) {
    if (!Weights::kSparse) return weights.shrink(kept);
    unit *= kept;
    if (unit > 1e-60) return;
    weights.shrink(unit);
    unit = 1;
  }

  LogisticOptions options;
  FeatureSteps<Weights> steps;
  Buffer pulls;
  double unit = 1;
};

}  // namespace thalweg::THALWEG_LEVEL
