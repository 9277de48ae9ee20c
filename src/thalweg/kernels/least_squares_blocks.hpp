// Chunks of wide rows for least squares: blocks of rows share two passes over the factor (row_block.hpp).
#pragma once

#include "least_squares.hpp"
#include "row_block.hpp"

namespace thalweg::THALWEG_LEVEL {

class LeastSquaresBlocks {
 public:
  // For a chunk of so many rows, behind the first one.
  LeastSquaresBlocks(LeastSquares<0> &model, int64_t count)
      : model(model), per_row(changes_per_row(model)), most(RowBlock<double>::enough(model.features(), count, per_row)),
        block(model.P_, model.width, model.weights, model.outputs(), most) {}

  void run(const double *X, const double *Y, const double *masses, int64_t count, double *answers) {
    const int64_t p = model.features(), m = model.outputs();
    Scratch unasked(m);
    for (int64_t i = 0; i < count;) {
      const int64_t planned = std::clamp<int64_t>(most / per_row, 1, count - i);
      const int64_t done =
          learn(X + i * p, Y + i * m, masses ? masses + i : nullptr, planned, answers ? answers + i * m : nullptr);
      i += done;
      if (done > 0) continue;
      model.step(X + i * p, Y + i * m, masses ? masses[i] : 1, answers ? answers + i * m : unasked.data());
      i++;
    }
  }

 private:
  // Forgetting has the penalty held, by changes of its own.
  static int64_t changes_per_row(const LeastSquares<0> &model) {
    return model.options.forgetting > 0 && model.options.penalty > 0 ? 1 + model.penalty_turns(model.gamma) : 1;
  }

  // Answers and learns rows while there is room for their changes; returns how many.
  int64_t learn(const double *X, const double *Y, const double *masses, int64_t count, double *answers) {
    const int64_t p = model.features(), m = model.outputs();
    Buffer mean(model.mean);
    double weight = model.weight;
    block.open(false);
    for (int64_t s = 0; s < count; s++) {
      const double mass = masses ? masses[s] : 1;
      double *e = block.next();
      model.deviation(X + s * p, mean.data(), e);
      if (mass > 0) {
        const auto share = model.share_of(mass, weight);
        if (model.options.intercept) model.width.add(mean.data(), share.gain, e);
        weight = share.grown;
      }
      block.add(0);
    }
    block.project();
    int64_t s = 0;
    for (; s < count; s++) {
      const double mass = masses ? masses[s] : 1, *y = Y + s * m;
      const auto share = model.share_of(mass, model.weight);
      if (per_row > 1 && model.penalty_turns(share.fade) >= block.left()) break;
      block.reach(s);
      for (int64_t o = 0; o < m; o++) {
        const double relative = model.target_mean[o] + block.dot(o);
        if (answers) answers[s * m + o] = model.target_origin[o] + relative;
        model.residual[o] = (y[o] - model.target_origin[o]) - relative;
      }
      if (mass > 0) take(X + s * p, y, share);
    }
    block.close(1);
    return s;
  }

  // Learns the row: all of `LeastSquares::learn`.
  void take(const double *x, const double *y, const LeastSquares<0>::Share &share) {
    double *e = model.e_.data();
    model.deviation(x, model.mean.data(), e);
    if (model.asleep > 0) model.wake(e);
    absorb(share.fade, share.k, 1 / share.fade);
    model.move_on(e, y, share);
    if (model.options.forgetting > 0)
      model.hold(e, share.fade, [&](int64_t j, double more) {
        block.reach_unit(j);
        for (int64_t o = 0; o < model.outputs(); o++) model.residual[o] = -block.dot(o);
        absorb(1, more, 1);
      });
  }

  void absorb(double a, double k, double inverse_a) {
    const double inverse = block.change({a, k, inverse_a}, 0).inverse;
    for (int64_t o = 0; o < model.outputs(); o++) block.take_share(o, k * model.residual[o] * inverse);
  }

  LeastSquares<0> &model;
  const int64_t per_row, most;  // changes to a row and to a block
  RowBlock<double> block;
};

template <int P>
void LeastSquares<P>::run(const double *X, const double *Y, const double *masses, int64_t count,
                          const RegressionOutputs &out) {
  int64_t start = 0;
  if constexpr (P == 0)
    if (features() >= kWideInTwo && !out.weights) {
      Scratch unasked(outputs());
      for (; start < count && rows == 0; start++)
        step(X + start * features(), Y + start * outputs(), masses ? masses[start] : 1,
             out.answers ? out.answers + start * outputs() : unasked.data());
      if (count - start >= RowBlocks::kFewest)
        return LeastSquaresBlocks(*this, count - start)
            .run(X + start * features(), Y + start * outputs(), masses ? masses + start : nullptr, count - start,
                 out.answers ? out.answers + start * outputs() : nullptr);
    }
  const RegressionOutputs rest{out.answers ? out.answers + start * outputs() : nullptr, out.weights, out.intercepts};
  Regressor::run(X + start * features(), Y + start * outputs(), masses ? masses + start : nullptr, count - start, rest);
}

}  // namespace thalweg::THALWEG_LEVEL
