// The cells of random tilings as features: one output for every cell, 1 in the cells where a row falls and 0 in the others.
// O(tilings + outputs) a row.
#pragma once

#include "tilings/grids.hpp"
#include "transform/transformer.hpp"

namespace thalweg::THALWEG_LEVEL {

class RandomTilings final : public Transformer {
 public:
  explicit RandomTilings(int64_t p, const Grids &grids) : Transformer(p, grids.cells()), grids(grids) {}

  void transform(const double *X, int64_t count, double *out) const override {
    Grids::Room room(features(), grids.count());
    std::fill_n(out, count * outputs(), 0.0);
    for (int64_t i = 0; i < count; i++, out += outputs()) {
      grids.locate(X + i * features(), room);
      for (int64_t m = 0, first = 0; m < grids.count(); first += grids.size(m++)) out[first + room.cell[m]] = 1;
    }
  }

  void learn(const double *, double) override {}  // nothing but the draw
  void forget() override {}
  void visit(State &state) override {
    grids.visit(state);
    outputs_ = grids.cells();
  }

 private:
  Grids grids;
};

}  // namespace thalweg::THALWEG_LEVEL
