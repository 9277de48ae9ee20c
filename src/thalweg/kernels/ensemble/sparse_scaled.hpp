// A learner of sparse rows behind on-line scaling (sparse_scale.hpp), over all rows at first and over some thousands of them
// later. The value at hand is among those that its feature is measured by: a rare feature would be blown up whose first value
// happened to be small.
#pragma once

#include "ensemble/row_wrapper.hpp"
#include "rows/sparse_row.hpp"
#include "sparse_scale.hpp"

namespace thalweg::THALWEG_LEVEL {

class SparseScaled final : public RowWrapper<SparseScaled> {
 public:
  explicit SparseScaled(const Learner &inner) : RowWrapper(inner, 0) {}
  void appear(const int64_t *ids, int64_t count) override {
    scale.appear(ids, count);
    inner->appear(ids, count);
  }
  // A row as it would be scaled now.
  struct Changed {
    Changed(const SparseRow &x, const SparseScaled &by) : room_(x.count + x.unseen_count), row_(x.with(room_.data())) {
      for (int64_t i = 0; i < x.count; i++) room_.data()[i] = by.scale.scaled_among(x.slots[i], x.values[i]);
      for (int64_t i = 0; i < x.unseen_count; i++)
        room_.data()[x.count + i] = SparseScale::scaled_unseen(x.unseen_values[i]);
      row_.unseen_values = room_.data() + x.count;
    }
    const SparseRow &row() { return row_; }

    Scratch room_;
    SparseRow row_;
  };
  Changed changed(RowView x) const { return {x.sparse(), *this}; }
  // The row is learned at the scale it was answered at; the scale learns the row in the same pass.
  int64_t take_step(RowView given, int64_t k, double weight, const Wanted &wanted) override {
    const SparseRow &x = given.sparse();
    if (int64_t(values.size()) < x.count) values.resize(x.count);
    scale.scale_and_learn(x, weight, values.data());
    return inner->step(x.with(values.data()), k, weight, wanted);
  }

  void forget() override {
    scale.forget();
    inner->forget();
  }
  void visit(State &state) override {
    RowWrapper::visit(state);
    scale.visit(state);
  }

 private:
  static constexpr double kMostRows = 10'000;

  SparseScale scale{kMostRows, true};
  Buffer values;  // of the row at hand
};

}  // namespace thalweg::THALWEG_LEVEL
