// A learner that retires where there are many classes. The memory that a row of random tilings touches grows with the classes,
// beyond the cache, and among ten classes or more they say hardly anything that other members do not.
//
// How many classes there are is said by the chance that two rows agree, 1 / sum q_c^2 with the shares q_c of all rows: rare
// classes hardly count. It is looked at every so many rows; a learner that has retired has forgotten everything, and every
// class that was seen is alike to it.
#pragma once

#include "ensemble/row_wrapper.hpp"

namespace thalweg::THALWEG_LEVEL {

class FewClasses final : public RowWrapper<FewClasses> {
 public:
  FewClasses(const Learner &inner, double most) : RowWrapper(inner, inner.features()), most(most) {}

  struct Changed {  // not at all
    RowView x;
    RowView row() const { return x; }
  };
  Changed changed(RowView x) const { return {x}; }

  void posteriors(RowView x, double *out) const override {
    if (retired) say_nothing(out);
    else inner->posteriors(x, out);
  }
  void foresee(RowView x, double *out) override {
    if (retired) say_nothing(out);
    else inner->foresee(x, out);
  }
  void scores(RowView x, double *out) const override {
    if (retired) std::fill_n(out, classes(), 0.0);
    else inner->scores(x, out);
  }
  int64_t answer(RowView x) const override { return retired ? 0 : inner->answer(x); }
  void expect(RowView x, Fetches &fetches) override {
    if (!retired) inner->expect(x, fetches);
  }
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    if (retired) {
      show(x, wanted);
      count(k, weight);
      return 0;
    }
    const int64_t given = inner->step(x, k, weight, wanted);
    if (count(k, weight)) retire();
    return given;
  }
  void learn_rows(const RowsToLearn &some, double *said, int64_t apart) override {
    const auto weight = [&](int64_t i) { return some.weights ? some.weights[i] : 1; };
    int64_t from = 0;
    bool retires = false;
    while (!retired && !retires && from < some.rows)
      retires = weight(from) > 0 && count(some.y[from], weight(from)), from++;
    if (from > 0) inner->learn_rows({some.X, some.y, some.weights, from}, said, apart);
    if (retires) retire();
    for (; from < some.rows; from++) {
      say_nothing(said + from * apart);
      if (weight(from) > 0) count(some.y[from], weight(from));
    }
  }
  void forget() override {
    inner->forget();
    class_rows.fill(0);
    rows = retired = 0;
  }
  void visit(State &state) override {
    RowWrapper::visit(state);
    state.matrix("class_rows", class_rows, 1, classes(), classes(), not_negative);
    state.integer("counted", rows, not_negative);
    state.integer("retired", retired, within<int64_t>(0, 1));
  }

 protected:
  void insert(int64_t at) override {
    inner->announce(at);
    insert_row(class_rows, at, 1);
  }

 private:
  static constexpr int64_t kBetween = 256;  // rows

  // Whether it is to retire.
  bool count(int64_t k, double weight) {
    class_rows[k] += weight;
    if (++rows % kBetween) return false;
    double whole = 0, squares = 0;
    for (double own : class_rows) whole += own, squares += own * own;
    return whole * whole > most * squares;
  }
  void retire() {
    inner->forget();
    retired = 1;
  }
  void say_nothing(double *out) const {
    int64_t seen = 0;
    for (double own : class_rows) seen += own > 0;
    for (int64_t v = 0; v < traits_.posteriors; v++, out += classes())
      for (int64_t c = 0; c < classes(); c++) out[c] = class_rows[c] > 0 ? 1 / double(seen) : 0;
  }

  double most;  // classes
  int64_t rows = 0, retired = 0;
  Buffer class_rows;
};

}  // namespace thalweg::THALWEG_LEVEL
