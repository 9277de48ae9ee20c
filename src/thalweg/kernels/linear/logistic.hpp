// Multinomial logistic regression by stochastic gradient: w_c += eta ([c = k] - p_c) [1, x].
#pragma once

#include "linear/linear.hpp"

namespace thalweg::THALWEG_LEVEL {

class Logistic final : public Linear {
 public:
  Logistic(int64_t p, double penalty, Rate rate) : Linear(p, std::move(rate)), penalty(penalty) {}
  Learner *copy() const override { return new Logistic(*this); }

 protected:
  void wake(int64_t k) override { score_[k] = 0; }  // zero weights

  void learn(int64_t k, int64_t, double eta, double weight) override {
    double top = -__builtin_inf(), whole = 0;
    for (int64_t c = 0; c < classes(); c++) top = std::max(top, score_[c]);
    for (int64_t c = 0; c < classes(); c++) whole += score_[c] = std::exp(score_[c] - top);
    // A step beyond 4 / |[1, x]|^2 would overshoot the very row it learns: large rows are held to that.
    const double step = std::min(weight * eta, 4 / (1 + width.dot(z.data(), z.data())));
    for (int64_t c = 0; c < classes(); c++) {
      if (arrival[c] < 0) continue;
      const double pull = step * ((c == k) - score_[c] / whole);
      if (penalty > 0)
        for (int64_t j = 0; j < width.stride(); j++) row(weights, c)[j] *= 1 - std::min(1.0, step * penalty);
      bias[c] += pull;
      width.add(row(weights, c), pull, z.data());
    }
  }

 private:
  double penalty;
};

}  // namespace thalweg::THALWEG_LEVEL
