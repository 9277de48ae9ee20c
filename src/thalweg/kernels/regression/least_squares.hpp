// Recursive least squares with forgetting: after every row the exact minimiser of
//     sum_i gamma^(t-i) (y_i - b - w'x_i)^2 + penalty |w|^2,      gamma = 1 - forgetting.
//
// With an intercept the rows are taken relative to their weighted mean, so that the scatter of the deviations and not
// the raw moments are inverted: with e = x - mean before the row, N the weight of all rows so far,
//     S <- gamma S + k e e',  k = gamma N / (gamma N + 1);      w <- w + k r P e / (gamma + k e'Pe),  r = y - answer.
// A row that counts c times is c copies in sequence: gamma -> gamma^c, and 1 -> q = 1 + gamma + … + gamma^(c-1), ours.
// P = S^-1 is kept as L D L' (linear_algebra/factor.hpp). All outputs share it. O(p^2 + p m) a row. Of many features
// chunks of rows go through P in blocks (linear_algebra/row_block.hpp).
#pragma once

#include "linear_algebra/row_block.hpp"
#include "regression/any_width.hpp"

namespace thalweg::THALWEG_LEVEL {

class LeastSquaresBlocks;

template <int P> class LeastSquares final : public AnyLeastSquares {
  friend class LeastSquaresBlocks;
  using W = Width<P>;

 public:
  LeastSquares(int64_t p, const LeastSquaresOptions &options)
      : AnyLeastSquares(p, W(p).stride(), options), width(p), P_(p) {}
  LeastSquares *copy() const override { return new LeastSquares(*this); }

  void answer(RowView x, double *out) const override {
    Scratch e(width.stride());
    deviation(x, mean.data(), e.data());
    for (int64_t o = 0; o < outputs(); o++) out[o] = target_origin[o] + relative_answer(o, e.data());
  }

  void run(const double *X, const double *Y, const double *masses, int64_t count,
           const RegressionOutputs &out) override;

  void coefficients(double *out, double *intercepts) const override {
    for (int64_t o = 0; o < outputs(); o++) {
      const double *w = weights.data() + o * width.stride();
      std::copy_n(w, features(), out + o * features());
      intercepts[o] = target_origin[o] + target_mean[o] - width.dot(w, mean.data()) - width.dot(w, origin.data());
    }
  }

 protected:
  Triangle &factor() override { return P_; }
  void learn(RowView x, const double *y, double times, double *given, const double *, double) override {
    if (rows == 0) {
      std::fill_n(given, outputs(), 0.0);
      if (options.intercept) {  // the digits of a large offset are saved by beginning to count at the first row
        std::copy_n(&x[0], features(), origin.begin());
        std::copy_n(y, outputs(), target_origin.begin());
      }
    }
    typename W::Room e(e_);
    deviation(x, mean.data(), e);
    if (asleep > 0) wake(e);
    for (int64_t o = 0; o < outputs(); o++) {
      const double relative = relative_answer(o, e);
      if (rows > 0) given[o] = target_origin[o] + relative;
      residual[o] = (y[o] - target_origin[o]) - relative;
    }
    const Share share = share_of(times, weight);
    if (share.k > 0) absorb(e, share.fade, share.k, 1 / share.fade);  // the first row has nothing to deviate from
    move_on(e, y, share);
    if (options.forgetting > 0) hold(e, share.fade);
  }
  void raise(int64_t j, double more) override {
    std::fill_n(e_.data(), width.stride(), 0.0);
    e_[j] = 1;
    for (int64_t o = 0; o < outputs(); o++) residual[o] = -weights[o * width.stride() + j];
    absorb(e_.data(), 1, more, 1);
  }

 private:
  // The means and the weight of all rows.
  THALWEG_INLINE void move_on(const double *e, const double *y, const Share &share) {
    if (options.intercept) {
      width.add(mean.data(), share.gain, e);
      for (int64_t o = 0; o < outputs(); o++)
        target_mean[o] += share.gain * ((y[o] - target_origin[o]) - target_mean[o]);
    }
    weight = share.grown;
    rows++;
  }

  THALWEG_INLINE void deviation(const double *x, const double *mean, double *e) const {
    width.difference(x, origin.data(), e);
    width.difference_padded(e, mean, e);
  }
  THALWEG_INLINE double relative_answer(int64_t o, const double *e) const {
    return target_mean[o] + width.dot(weights.data() + o * width.stride(), e);
  }

  // S <- a S + k v v', P <- its inverse, and every w towards its residual along v.
  THALWEG_INLINE void absorb(const double *v, double a, double k, double inverse_a) {
    typename W::Room u(u_);
    const double inverse = P_.absorb(v, RankOne{a, k, inverse_a}, u);
    for (int64_t o = 0; o < outputs(); o++)
      width.add(weights.data() + o * width.stride(), k * residual[o] * inverse, u);
  }

  W width;
  Factor<P> P_;
};

// Chunks of wide rows: blocks of rows share two passes over the factor (linear_algebra/row_block.hpp).
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
