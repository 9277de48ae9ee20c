// A regressor of one target as a fleet steps it: targets and answers travel as the 64 bits of a double. The answer of a
// key never learned, -1, is then not a number.
#pragma once

#include "learner.hpp"
#include "regression/with_intervals.hpp"

namespace thalweg::THALWEG_LEVEL {

class NumberLearner final : public Learner {
 public:
  explicit NumberLearner(const RegressorWithIntervals &model) : Learner(model.regressor->features()), model_(model) {}
  NumberLearner *copy() const override { return new NumberLearner(*this); }

  int64_t answer(RowView x) const override {
    double given;
    model_.regressor->answer(x, &given);
    return as_bits(given);
  }
  int64_t take_step(RowView x, int64_t bits, double, const Wanted &) override {
    double y, given;
    std::memcpy(&y, &bits, sizeof y);
    model_.step(x, &y, &given);
    return as_bits(given);
  }
  void visit(State &state) override { model_.visit(state); }  // it begins with the number of targets: one
  double rate() const override { return model_.regressor->rate(); }
  void scores(RowView, double *) const override { throw std::invalid_argument("a regressor has no scores"); }
  void forget() override { throw std::invalid_argument("a fleet begins row by row"); }

 protected:
  void insert(int64_t) override {}  // its one target takes the place of a class

 private:
  static int64_t as_bits(double value) {
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  RegressorWithIntervals model_;
};

}  // namespace thalweg::THALWEG_LEVEL
