// What every compiled regressor can do: answer a row, learn its targets, give its state out and take it back.
//
// A row is p doubles, its targets are m doubles. Their number is told once, before the first row.
#pragma once

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

// What a test-then-train run may write, a row each; null where it is not wanted.
struct RegressionOutputs {
  double *answers = nullptr;     // rows x outputs, before the row
  double *weights = nullptr;     // rows x outputs x features, after the row
  double *intercepts = nullptr;  // rows x outputs, after the row
};

class Regressor {
 public:
  explicit Regressor(int64_t features) : features_(features) {}
  virtual ~Regressor() = default;
  virtual Regressor *copy() const = 0;

  int64_t features() const { return features_; }
  int64_t outputs() const { return outputs_; }

  void widen(int64_t outputs) {
    if (outputs_ != 0 || outputs < 1 || outputs > kMostOutputs)
      throw std::invalid_argument("no such number of outputs");
    outputs_ = outputs;
    make_room();
  }
  // Features of sparse rows (rows/sparse_row.hpp) that were never there get the next slots; these are their numbers.
  virtual void appear(const int64_t *, int64_t) {}
  virtual void answer(RowView x, double *out) const = 0;
  // Writes the answers to x as they would have been given before its targets y, which are then learned as those of a row
  // that counts `weight` times; 0 only answers.
  void step(RowView x, const double *y, double weight, double *given) {
    if (weight > 0) learn(x, y, weight, given, nullptr, 0);
    else answer(x, given);
  }
  // A row whose targets came late. A regressor made of others judges them by what they had answered when the row was predicted,
  // as `opinions` gave it; null or NaN: by what they would answer now.
  void learn_late(RowView x, const double *y, double weight, const double *opinions, double delay) {
    Scratch unasked(outputs_);
    if (weight > 0) learn(x, y, weight, unasked.data(), opinions, delay);
  }
  // Forget everything and begin from these rows; null weights: each counts once.
  virtual void begin(const double *X, const double *Y, const double *weights, int64_t rows) = 0;
  // The linear model that answers, where it is one: outputs x features, and outputs.
  virtual void coefficients(double *, double *) const { throw std::invalid_argument("not a linear model"); }
  virtual int64_t coefficient_count() const { return features_; }
  // A regressor made of others: how many for a target, and the share each has in the answer.
  virtual int64_t members() const { return 0; }
  virtual void shares(double *) const {}
  // By which late targets are judged: what each member answers and behind these what mixtures of them do, outputs x as many.
  virtual int64_t opinion_count() const { return members(); }
  void opinions(RowView x, double *out) const {
    Scratch unasked(outputs_);
    answer_with_opinions(x, unasked.data(), out);
  }
  // The answer beside them.
  virtual void answer_with_opinions(RowView x, double *out, double *) const { answer(x, out); }
  virtual double rate() const { return std::nan(""); }
  virtual void visit(State &state) = 0;

  // Steps that had to be cut, and of the first of them the row's number and what its squared length was.
  struct Cuts {
    int64_t count = 0, first_row = -1;
    double square = 0;
  };
  virtual Cuts cuts() const { return {}; }

  // Null weights: each row counts once.
  virtual void run(const double *X, const double *Y, const double *weights, int64_t rows,
                   const RegressionOutputs &out) {
    const int64_t p = features_, m = outputs_;
    Scratch unasked(m);
    for (int64_t i = 0; i < rows; i++) {
      step(X + i * p, Y + i * m, weights ? weights[i] : 1, out.answers ? out.answers + i * m : unasked.data());
      if (out.weights) coefficients(out.weights + i * m * p, out.intercepts + i * m);
    }
  }

 protected:
  virtual void make_room() = 0;  // for the outputs, now known
  // Opinions are null, or how the members of a regressor made of others had answered a row `delay` rows before.
  virtual void learn(RowView x, const double *y, double weight, double *given, const double *opinions,
                     double delay) = 0;

  // Whoever restores a state learns the number of outputs first.
  void visit_outputs(State &state) {
    int64_t count = outputs_;
    state.integer("n_outputs", count);
    if (count < 1 || count > kMostOutputs) throw BadState("n_outputs");
    if (outputs_ == 0) widen(count);
    if (outputs_ != count) throw BadState("n_outputs");
  }

 private:
  static constexpr int64_t kMostOutputs = int64_t(1) << 24;
  int64_t features_, outputs_ = 0;
};

}  // namespace thalweg::THALWEG_LEVEL
