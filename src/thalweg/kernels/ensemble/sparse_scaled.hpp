// A learner of sparse rows behind on-line scaling (sparse_scale.hpp), over all rows at first and over some thousands of them
// later. The value at hand is among those that its feature is measured by: a rare feature would be blown up whose first value
// happened to be small.
#pragma once

#include "ensemble/row_wrapper.hpp"
#include "rows/sparse_row.hpp"
#include "sparse_scale.hpp"

namespace thalweg::THALWEG_LEVEL {

class SparseScaled final : public RowWrapper {
 public:
  explicit SparseScaled(const Learner &inner) : RowWrapper(inner, 0) {}
  SparseScaled(const SparseScaled &other) : RowWrapper(other), scale(other.scale) {}
  Learner *copy() const override { return new SparseScaled(*this); }

  void appear(const int64_t *ids, int64_t count) override {
    scale.appear(ids, count);
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
  void keep(const double *x, double *scored, uint8_t *kept) const override {
    Scaling own(SparseRow::of(x), *this);
    inner->keep(own.row.as_row(), scored, kept);
  }
  // The row is learned at the scale it was answered at; then the scale learns the row.
  void judged_step(const double *x, int64_t k, double weight, double *out) override {
    inner->judged_step(scaled(x, weight), k, weight, out);
  }
  int64_t probable_step(const double *x, int64_t k, double weight, double *out) override {
    return inner->probable_step(scaled(x, weight), k, weight, out);
  }
  int64_t scored_step(const double *x, int64_t k, double weight, double *out) override {
    return inner->scored_step(scaled(x, weight), k, weight, out);
  }

  void begin(const double *X, const int64_t *y, int64_t) override {
    scale.forget();
    inner->begin(X, y, 0);
  }
  void visit(State &state) override {
    visit_classes(state);
    inner->visit(state);
    scale.visit(state);
  }

 protected:
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    return inner->counted_step(scaled(x, weight), k, weight);
  }

 private:
  static constexpr double kMostRows = 10'000;

  // A row as it would be scaled now.
  struct Scaling {
    Scaling(const SparseRow &x, const SparseScaled &by) : room(x.count + x.unseen_count), row(x.with(room.data())) {
      for (int64_t i = 0; i < x.count; i++) room.data()[i] = by.scale.scaled_among(x.slots[i], x.values[i]);
      for (int64_t i = 0; i < x.unseen_count; i++)
        room.data()[x.count + i] = SparseScale::scaled_unseen(x.unseen_values[i]);
      row.unseen_values = room.data() + x.count;
    }
    Scratch room;
    SparseRow row;
  };

  const double *scaled(const double *given, double weight) {
    const SparseRow &x = SparseRow::of(given);
    if (int64_t(values.size()) < x.count) values.resize(x.count);
    scale.scale_and_learn(x, weight, values.data());
    row = x.with(values.data());
    return row.as_row();
  }

  SparseScale scale{kMostRows, true};
  Buffer values;  // of the row at hand
  SparseRow row;
};

}  // namespace thalweg::THALWEG_LEVEL
