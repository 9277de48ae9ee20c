// A learner that gets its rows changed: what it says of itself is what the learner inside says.
#pragma once

#include <memory>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class RowWrapper : public Learner {
 public:
  RowWrapper(const Learner &inner, int64_t features) : Learner(features), inner(inner.copy()) {}
  RowWrapper(const RowWrapper &other) : Learner(other), inner(other.inner->copy()) {}

  double rate() const override { return inner->rate(); }
  double confidence() const override { return inner->confidence(); }
  int64_t members() const override { return inner->members(); }
  void shares(double *out) const override { inner->shares(out); }
  int64_t voices() const override { return inner->voices(); }
  int64_t kept_size() const override { return inner->kept_size(); }
  void mark_classes(bool *out) const override { inner->mark_classes(out); }
  void judge_by(const uint8_t *kept) override { inner->judge_by(kept); }
  int64_t step(const double *x, int64_t k) override { return weighted_step(x, k, 1); }

 protected:
  void insert(int64_t at) override { inner->announce(at); }

  std::unique_ptr<Learner> inner;
};

}  // namespace thalweg::THALWEG_LEVEL
