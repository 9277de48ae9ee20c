// A learner of the first features of a row, or all, and of the products of any two of them, whose linear boundaries are then
// of the second order. Rows are expected at unit scale. O(p^2) a row beside the learner inside, of p features that are looked at.
#pragma once

#include "ensemble/row_wrapper.hpp"
#include "second_order.hpp"

namespace thalweg::THALWEG_LEVEL {

class Products final : public RowWrapper<Products> {
 public:
  Products(int64_t features, const Learner &inner)
      : RowWrapper(inner, features), first(features_of_terms(inner.features())) {}

  struct Changed {
    Changed(const double *x, const Learner &inner, int64_t p) : room(inner.features()) {
      add_products(x, p, room.data());
    }
    const double *row() { return room.data(); }
    Scratch room;
  };
  Changed changed(const double *x) const { return {x, *inner, first}; }

 private:
  int64_t first;
};

}  // namespace thalweg::THALWEG_LEVEL
