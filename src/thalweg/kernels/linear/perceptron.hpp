// The perceptron for streaming data (Kuncheva & Plumpton 2008, 2.1), with margin and averaging (Wu & Snell 2016), for
// any number of classes: on a violation the true class gains half a step and its best rival loses half, so that
// for two classes the difference of their weights moves by the paper's whole step.
#pragma once

#include "linear/linear.hpp"

namespace thalweg::THALWEG_LEVEL {

struct PerceptronOptions {
  double margin = 0, start_scale = 0.01;
  bool averaged = false, intercept = true;
  uint64_t seed = 0;
};

class Perceptron final : public Linear {
 public:
  Perceptron(int64_t p, PerceptronOptions options, Rate rate) : Linear(p, std::move(rate)), options(options) {}
  Learner *copy() const override { return new Perceptron(*this); }
  double confidence() const override { return 2; }

  void visit(State &state) override {
    Linear::visit(state);
    state.integer("rows", rows);
    if (!options.averaged) return;
    state.matrix("late_bias", late_bias, 1, classes(), classes());
    state.matrix("late_weights", late_weights, classes(), features(), width.stride());
  }

 protected:
  void insert(int64_t at) override {
    Linear::insert(at);
    current_.resize(score_.size());
    if (!options.averaged) return;
    insert_row(late_bias, at, 1);
    insert_row(late_weights, at, width.stride());
  }

  // The average of all weights so far is w - late / rows: a change made after `rows` rows is missing from that many.
  void score(const double *at, double *out) const override {
    Linear::score(at, out);
    if (!options.averaged || rows == 0) return;
    for (int64_t c = 0; c < classes(); c++)
      out[c] -= (late_bias[c] + width.dot(row(late_weights, c), at)) / double(rows);
  }

  void wake(int64_t k) override {  // "small random numbers"
    const auto small = [&](int64_t j) { return options.start_scale * (2 * uniform(options.seed, arrival[k], j) - 1); };
    if (options.intercept) bias[k] = small(0);
    for (int64_t j = 0; j < features(); j++) row(weights, k)[j] = small(j + 1);
  }

  void learn(int64_t k, int64_t, double eta, double weight) override {
    if (options.averaged) {  // the average answers, the current weights learn
      Linear::score(z.data(), current_.data());
      score_.swap(current_);
    } else if (score_[k] == -__builtin_inf()) {  // woken by this very row
      score_[k] = bias[k] + width.dot(row(weights, k), z.data());
    }
    const int64_t other = rival(k);
    // "<=" and not "<": from equal weights a strict test would never begin to learn.
    if (other >= 0 && score_[k] - score_[other] <= options.margin) {
      move(k, weight * eta / 2);
      move(other, -weight * eta / 2);
    }
    rows++;
  }

  void forget() override {
    Linear::forget();
    std::fill(late_bias.begin(), late_bias.end(), 0.0);
    std::fill(late_weights.begin(), late_weights.end(), 0.0);
    rows = 0;
  }

 private:
  void move(int64_t c, double by) {
    if (options.intercept) bias[c] += by;
    width.add(row(weights, c), by, z.data());
    if (!options.averaged) return;
    if (options.intercept) late_bias[c] += by * double(rows);
    width.add(row(late_weights, c), by * double(rows), z.data());
  }

  PerceptronOptions options;
  Buffer late_bias, late_weights, current_;
  int64_t rows = 0;
};

}  // namespace thalweg::THALWEG_LEVEL
