// Balanced Winnow for streaming data (Kuncheva & Plumpton 2008, 2.2) in the log domain, for any number of classes.
//
// Class c weighs by w+ - w-, with w+ = a+ exp(s) and w- = a- exp(-s): the two always move against each other, so one
// exponent s per weight is the whole state. On a mistake the true class is promoted and the one answered is demoted.
// The second of two classes starts as the mirror image of the first and stays it: their difference is the paper's rule.
#pragma once

#include "linear/linear.hpp"
#include "linear_algebra/lanes.hpp"

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
    for (Buffer *starts : {&rising, &falling}) starts->assign(classes() * width.stride(), 0.0);
    for (int64_t c = 0; c < classes(); c++)
      if (arrival[c] >= 0) draw(c);
  }

 protected:
  void insert(int64_t at) override {
    Linear::insert(at);
    insert_row(bias_exponent, at, 1);
    for (Buffer *matrix : {&exponents, &rising, &falling}) insert_row(*matrix, at, width.stride());
  }

  void wake(int64_t k) override {
    draw(k);
    weigh(k);
  }

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
    const auto moved = [&](double s, double value) {
      return std::clamp(s + by * value, -kMostExponent, kMostExponent);
    };
    bias_exponent[c] = moved(bias_exponent[c], 1);
    for (int64_t j = 0; j < features(); j++) row(exponents, c)[j] = moved(row(exponents, c)[j], z[j]);
    weigh(c);
  }

  // A class's a+ and a-; the second of a pair has them the other way round.
  void draw(int64_t c) {
    const bool mirrored = arrival[c] % 2;
    for (int64_t j = 0; j < features(); j++) {
      row(mirrored ? falling : rising, c)[j] = start(c, 2 * (j + 1));
      row(mirrored ? rising : falling, c)[j] = start(c, 2 * (j + 1) + 1);
    }
  }
  double start(int64_t c, uint64_t position) const { return 0.01 + 0.1 * uniform(seed, arrival[c] / 2, position); }

  void weigh(int64_t c) {
    const bool mirrored = arrival[c] % 2;
    const double s = bias_exponent[c];
    bias[c] = start(c, mirrored) * std::exp(s) - start(c, !mirrored) * std::exp(-s);
    for (int64_t j = 0; j < width.stride(); j += L) {
      const V at = load<V>(row(exponents, c) + j);
      const V small = exponential_of(at < 0.0 ? at : -at), great = 1 / small;
      const V up = at < 0.0 ? small : great, down = at < 0.0 ? great : small;
      store<V>(row(weights, c) + j, load<V>(row(rising, c) + j) * up - load<V>(row(falling, c) + j) * down);
    }
  }

  uint64_t seed;
  bool decaying_rate;
  Buffer bias_exponent, exponents;
  Buffer rising, falling;  // a+ and a-, which the seed and the order of arrival tell
};

}  // namespace thalweg::THALWEG_LEVEL
