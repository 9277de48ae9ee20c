// A learner of sparse rows whose first columns are dense: these are centred and scaled on line, as rows of numbers are, so
// that it does not matter where they have their zero.
//
// O(1) for each value of the row and for each dense column.
#pragma once

#include "ensemble/row_wrapper.hpp"
#include "rows/sparse_row.hpp"
#include "running_variance.hpp"

namespace thalweg::THALWEG_LEVEL {

class CentredColumns final : public RowWrapper {
 public:
  CentredColumns(const Learner &inner, int64_t dense)
      : RowWrapper(inner, 0), moments(dense, RunningVariance::kLongRun, true), slots(dense, -1), x_(dense) {}
  CentredColumns(const CentredColumns &other)
      : RowWrapper(other), moments(other.moments), slots(other.slots), columns(other.columns), x_(other.x_) {}
  Learner *copy() const override { return new CentredColumns(*this); }

  void appear(const int64_t *ids, int64_t count) override {
    for (int64_t i = 0; i < count; i++) {
      const bool dense = ids[i] < int64_t(slots.size());
      if (dense) slots[ids[i]] = int32_t(columns.size());
      columns.push_back(dense ? ids[i] : -1);
    }
    inner->appear(ids, count);
  }
  void scores(const double *x, double *out) const override { inner->scores(Centred(x, *this).row.as_row(), out); }
  void posteriors(const double *x, double *out) const override {
    inner->posteriors(Centred(x, *this).row.as_row(), out);
  }
  void keep(const double *x, double *scored, uint8_t *kept) const override {
    inner->keep(Centred(x, *this).row.as_row(), scored, kept);
  }
  // The row is learned as it was answered; then its values are.
  void judged_step(const double *x, int64_t k, double weight, double *out) override {
    inner->judged_step(Centred(x, *this).row.as_row(), k, weight, out);
    learn_values(x, weight);
  }
  int64_t probable_step(const double *x, int64_t k, double weight, double *out) override {
    const int64_t given = inner->probable_step(Centred(x, *this).row.as_row(), k, weight, out);
    learn_values(x, weight);
    return given;
  }
  int64_t scored_step(const double *x, int64_t k, double weight, double *out) override {
    const int64_t given = inner->scored_step(Centred(x, *this).row.as_row(), k, weight, out);
    learn_values(x, weight);
    return given;
  }
  void begin(const double *X, const int64_t *y, int64_t) override {
    moments.forget();
    inner->begin(X, y, 0);
  }
  void visit(State &state) override {
    visit_classes(state);
    inner->visit(state);
    const auto dense = int64_t(slots.size());
    state.real("centre_rows", moments.rows);
    state.matrix("centre_mean", moments.mean, 1, dense, dense);
    state.matrix("centre_variance", moments.variance, 1, dense, dense);
    if (!(moments.rows >= 0)) throw BadState("centre_rows");
  }

 protected:
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    const int64_t given = inner->counted_step(Centred(x, *this).row.as_row(), k, weight);
    learn_values(x, weight);
    return given;
  }

 private:
  // All dense columns that have a slot, then the others as they are.
  struct Centred {
    Centred(const double *given, const CentredColumns &of) : row(SparseRow::of(given)) {
      const SparseRow &x = SparseRow::of(given);
      const auto dense = int64_t(of.slots.size());
      slots.reserve(dense + x.count);
      values.reserve(dense + x.count);
      Scratch numbers(dense);
      of.read(x, numbers.data());
      for (int64_t j = 0; j < dense; j++) {
        if (of.slots[j] < 0 || !(of.moments.variance[j] > 1e-200)) continue;  // one that has never moved says nothing
        const double far = (numbers.data()[j] - of.moments.mean[j]) / std::sqrt(of.moments.variance[j]);
        slots.push_back(of.slots[j]);
        values.push_back(std::clamp(far, -RunningVariance::kFarthest, RunningVariance::kFarthest));
      }
      for (int64_t i = 0; i < x.count; i++) {
        if (of.columns[x.slots[i]] >= 0) continue;
        slots.push_back(x.slots[i]);
        values.push_back(x.values[i]);
      }
      row = x.with(values.data());
      row.slots = slots.data();
      row.count = int64_t(slots.size());
    }
    std::vector<int32_t> slots;
    std::vector<double> values;
    SparseRow row;
  };

  void read(const SparseRow &x, double *to) const {
    std::fill(to, to + slots.size(), 0.0);
    for (int64_t i = 0; i < x.count; i++)
      if (columns[x.slots[i]] >= 0) to[columns[x.slots[i]]] = x.values[i];
    for (int64_t i = 0; i < x.unseen_count; i++)
      if (x.unseen[i] < int64_t(slots.size())) to[x.unseen[i]] = x.unseen_values[i];
  }
  void learn_values(const double *x, double weight) {
    if (!(weight > 0)) return;
    read(SparseRow::of(x), x_.data());
    moments.learn(x_.data(), int64_t(slots.size()), weight);
  }

  RunningVariance moments;
  std::vector<int32_t> slots;    // of each dense column; -1: none yet
  std::vector<int64_t> columns;  // of each slot; -1: it is not dense
  Buffer x_;
};

}  // namespace thalweg::THALWEG_LEVEL
