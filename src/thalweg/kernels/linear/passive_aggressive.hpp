// Passive-aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006): the smallest change of the weights
// that answers the row with a margin of one, held back by C. For any number of classes the true class and its best rival
// move half of the step each, so that for two classes their difference moves as the paper's single vector does.
#pragma once

#include "linear/linear.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class Weights> class PassiveAggressive final : public Linear<Weights> {
  THALWEG_LINEAR(Weights)

 public:
  PassiveAggressive(int64_t p, double C, bool second)
      : Base(p, Rate(Rate::kConstant, 1, 0, Rate::kPower, 0, 1e300), 2), C(C), second(second) {}
  Learner *copy() const override { return new PassiveAggressive(*this); }

 protected:
  void learn(Row x, int64_t k, int64_t, double, double weight) override {
    const int64_t other = rival(k);
    if (other < 0) return;
    const double score = score_[k] == -__builtin_inf() ? 0 : score_[k];  // woken by this very row: zero weights
    const double loss = 1 - (score - score_[other]);
    if (!(loss > 0)) return;
    const double square = 1 + weights.squared_norm(x);  // |[1, x]|^2
    const double most = weight * C;                     // a row's share in the objective is its weight
    const double tau = second ? loss / (square + 1 / (2 * most)) : std::min(most, loss / square);  // PA-II, PA-I
    bias[k] += tau / 2;
    bias[other] -= tau / 2;
    weights.add(k, tau / 2, x);
    weights.add(other, -tau / 2, x);
  }

 private:
  double C;
  bool second;
};

}  // namespace thalweg::THALWEG_LEVEL
