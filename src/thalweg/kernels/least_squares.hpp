// Recursive least squares with forgetting: after every row the exact minimiser of
//     sum_i gamma^(t-i) (y_i - b - w'x_i)^2 + penalty |w|^2,      gamma = 1 - forgetting.
//
// With an intercept the rows are taken relative to their weighted mean, so that the scatter of the deviations and not
// the raw moments are inverted: with e = x - mean before the row, N the weight of all rows so far,
//     S <- gamma S + k e e',  k = gamma N / (gamma N + 1);      w <- w + k r P e / (gamma + k e'Pe),  r = y - answer.
// A row that counts c times is c copies in sequence: gamma -> gamma^c, and 1 -> q = 1 + gamma + … + gamma^(c-1), ours.
// P = S^-1 is kept as L D L' (factor.hpp). All outputs share it. O(p^2 + p m) a row. Of many features (row_block.hpp)
// chunks of rows go through P in blocks (least_squares_blocks.hpp).
#pragma once

#include "any_least_squares.hpp"
#include "factor.hpp"

namespace thalweg::THALWEG_LEVEL {

class LeastSquaresBlocks;

template <int P> class LeastSquares final : public AnyLeastSquares {
  friend class LeastSquaresBlocks;
  using W = Width<P>;

 public:
  LeastSquares(int64_t p, const LeastSquaresOptions &options)
      : AnyLeastSquares(p, W(p).stride(), options), width(p), P_(p) {}

  void answer(const double *x, double *out) const override {
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
  void learn(const double *x, const double *y, double times, double *given) override {
    if (rows == 0) {
      std::fill_n(given, outputs(), 0.0);
      if (options.intercept) {  // the digits of a large offset are saved by beginning to count at the first row
        std::copy_n(x, features(), origin.begin());
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

}  // namespace thalweg::THALWEG_LEVEL

#include "least_squares_blocks.hpp"  // the rest of it
