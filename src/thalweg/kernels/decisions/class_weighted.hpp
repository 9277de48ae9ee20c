// A learner whose rows count by their class: by given weights, or "balanced", by N / (classes n_k) with the fading counts n_k of
// the rows of each class and N of all, this row among them. What it weighs is a row's own weight times that.
#pragma once

#include "ensemble/row_wrapper.hpp"

namespace thalweg::THALWEG_LEVEL {

class ClassWeighted final : public RowWrapper<ClassWeighted> {
 public:
  ClassWeighted(const Learner &inner, bool balanced) : RowWrapper(inner, inner.features()), balanced(balanced) {}

  // One weight for each class; all are 1 until they are given.
  void set_weights(const double *given) { std::copy_n(given, classes(), values.begin()); }

  struct Changed {  // not at all
    RowView x;
    RowView row() const { return x; }
  };
  Changed changed(RowView x) const { return {x}; }
  void appear(const int64_t *ids, int64_t count) override { inner->appear(ids, count); }
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    return inner->step(x, k, weight * count(k, weight), wanted);
  }
  void forget() override {
    if (balanced) values.fill(0);
    inner->forget();
  }
  void begin(const double *X, const int64_t *y, const double *weights, int64_t rows) override {
    forget();
    inner->begin(X, y, count_all(y, weights, rows).data(), rows);
  }
  void run(const double *X, const int64_t *y, const double *weights, int64_t rows, const Outputs &out) override {
    if (traits_.may_fail) return Learner::run(X, y, weights, rows, out);
    inner->run(X, y, count_all(y, weights, rows).data(), rows, out);
  }
  void visit(State &state) override {
    RowWrapper::visit(state);
    state.matrix("class_weights", values, 1, classes(), classes(), amount);
  }

 protected:
  void insert(int64_t at) override {
    inner->announce(at);
    values.insert(values.begin() + at, balanced ? 0.0 : 1.0);
  }

 private:
  static constexpr double kMemory = 5000;  // rows, of the counts

  // What a row of this class weighs; where weights are balanced the row is counted.
  double count(int64_t k, double weight) {
    if (!balanced) return values[k];
    double whole = 0, seen = 0;
    for (int64_t c = 0; c < classes(); c++) {
      values[c] = (1 - 1 / kMemory) * values[c] + (c == k ? weight : 0);
      whole += values[c];
      seen += values[c] > 0;
    }
    return whole / (seen * values[k]);
  }

  Buffer count_all(const int64_t *y, const double *weights, int64_t rows) {
    Buffer whole(rows, 1.0);
    if (weights) std::copy_n(weights, rows, whole.begin());
    for (int64_t i = 0; i < rows; i++) whole[i] = whole[i] > 0 ? whole[i] * count(y[i], whole[i]) : 0;
    return whole;
  }

  bool balanced;
  Buffer values;  // weights, or counts
};

}  // namespace thalweg::THALWEG_LEVEL
