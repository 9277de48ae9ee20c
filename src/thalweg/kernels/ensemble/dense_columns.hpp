// A learner of dense rows over the first columns of sparse ones: of a table with text, its other columns.
//
// O(1) for each value of the row, and what the learner inside takes.
#pragma once

#include "ensemble/row_wrapper.hpp"
#include "rows/sparse_row.hpp"

namespace thalweg::THALWEG_LEVEL {

class DenseColumns final : public RowWrapper {
 public:
  explicit DenseColumns(const Learner &inner) : RowWrapper(inner, 0) {}
  DenseColumns(const DenseColumns &other) : RowWrapper(other), columns(other.columns) {}
  Learner *copy() const override { return new DenseColumns(*this); }

  void appear(const int64_t *ids, int64_t count) override {
    for (int64_t i = 0; i < count; i++) columns.push_back(ids[i] < inner->features() ? ids[i] : -1);
  }
  void scores(const double *x, double *out) const override { inner->scores(Dense(x, *this).row(), out); }
  void posteriors(const double *x, double *out) const override { inner->posteriors(Dense(x, *this).row(), out); }
  void keep(const double *x, double *scored, uint8_t *kept) const override {
    inner->keep(Dense(x, *this).row(), scored, kept);
  }
  void judged_step(const double *x, int64_t k, double weight, double *out) override {
    inner->judged_step(Dense(x, *this).row(), k, weight, out);
  }
  int64_t probable_step(const double *x, int64_t k, double weight, double *out) override {
    return inner->probable_step(Dense(x, *this).row(), k, weight, out);
  }
  void begin(const double *X, const int64_t *y, int64_t) override { inner->begin(X, y, 0); }
  void visit(State &state) override {
    visit_classes(state);
    inner->visit(state);
    if (inner->classes() != classes()) throw BadState("n_classes");
  }

 protected:
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    return inner->counted_step(Dense(x, *this).row(), k, weight);
  }

 private:
  class Dense {
   public:
    Dense(const double *x, const DenseColumns &of) : room_(of.inner->features()) {
      const SparseRow &row = SparseRow::of(x);
      const int64_t p = of.inner->features();
      std::fill(room_.data(), room_.data() + p, 0.0);
      for (int64_t i = 0; i < row.count; i++)
        if (of.columns[row.slots[i]] >= 0) room_.data()[of.columns[row.slots[i]]] = row.values[i];
      for (int64_t i = 0; i < row.unseen_count; i++)
        if (row.unseen[i] < p) room_.data()[row.unseen[i]] = row.unseen_values[i];
    }
    const double *row() { return room_.data(); }

   private:
    Scratch room_;
  };

  std::vector<int64_t> columns;  // of each slot; -1: it is not dense
};

}  // namespace thalweg::THALWEG_LEVEL
