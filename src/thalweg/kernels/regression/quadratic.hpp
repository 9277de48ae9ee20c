// Recursive least squares over the features of a row and the products of any two of them, at unit scale: a response surface of
// the second order, which finds interactions of two features long before tilings do. O(p^4) a row, for few features.
#pragma once

#include "learner.hpp"
#include "linear_algebra/factor.hpp"
#include "second_order.hpp"

namespace thalweg::THALWEG_LEVEL {

class Quadratic {
 public:
  static constexpr int64_t kWidest = 15;  // features: 136 terms

  explicit Quadratic(int64_t p)
      : p(p), width(second_order_terms(p) + 1), P_(width), w(width.stride()), v(w), u(w), unit(width.features(), 1.0) {
    begin();
  }

  void begin() {
    P_.identity();
    for (int64_t j = 0; j < width.features(); j++) P_.release(j, kPrior);
    w.fill(0);
    weight = 0;
  }
  double answer(const double *z) const {
    Scratch terms(width.stride());
    expand(z, terms.data());
    return width.dot(w.data(), terms.data());
  }
  // The answer to a row that is about to be learned.
  double answer(const double *z) {
    expand(z, v.data());
    return width.dot(w.data(), v.data());
  }
  // The row just answered, by its residual; beyond `limit` it counts for less.
  void learn(double residual, double times, double limit) {
    const double rate = weight * kForgetting < 1 ? 0 : kForgetting;
    const double lost = std::min(repeated(rate, times), kMostEager), fade = 1 - lost;
    const double news = (rate > 0 ? lost / rate : times) * std::min(1.0, limit / std::fabs(residual));
    const double inverse = P_.absorb(v.data(), RankOne{fade, news, 1 / fade}, u.data());
    width.add(w.data(), news * residual * inverse, u.data());
    P_.hold_above(unit, 1 / kMost);
    weight += times;
  }
  void visit(State &state) {
    state.real("weight", weight, not_negative);
    state.matrix("weights", w, 1, width.features(), width.stride(), finite);
    P_.visit(state);
  }

 private:
  static constexpr double kForgetting = 1e-3;
  static constexpr double kPrior = 0.1, kMost = 1e3;  // as in a linear bank; a stronger prior, of more terms
  static constexpr double kMostEager = 1 - 1e-12;     // whatever a row counts for, something is left of those before it

  void expand(const double *z, double *to) const {
    double *next = add_products(z, p, to);
    *next++ = 1;
    std::fill(next, to + width.stride(), 0.0);
  }

  int64_t p;
  Width<0> width;
  Factor<0> P_;
  Buffer w, v, u;     // of each term: the weight, and the row at hand
  Buffer unit;        // the scale of each
  double weight = 0;  // of all rows
};

}  // namespace thalweg::THALWEG_LEVEL
