// A learner that gets its rows changed: what it says of itself is what the learner inside says.
//
// `Self` says how: changed(x) is a row as it is answered, of which row() is what the learner inside takes, and follow(x, k,
// weight) is what is learned of a row after that learner has learned it, if anything.
#pragma once

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class Self> class RowWrapper : public Learner {
 public:
  RowWrapper(const Learner &inner, int64_t features) : Learner(features, inner.traits()), inner(inner.copy()) {}
  Learner *copy() const override { return new Self(self()); }

  double rate() const override { return inner->rate(); }
  void shares(double *out) const override { inner->shares(out); }
  void mark_classes(bool *out) const override { inner->mark_classes(out); }
  void judge_by(const uint8_t *kept) override { inner->judge_by(kept); }

  int64_t answer(RowView x) const override { return inner->answer(self().changed(x).row()); }
  void scores(RowView x, double *out) const override { inner->scores(self().changed(x).row(), out); }
  void posteriors(RowView x, double *out) const override { inner->posteriors(self().changed(x).row(), out); }
  void foresee_scores(RowView x, double *out) override { inner->foresee_scores(self().changed(x).row(), out); }
  void foresee(RowView x, double *out) override { inner->foresee(self().changed(x).row(), out); }
  void keep(RowView x, double *scored, uint8_t *kept) const override {
    inner->keep(self().changed(x).row(), scored, kept);
  }
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    const int64_t given = inner->step(self().changed(x).row(), k, weight, wanted);
    static_cast<Self &>(*this).follow(x, k, weight);
    return given;
  }
  void follow(RowView, int64_t, double) {}
  void forget() override { inner->forget(); }
  void visit(State &state) override {
    visit_classes(state);
    inner->visit(state);
    if (inner->classes() != classes()) throw BadState("n_classes");
  }

 protected:
  void insert(int64_t at) override { inner->announce(at); }

  Owned<Learner> inner;

 private:
  const Self &self() const { return static_cast<const Self &>(*this); }
};

// The same of dense rows where what is learned of a row does not depend on the learner inside: many rows are changed, then
// learned.
template <class Self> class RowsWrapper : public RowWrapper<Self> {
 public:
  using RowWrapper<Self>::RowWrapper;

  void learn_rows(const RowsToLearn &some, double *said, int64_t apart) override {
    const Buffer changed = change(some);
    this->inner->learn_rows({changed.data(), some.y, some.weights, some.rows}, said, apart);
  }
  void run(const double *X, const int64_t *y, const double *weights, int64_t rows, const Outputs &out) override {
    if (this->traits_.may_fail) return Learner::run(X, y, weights, rows, out);
    for (int64_t from = 0; from < rows; from += kSome) {
      const RowsToLearn some{X + from * this->features(), y + from, weights ? weights + from : nullptr,
                             std::min(kSome, rows - from)};
      const Buffer changed = change(some);
      this->inner->run(changed.data(), some.y, some.weights, some.rows,
                       out.after(from, this->classes(), this->members()));
    }
  }
  void begin(const double *X, const int64_t *y, const double *weights, int64_t rows) override {
    this->forget();
    run(X, y, weights, rows, {});
  }

 private:
  static constexpr int64_t kSome = 256;

  Buffer change(const RowsToLearn &some) {
    auto &self = static_cast<Self &>(*this);
    const int64_t p = this->features();
    Buffer all(some.rows * p);
    for (int64_t i = 0; i < some.rows; i++) {
      const double *x = some.X + i * p;
      const double weight = some.weights ? some.weights[i] : 1;
      std::copy_n(self.changed(x).row(), p, all.data() + i * p);
      if (weight > 0) self.follow(x, some.y[i], weight);
    }
    return all;
  }
};

}  // namespace thalweg::THALWEG_LEVEL
