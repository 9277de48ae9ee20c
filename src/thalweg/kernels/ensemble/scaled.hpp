// A learner behind on-line scaling (row_scaling.hpp).
//
// `sparse`: features are mostly zero. Means of the last hundred rows of each class are kept then, as the rows came.
#pragma once

#include "ensemble/row_wrapper.hpp"
#include "row_scaling.hpp"

namespace thalweg::THALWEG_LEVEL {

class Scaled final : public RowsWrapper<Scaled> {
 public:
  Scaled(const Learner &inner, bool sparse)
      : RowsWrapper(inner, inner.features()), sparse(sparse), scaling(inner.features(), sparse) {}

  const Learner &inside() const { return *inner; }

  // The row at the scale of now.
  struct Changed {
    Changed(const double *x, const Scaled &by) : room(by.features()) { by.scaling.scale(x, room.data()); }
    const double *row() { return room.data(); }
    Scratch room;
  };
  Changed changed(const double *x) const { return {x, *this}; }
  void follow(const double *x, int64_t k, double weight) {
    scaling.learn(x, weight);
    if (!sparse) return;
    class_rows[k] += weight;
    const double gain = std::max(weight / class_rows[k], repeated(kClassMemory, weight));
    double *mean = class_means.data() + k * features();
    for (int64_t j = 0; j < features(); j++) mean[j] += gain * (x[j] - mean[j]);
  }

  void forget() override {
    scaling.forget();
    for (Buffer *values : {&class_rows, &class_means}) values->fill(0);
    inner->forget();
  }

  void visit(State &state) override {
    RowWrapper::visit(state);
    scaling.visit(state);
    if (!sparse) return;
    state.matrix("class_rows", class_rows, 1, classes(), classes(), not_negative);
    state.matrix("class_means", class_means, classes(), features(), features(), finite);
  }

 protected:
  void insert(int64_t at) override {
    inner->announce(at);
    if (!sparse) return;
    insert_row(class_rows, at, 1);
    insert_row(class_means, at, features());
  }

 private:
  static constexpr double kClassMemory = 0.01;

  bool sparse;
  RowScaling scaling;
  Buffer class_rows, class_means;
};

}  // namespace thalweg::THALWEG_LEVEL
