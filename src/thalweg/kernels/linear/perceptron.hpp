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

template <class Weights> class Perceptron final : public Linear<Weights> {
  THALWEG_LINEAR(Weights)

 public:
  Perceptron(int64_t p, PerceptronOptions options, Rate rate)
      : Base(p, std::move(rate), 2), options(options), late(p) {}
  Learner *copy() const override { return new Perceptron(*this); }

  void forget() override {
    Base::forget();
    late_bias.fill(0);
    late.clear();
    rows = 0;
  }
  void visit(State &state) override {
    Base::visit(state);
    state.integer("rows", rows);
    if (!options.averaged) return;
    state.matrix("late_bias", late_bias, 1, classes(), classes());
    late.visit(state, "late_weights", classes());
  }

 protected:
  void insert(int64_t at) override {
    Base::insert(at);
    current_.resize(score_.size());
    if (!options.averaged) return;
    insert_row(late_bias, at, 1);
    late.insert_class(at);
  }
  void make_room(const int64_t *ids, int64_t count) override {
    Base::make_room(ids, count);
    if (options.start_scale != 0) this->ids.insert(this->ids.end(), ids, ids + count);
    if constexpr (Weights::kSparse)
      if (options.averaged) late.appear(count);
  }

  // The average of all weights so far is w - late / rows: a change made after `rows` rows is missing from that many.
  void score(Row x, double *out) const override {
    Base::score(x, out);
    if (!options.averaged || rows == 0) return;
    for (int64_t c = 0; c < classes(); c++) out[c] -= (late_bias[c] + late.dot(c, x)) / double(rows);
  }

  void wake(int64_t k) override {  // "small random numbers"
    if (options.intercept) bias[k] = small(k, 0);
    this->start(k, 0);
  }
  void start(int64_t c, int64_t from) override {
    if (options.start_scale == 0) return;
    for (int64_t j = from; j < weights.features(); j++)
      weights.at(c, j) = starting_weight(c, Weights::kSparse ? ids[j] : j);
  }
  double starting_weight(int64_t c, int64_t feature) const override { return small(c, feature + 1); }

  void learn(Row x, int64_t k, int64_t, double eta, double weight) override {
    if (options.averaged) {  // the average answers, the current weights learn
      Base::score(x, current_.data());
      score_.swap(current_);
    } else if (score_[k] == -__builtin_inf()) {  // woken by this very row
      score_[k] = bias[k] + weights.dot(k, x);
    }
    const int64_t other = rival(k);
    // "<=" and not "<": from equal weights a strict test would never begin to learn.
    if (other >= 0 && score_[k] - score_[other] <= options.margin) {
      move(k, weight * eta / 2, x);
      move(other, -weight * eta / 2, x);
    }
    rows++;
  }

 private:
  double small(int64_t c, int64_t position) const {
    return options.start_scale * (2 * uniform(options.seed, arrival[c], position) - 1);
  }
  void move(int64_t c, double by, Row x) {
    if (options.intercept) bias[c] += by;
    weights.add(c, by, x);
    if (!options.averaged) return;
    if (options.intercept) late_bias[c] += by * double(rows);
    late.add(c, by * double(rows), x);
  }

  PerceptronOptions options;
  Weights late;
  Buffer late_bias, current_;
  std::vector<int64_t> ids;  // of the features of sparse rows, where their weights start at random
  int64_t rows = 0;
};

}  // namespace thalweg::THALWEG_LEVEL
