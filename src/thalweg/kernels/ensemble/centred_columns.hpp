// A learner of sparse rows whose first columns are dense: these are centred and scaled on line, as rows of numbers are, so
// that it does not matter where they have their zero.
//
// O(1) for each value of the row and for each dense column.
#pragma once

#include "ensemble/row_wrapper.hpp"
#include "rows/dense_part.hpp"
#include "running_variance.hpp"

namespace thalweg::THALWEG_LEVEL {

class CentredColumns final : public RowWrapper<CentredColumns> {
 public:
  CentredColumns(const Learner &inner, int64_t dense)
      : RowWrapper(inner, 0), dense(dense), moments(dense, RunningVariance::kLongRun, true), slots(dense, -1),
        x_(dense) {}
  void appear(const int64_t *ids, int64_t count) override {
    for (int64_t i = 0; i < count; i++)
      if (ids[i] < dense.columns()) slots[ids[i]] = int32_t(of_slots++);
      else of_slots++;
    dense.appear(ids, count);
    inner->appear(ids, count);
  }
  // All dense columns that have a slot, then the others as they are.
  struct Changed {
    Changed(const SparseRow &x, const CentredColumns &of) {
      const int64_t dense = of.dense.columns();
      slots_.reserve(dense + x.count);
      values_.reserve(dense + x.count);
      Scratch numbers(dense);
      of.dense.read(x, numbers.data());
      for (int64_t j = 0; j < dense; j++) {
        if (of.slots[j] < 0 || !(of.moments.variance[j] > 1e-200)) continue;  // one that has never moved says nothing
        const double far = (numbers.data()[j] - of.moments.mean[j]) / std::sqrt(of.moments.variance[j]);
        slots_.push_back(of.slots[j]);
        values_.push_back(std::clamp(far, -RunningVariance::kFarthest, RunningVariance::kFarthest));
      }
      for (int64_t i = 0; i < x.count; i++) {
        if (of.dense.holds(x.slots[i])) continue;
        slots_.push_back(x.slots[i]);
        values_.push_back(x.values[i]);
      }
      row_ = x.with(values_.data());
      row_.slots = slots_.data();
      row_.count = int64_t(slots_.size());
    }
    const SparseRow &row() { return row_; }

    std::vector<int32_t> slots_;
    std::vector<double> values_;
    SparseRow row_;
  };
  Changed changed(RowView x) const { return {x.sparse(), *this}; }
  // The row is learned as it was answered; then its values are.
  void follow(RowView x, int64_t, double weight) {
    dense.read(x.sparse(), x_.data());
    moments.learn(x_.data(), dense.columns(), weight);
  }
  void forget() override {
    moments.forget();
    inner->forget();
  }
  void visit(State &state) override {
    RowWrapper::visit(state);
    const int64_t dense = this->dense.columns();
    state.real("centre_rows", moments.rows, not_negative);
    state.matrix("centre_mean", moments.mean, 1, dense, dense);
    state.matrix("centre_variance", moments.variance, 1, dense, dense);
  }

 private:
  DensePart dense;
  RunningVariance moments;
  std::vector<int32_t> slots;  // of each dense column; -1: none yet
  int64_t of_slots = 0;        // how many slots there are
  Buffer x_;
};

}  // namespace thalweg::THALWEG_LEVEL
