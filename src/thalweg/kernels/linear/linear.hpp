// What the additive and multiplicative linear learners share: a weight vector and a bias per class, scored against
// the augmented row [1, x], and classes that wake at their first row.
#pragma once

#include <algorithm>

#include "linear_algebra/simd.hpp"
#include "rate.hpp"

namespace thalweg::THALWEG_LEVEL {

// A uniform number in [0, 1) that depends on nothing but its three keys (SplitMix64's finaliser), so that a class's
// starting weights are the same however the rows are chunked.
inline double uniform(uint64_t seed, uint64_t arrival, uint64_t position) {
  uint64_t h = seed * 0x9e3779b97f4a7c15ull + arrival * 0xd1b54a32d192ed03ull + position * 0x8cb92ba72f3d8dd7ull;
  for (int round = 0; round < 2; round++) {
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    h ^= h >> 31;
  }
  return double(h >> 11) * 0x1p-53;
}

class Linear : public Learner {
 public:
  Linear(int64_t p, Rate rate) : Learner(p), width(p), rate_(std::move(rate)), z(width.stride(), 0.0) {}

  double rate() const override { return rate_.value; }

  void scores(const double *x, double *out) const override {
    Scratch at(width.stride());
    pad(x, at.data());
    score(at.data(), out);
  }

  int64_t step(const double *x, int64_t k) override { return weighted_step(x, k, 1); }

  void begin(const double *X, const int64_t *y, int64_t rows) override {
    std::fill(arrival.begin(), arrival.end(), -1);
    awake = 0;
    rate_.reset();
    forget();
    for (int64_t i = 0; i < rows; i++) step(X + i * features(), y[i]);
  }

  void visit(State &state) override {
    visit_classes(state);
    state.integers("arrival", arrival);
    if (int64_t(arrival.size()) != classes()) throw BadState("arrival");
    awake = std::count_if(arrival.begin(), arrival.end(), [](int64_t a) { return a >= 0; });
    state.matrix("bias", bias, 1, classes(), classes());
    state.matrix("weights", weights, classes(), features(), width.stride());
    rate_.visit(state);
  }

 protected:
  using V = Width<0>::V;
  static constexpr int L = Width<0>::L;

  virtual void score(const double *at, double *out) const {
    for (int64_t c = 0; c < classes(); c++)
      out[c] = arrival[c] < 0 ? -__builtin_inf() : bias[c] + width.dot(row(weights, c), at);
  }
  virtual void wake(int64_t k) = 0;  // a class's first row
  // The row is in z, its scores in score_; its step is `weight` times as large as that of a row that counts once.
  virtual void learn(int64_t k, int64_t given, double step_size, double weight) = 0;
  virtual void forget() {
    std::fill(bias.begin(), bias.end(), 0.0);
    std::fill(weights.begin(), weights.end(), 0.0);
  }

  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    pad(x, z.data());
    score(z.data(), score_.data());
    const int64_t given = highest(score_.data(), classes());
    if (arrival[k] < 0) {
      arrival[k] = awake++;
      wake(k);
    }
    learn(k, given, rate_.next(given != k), weight);
    return given;
  }

  void insert(int64_t at) override {
    arrival.insert(arrival.begin() + at, -1);
    insert_row(bias, at, 1);
    insert_row(weights, at, width.stride());
    score_.resize(arrival.size());
  }

  void pad(const double *x, double *to) const {
    std::copy(x, x + features(), to);
    std::fill(to + features(), to + width.stride(), 0.0);
  }
  const double *row(const Buffer &matrix, int64_t c) const { return matrix.data() + c * width.stride(); }
  double *row(Buffer &matrix, int64_t c) const { return matrix.data() + c * width.stride(); }

  // The best-scored class that is awake and not k; -1 where k is alone.
  int64_t rival(int64_t k) const {
    int64_t best = -1;
    for (int64_t c = 0; c < classes(); c++)
      if (c != k && arrival[c] >= 0 && (best < 0 || score_[c] > score_[best])) best = c;
    return best;
  }

  Width<0> width;
  Rate rate_;
  std::vector<int64_t> arrival;  // in which order the classes came; -1: not yet
  int64_t awake = 0;
  Buffer bias, weights, z, score_;
};

}  // namespace thalweg::THALWEG_LEVEL
