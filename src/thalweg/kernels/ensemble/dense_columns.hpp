// A learner of dense rows over the first columns of sparse ones: of a table with text, its other columns.
//
// O(1) for each value of the row, and what the learner inside takes.
#pragma once

#include "ensemble/row_wrapper.hpp"
#include "rows/dense_part.hpp"

namespace thalweg::THALWEG_LEVEL {

class DenseColumns final : public RowWrapper<DenseColumns> {
 public:
  explicit DenseColumns(const Learner &inner) : RowWrapper(inner, 0), dense(inner.features()) {}
  void appear(const int64_t *ids, int64_t count) override { dense.appear(ids, count); }
  struct Changed {
    Changed(const SparseRow &row, const DenseColumns &of) : room(of.dense.columns()) {
      of.dense.read(row, room.data());
    }
    const double *row() { return room.data(); }
    Scratch room;
  };
  Changed changed(RowView x) const { return {x.sparse(), *this}; }

 private:
  DensePart dense;
};

}  // namespace thalweg::THALWEG_LEVEL
