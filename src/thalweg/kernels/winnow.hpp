// Balanced Winnow for streaming data (Kuncheva & Plumpton 2008, 2.2) in the log domain, for any number of classes.
//
// Class c weighs by w+ - w-, with w+ = a+ exp(s) and w- = a- exp(-s): the two always move against each other, so one
// exponent s per weight is the whole state. On a mistake the true class is promoted and the one answered is demoted.
// The second of two classes starts as the mirror image of the first and stays it: their difference is the paper's rule.
#pragma once

#include "linear.hpp"

namespace thalweg::THALWEG_LEVEL {

class Winnow final : public Linear {
 public:
  Winnow(int64_t p, uint64_t seed, bool decaying_rate, Rate rate)
      : Linear(p, std::move(rate)), seed(seed), decaying_rate(decaying_rate) {}
  Learner *copy() const override { return new Winnow(*this); }

  void visit(State &state) override {
    Linear::visit(state);
    state.matrix("bias_exponent", bias_exponent, 1, classes(), classes());
    state.matrix("exponents", exponents, classes(), features(), width.stride());
  }

 protected:
  void insert(int64_t at) override {
    Linear::insert(at);
    insert_row(bias_exponent, at, 1);
    insert_row(exponents, at, width.stride());
  }

  void wake(int64_t k) override { weigh(k); }

  void learn(int64_t k, int64_t given, double beta, double weight) override {
    if (given == k || given < 0) return;
    // beta ** -z = exp(z ln(1/beta)): a decaying rate is read as that logarithm itself.          eq. (1), (2)
    const double log_step = weight * (decaying_rate ? beta : -std::log(beta));
    promote(k, log_step);
    promote(given, -log_step);
  }

  void forget() override {
    Linear::forget();
    std::fill(bias_exponent.begin(), bias_exponent.end(), 0.0);
    std::fill(exponents.begin(), exponents.end(), 0.0);
  }

 private:
  static constexpr double kMostExponent = 300;  // exp(300) times any allowed value is finite

  void promote(int64_t c, double by) {
    const auto moved = [&](double s, double value) { return std::clamp(s + by * value, -kMostExponent, kMostExponent); };
    bias_exponent[c] = moved(bias_exponent[c], 1);
    for (int64_t j = 0; j < features(); j++) row(exponents, c)[j] = moved(row(exponents, c)[j], z[j]);
    weigh(c);
  }

  void weigh(int64_t c) {
    const bool mirrored = arrival[c] % 2;
    const uint64_t pair = arrival[c] / 2;
    const auto weight = [&](int64_t position, double s) {
      const double first = start(pair, 2 * position), second = start(pair, 2 * position + 1);
      return mirrored ? second * std::exp(s) - first * std::exp(-s) : first * std::exp(s) - second * std::exp(-s);
    };
    bias[c] = weight(0, bias_exponent[c]);
    for (int64_t j = 0; j < features(); j++) row(weights, c)[j] = weight(j + 1, row(exponents, c)[j]);
  }

  double start(uint64_t pair, uint64_t position) const { return 0.01 + 0.1 * uniform(seed, pair, position); }

  uint64_t seed;
  bool decaying_rate;
  Buffer bias_exponent, exponents;
};

}  // namespace thalweg::THALWEG_LEVEL
