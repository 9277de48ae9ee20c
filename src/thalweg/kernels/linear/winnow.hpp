// Balanced Winnow for streaming data (Kuncheva & Plumpton 2008, 2.2) in the log domain, for any number of classes.
//
// Class c weighs by w+ - w-, with w+ = a+ exp(s) and w- = a- exp(-s): the two always move against each other, so one
// exponent s per weight is the whole state. On a mistake the true class is promoted and the one answered is demoted.
// The second of two classes starts as the mirror image of the first and stays it: their difference is the paper's rule.
#pragma once

#include "linear/linear.hpp"
#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class Weights> class Winnow final : public Linear<Weights> {
  THALWEG_LINEAR(Weights)

 public:
  Winnow(int64_t p, uint64_t seed, bool decaying_rate, Rate rate)
      : Base(p, std::move(rate)), seed(seed), decaying_rate(decaying_rate), exponents(p), rising(p), falling(p) {}
  Learner *copy() const override { return new Winnow(*this); }

  void forget() override {
    Base::forget();
    bias_exponent.fill(0);
    exponents.clear();
  }
  void visit(State &state) override {
    Base::visit(state);
    state.matrix("bias_exponent", bias_exponent, 1, classes(), classes());
    exponents.visit(state, "exponents", classes());
    for (Weights *starts : {&rising, &falling}) starts->assign(classes());
    for (int64_t c = 0; c < classes(); c++)
      if (arrival[c] >= 0) draw(c, 0);
  }

 protected:
  void insert(int64_t at) override {
    Base::insert(at);
    insert_row(bias_exponent, at, 1);
    for (Weights *matrix : {&exponents, &rising, &falling}) matrix->insert_class(at);
  }
  void make_room(const int64_t *ids, int64_t count) override {
    Base::make_room(ids, count);
    this->ids.insert(this->ids.end(), ids, ids + count);
    if constexpr (Weights::kSparse)
      for (Weights *matrix : {&exponents, &rising, &falling}) matrix->appear(count);
  }

  void wake(int64_t k) override {
    draw(k, 0);
    weigh_bias(k);
    weigh(k);
  }
  void start(int64_t c, int64_t from) override {
    draw(c, from);
    if constexpr (Weights::kSparse)
      for (int64_t j = from; j < weights.features(); j++) weigh_one(c, j);
  }
  double starting_weight(int64_t c, int64_t feature) const override {
    const bool mirrored = arrival[c] % 2;
    return first(c, 2 * (feature + 1) + mirrored) - first(c, 2 * (feature + 1) + !mirrored);
  }

  void learn(Row x, int64_t k, int64_t given, double beta, double weight) override {
    if (given == k || given < 0) return;
    // beta ** -z = exp(z ln(1/beta)): a decaying rate is read as that logarithm itself.          eq. (1), (2)
    const double log_step = weight * (decaying_rate ? beta : -std::log(beta));
    promote(k, log_step, x);
    promote(given, -log_step, x);
  }

 private:
  static constexpr double kMostExponent = 300;  // exp(300) times any allowed value is finite
  static double moved(double s, double by) { return std::clamp(s + by, -kMostExponent, kMostExponent); }

  void promote(int64_t c, double by, Row x) {
    bias_exponent[c] = moved(bias_exponent[c], by);
    weigh_bias(c);
    if constexpr (Weights::kSparse) {
      for (int64_t i = 0; i < x.count; i++) {
        exponents.at(c, x.slots[i]) = moved(exponents.at(c, x.slots[i]), by * x.values[i]);
        weigh_one(c, x.slots[i]);
      }
    } else {
      double *s = exponents.of(c);
      for (int64_t j = 0; j < features(); j++) s[j] = moved(s[j], by * x[j]);
      weigh(c);
    }
  }

  // A class's a+ and a-, from this feature on; the second of a pair has them the other way round.
  void draw(int64_t c, int64_t from) {
    const bool mirrored = arrival[c] % 2;
    for (int64_t j = from; j < weights.features(); j++) {
      const int64_t position = 2 * ((Weights::kSparse ? ids[j] : j) + 1);
      rising.at(c, j) = first(c, position + mirrored);
      falling.at(c, j) = first(c, position + !mirrored);
    }
  }
  double first(int64_t c, uint64_t position) const { return 0.01 + 0.1 * uniform(seed, arrival[c] / 2, position); }

  void weigh_bias(int64_t c) {
    const bool mirrored = arrival[c] % 2;
    const double s = bias_exponent[c];
    bias[c] = first(c, mirrored) * std::exp(s) - first(c, !mirrored) * std::exp(-s);
  }
  void weigh(int64_t c) {
    if constexpr (Weights::kSparse) {
      for (int64_t j = 0; j < weights.features(); j++) weigh_one(c, j);
    } else {
      using V = Width<0>::V;
      for (int64_t j = 0; j < weights.stride(); j += Width<0>::L) {
        const V at = load<V>(exponents.of(c) + j);
        const V small = exponential_of(at < 0.0 ? at : -at), great = 1 / small;
        const V up = at < 0.0 ? small : great, down = at < 0.0 ? great : small;
        store<V>(weights.of(c) + j, load<V>(rising.of(c) + j) * up - load<V>(falling.of(c) + j) * down);
      }
    }
  }
  void weigh_one(int64_t c, int64_t j) {
    const double up = std::exp(exponents.at(c, j));
    weights.at(c, j) = rising.at(c, j) * up - falling.at(c, j) / up;
  }

  uint64_t seed;
  bool decaying_rate;
  Buffer bias_exponent;
  Weights exponents, rising, falling;  // s; a+ and a-, which the seed and the order of arrival tell
  std::vector<int64_t> ids;            // of the features of sparse rows
};

}  // namespace thalweg::THALWEG_LEVEL
