// What the additive and multiplicative linear learners share: a weight vector and a bias per class, scored against
// the augmented row [1, x], and classes that wake at their first row.
#pragma once

#include "linear/weights.hpp"
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

template <class Weights> class Linear : public Learner {
 public:
  using Row = typename Weights::Row;

  Linear(int64_t p, Rate rate, double confidence = 1)
      : Learner(p, {confidence}), rate_(std::move(rate)), weights(p), holder(weights) {}

  double rate() const override { return rate_.value; }

  void scores(RowView x, double *out) const override {
    typename Weights::Reader reader(weights, x);
    score(reader.row(), out);
  }

  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    Row row = holder.read(weights, x);
    score(row, score_.data());
    this->show_scores(score_.data(), wanted);
    const int64_t given = highest(score_.data(), classes());
    if (arrival[k] < 0) {
      arrival[k] = awake++;
      wake(k);
    }
    learn(row, k, given, rate_.next(given != k), weight);
    return given;
  }

  void forget() override {
    std::fill(arrival.begin(), arrival.end(), -1);
    awake = 0;
    rate_.reset();
    bias.fill(0);
    weights.clear();
  }

  void appear(const int64_t *ids, int64_t count) override {
    if constexpr (Weights::kSparse) {
      const int64_t before = weights.features();
      make_room(ids, count);
      for (int64_t c = 0; c < classes(); c++)
        if (arrival[c] >= 0) start(c, before);
    }
  }

  void visit(State &state) override {
    visit_classes(state);
    state.integers("arrival", arrival, classes());
    awake = std::count_if(arrival.begin(), arrival.end(), [](int64_t a) { return a >= 0; });
    state.matrix("bias", bias, 1, classes(), classes());
    weights.visit(state, "weights", classes());
    rate_.visit(state);
  }

 protected:
  virtual void score(Row x, double *out) const {
    if constexpr (Weights::kSparse) {
      weights.dots(x, out);
      for (int64_t c = 0; c < classes(); c++) {
        out[c] = arrival[c] < 0 ? -__builtin_inf() : bias[c] + out[c];
        for (int64_t i = 0; i < x.unseen_count; i++) out[c] += starting_weight(c, x.unseen[i]) * x.unseen_values[i];
      }
    } else {
      for (int64_t c = 0; c < classes(); c++) out[c] = arrival[c] < 0 ? -__builtin_inf() : bias[c] + weights.dot(c, x);
    }
  }
  // The weights from this feature on get what they have at a class's first row, and at their own.
  virtual void start(int64_t, int64_t) {}
  // The same of a feature that no learned row had.
  virtual double starting_weight(int64_t, int64_t) const { return 0; }
  virtual void wake(int64_t k) { start(k, 0); }  // a class's first row
  // The scores of the row are in score_; its step is `weight` times as large as that of a row that counts once.
  virtual void learn(Row x, int64_t k, int64_t given, double step_size, double weight) = 0;
  // More features, in sparse weights.
  virtual void make_room(const int64_t *, int64_t count) {
    if constexpr (Weights::kSparse) weights.appear(count);
  }

  void insert(int64_t at) override {
    arrival.insert(arrival.begin() + at, -1);
    insert_row(bias, at, 1);
    weights.insert_class(at);
    score_.resize(arrival.size());
  }

  // The best-scored class that is awake and not k; -1 where k is alone.
  int64_t rival(int64_t k) const {
    int64_t best = -1;
    for (int64_t c = 0; c < classes(); c++)
      if (c != k && arrival[c] >= 0 && (best < 0 || score_[c] > score_[best])) best = c;
    return best;
  }

  Rate rate_;
  std::vector<int64_t> arrival;  // in which order the classes came; -1: not yet
  int64_t awake = 0;
  Weights weights;
  typename Weights::Holder holder;
  Buffer bias, score_;
};

// What a learner inherits from the template is only found by name with this.
#define THALWEG_LINEAR(Weights) \
  using Base = Linear<Weights>; \
  using typename Base::Row;     \
  using Base::arrival;          \
  using Base::bias;             \
  using Base::classes;          \
  using Base::features;         \
  using Base::insert_row;       \
  using Base::rival;            \
  using Base::score_;           \
  using Base::weights;

}  // namespace thalweg::THALWEG_LEVEL
