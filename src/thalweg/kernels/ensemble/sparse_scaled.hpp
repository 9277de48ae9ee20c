// A learner of sparse rows behind on-line scaling: every value relative to the root mean square of those that its feature had
// where it was not zero, over all rows at first and over some thousands of them later. Nothing is centred: zeros stay zeros.
//
// O(1) for each value that is not zero; two numbers for each feature seen.
#pragma once

#include <memory>

#include "learner.hpp"
#include "rows/sparse_row.hpp"

namespace thalweg::THALWEG_LEVEL {

class SparseScaled final : public Learner {
 public:
  explicit SparseScaled(const Learner &inner) : Learner(inner), inner(inner.copy()) {}
  SparseScaled(const SparseScaled &other)
      : Learner(other), inner(other.inner->copy()), counts(other.counts), squares(other.squares) {}
  Learner *copy() const override { return new SparseScaled(*this); }

  double rate() const override { return inner->rate(); }
  double confidence() const override { return inner->confidence(); }
  int64_t members() const override { return inner->members(); }
  void shares(double *out) const override { inner->shares(out); }
  int64_t voices() const override { return inner->voices(); }

  void appear(const int64_t *ids, int64_t count) override {
    counts.resize(counts.size() + count);
    squares.resize(squares.size() + count);
    inner->appear(ids, count);
  }
  void scores(const double *x, double *out) const override {
    Scaling own(SparseRow::of(x), *this);
    inner->scores(own.row.as_row(), out);
  }
  void posteriors(const double *x, double *out) const override {
    Scaling own(SparseRow::of(x), *this);
    inner->posteriors(own.row.as_row(), out);
  }
  // The row is learned at the scale it was answered at; then the scale learns the row.
  void judged_step(const double *x, int64_t k, double weight, double *out) override {
    inner->judged_step(scaled(x, weight), k, weight, out);
  }
  int64_t probable_step(const double *x, int64_t k, double weight, double *out) override {
    return inner->probable_step(scaled(x, weight), k, weight, out);
  }
  int64_t step(const double *x, int64_t k) override { return weighted_step(x, k, 1); }

  void begin(const double *X, const int64_t *y, int64_t) override {
    counts.fill(0);
    squares.fill(0);
    inner->begin(X, y, 0);
  }
  void visit(State &state) override {
    visit_classes(state);
    inner->visit(state);
    const auto slots = int64_t(counts.size());
    state.matrix("scaler_counts", counts, 1, slots, slots);
    state.matrix("scaler_squares", squares, 1, slots, slots);
    for (const Buffer *values : {&counts, &squares})
      for (double value : *values)
        if (!(value >= 0 && std::isfinite(value))) throw BadState("scaler_squares");
  }

 protected:
  void insert(int64_t at) override { inner->announce(at); }
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    return inner->counted_step(scaled(x, weight), k, weight);
  }

 private:
  static constexpr double kMostRows = 10'000;

  // A row as it would be scaled now. A value that its feature has for the first time is 1 or -1.
  struct Scaling {
    Scaling(const SparseRow &x, const SparseScaled &by) : room(x.count + x.unseen_count), row(x) {
      for (int64_t i = 0; i < x.count; i++) room.data()[i] = by.relative(x.values[i], x.slots[i]);
      for (int64_t i = 0; i < x.unseen_count; i++) room.data()[x.count + i] = sign(x.unseen_values[i]);
      row.values = room.data();
      row.unseen_values = room.data() + x.count;
    }
    Scratch room;
    SparseRow row;
  };
  static double sign(double value) { return double(value > 0) - double(value < 0); }
  double relative(double value, int64_t slot) const {
    return squares[slot] > 0 ? value / std::sqrt(squares[slot]) : sign(value);
  }

  const double *scaled(const double *given, double weight) {
    const SparseRow &x = SparseRow::of(given);
    if (int64_t(values.size()) < x.count) values.resize(x.count);
    for (int64_t i = 0; i < x.count; i++) {
      const double value = x.values[i];
      double &count = counts[x.slots[i]], &square = squares[x.slots[i]];
      values[i] = relative(value, x.slots[i]);
      count = std::min(count + weight, kMostRows);
      if (count > 0) square += std::min(1.0, weight / count) * (value * value - square);
    }
    row = x;
    row.values = values.data();
    return row.as_row();
  }

  std::unique_ptr<Learner> inner;
  Buffer counts, squares;  // of each feature: rows that had it, and their mean square
  Buffer values;           // of the row at hand
  SparseRow row;
};

}  // namespace thalweg::THALWEG_LEVEL
