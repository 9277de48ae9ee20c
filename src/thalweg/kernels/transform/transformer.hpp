// What every compiled transformer can do: turn rows into other rows, learn rows, give its state out and take it back.
#pragma once

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class Transformer {
 public:
  Transformer(int64_t features, int64_t outputs) : features_(features), outputs_(outputs) {}
  virtual ~Transformer() = default;

  int64_t features() const { return features_; }
  int64_t outputs() const { return outputs_; }

  // By what is known now, all rows alike. Before the first row there is an output too, of the same width.
  virtual void transform(const double *X, int64_t rows, double *out) const = 0;
  virtual void learn(const double *x, double times) = 0;  // a row that counts as many, more than none
  virtual void forget() = 0;                              // as before the first row
  virtual void visit(State &state) = 0;

 protected:
  int64_t features_, outputs_;
};

}  // namespace thalweg::THALWEG_LEVEL
