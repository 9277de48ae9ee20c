// Linear regression by stochastic gradient (Wu & Snell 2016): w += eta_t (y_t - w'x_t) x_t. A row that counts c times
// takes a step c times as large.
//
// A step leaves its own row's error at (1 - eta |x|^2) times what it was. Where that overshoots, and by so much that the
// error is beyond ten times every target so far, the step is cut to the one that fits the row exactly.
#pragma once

#include <numeric>

#include "rate.hpp"
#include "regression/least_squares.hpp"

namespace thalweg::THALWEG_LEVEL {

struct GradientOptions {
  bool intercept = true, averaged = false;
  double penalty = 0, forgetting = 0;
};

class GradientRegression final : public Regressor {
 public:
  GradientRegression(int64_t p, GradientOptions options, Rate rate)
      : Regressor(p), width(p), options(options), rate_(std::move(rate)), z_(width.stride(), 0.0) {}

  GradientRegression *copy() const override { return new GradientRegression(*this); }
  double rate() const override { return rate_.value; }
  Cuts cuts() const override { return cuts_; }

  void answer(const double *x, double *out) const override {
    Scratch z(width.stride());
    pad(x, z.data());
    for (int64_t o = 0; o < outputs(); o++) out[o] = answer_of(o, z.data());
  }

  // The least-squares solution of these rows, as if it had been reached by as many steps.
  void begin(const double *X, const double *Y, const double *masses, int64_t count) override {
    const double mass = masses ? std::accumulate(masses, masses + count, 0.0) : double(count);
    LeastSquares<0> batch(features(), LeastSquaresOptions{options.intercept, options.penalty * mass, 0});
    batch.widen(outputs());
    batch.begin(X, Y, masses, count);
    Buffer dense(outputs() * features());
    batch.coefficients(dense.data(), bias.data());
    for (int64_t o = 0; o < outputs(); o++)
      std::copy_n(dense.begin() + o * features(), features(), weights.begin() + o * width.stride());
    if (!options.intercept) std::fill(bias.begin(), bias.end(), 0.0);
    mean_bias = bias;
    mean_weights = weights;
    std::fill(largest.begin(), largest.end(), 0.0);
    rate_.reset();
    rows = 0;
    for (int64_t i = 0; i < count; i++) {
      if (masses && !(masses[i] > 0)) continue;
      rows++;
      rate_.next(false);
      for (int64_t o = 0; o < outputs(); o++) largest[o] = std::max(largest[o], std::fabs(Y[i * outputs() + o]));
    }
    cuts_ = Cuts{};
  }

  void coefficients(double *out, double *intercepts) const override {
    for (int64_t o = 0; o < outputs(); o++) {
      std::copy_n(answering_weights().begin() + o * width.stride(), features(), out + o * features());
      intercepts[o] = (options.averaged ? mean_bias : bias)[o];
    }
  }

  void visit(State &state) override {
    visit_outputs(state);
    const int64_t p = features(), m = outputs(), n = width.stride();
    state.integer("rows", rows);
    state.integer("cut_steps", cuts_.count);
    state.integer("first_cut_row", cuts_.first_row);
    state.real("first_cut_square", cuts_.square);
    state.matrix("bias", bias, 1, m, m);
    state.matrix("weights", weights, m, p, n);
    state.matrix("largest_target", largest, 1, m, m);
    if (options.averaged) {
      state.matrix("mean_bias", mean_bias, 1, m, m);
      state.matrix("mean_weights", mean_weights, m, p, n);
    }
    rate_.visit(state);
    if (rows < 0) throw BadState("rows");
    if (cuts_.count < 0) throw BadState("cut_steps");
  }

 protected:
  void learn(const double *x, const double *y, double weight, double *given) override {
    pad(x, z_.data());
    const double eta = weight * rate_.next(false);
    const double square = width.dot(z_.data(), z_.data()) + options.intercept;
    for (int64_t o = 0; o < outputs(); o++) {
      given[o] = answer_of(o, z_.data());
      const double residual = y[o] - current(o, z_.data());
      largest[o] = std::max(largest[o], std::fabs(y[o]));
      const double pace = held(eta, square, residual, largest[o]);
      double *w = weights.data() + o * width.stride();
      if (options.penalty > 0) {
        const double kept = 1 - std::min(1.0, pace * options.penalty);
        for (int64_t j = 0; j < features(); j++) w[j] *= kept;
      }
      if (options.intercept) bias[o] += pace * residual;
      width.add(w, pace * residual, z_.data());
    }
    rows++;
    if (options.averaged) average();
  }
  void make_room() override {
    for (Buffer *values : {&bias, &mean_bias, &largest}) values->assign(outputs(), 0.0);
    for (Buffer *values : {&weights, &mean_weights}) values->assign(outputs() * width.stride(), 0.0);
  }

 private:
  static constexpr double kWildest = 10;  // times the largest target: Wu & Snell's own simulation overshoots to 4

  void pad(const double *x, double *to) const {
    std::copy(x, x + features(), to);
    std::fill(to + features(), to + width.stride(), 0.0);
  }
  double current(int64_t o, const double *z) const {
    return bias[o] + width.dot(weights.data() + o * width.stride(), z);
  }
  double answer_of(int64_t o, const double *z) const {
    if (!options.averaged) return current(o, z);
    return mean_bias[o] + width.dot(mean_weights.data() + o * width.stride(), z);
  }
  const Buffer &answering_weights() const { return options.averaged ? mean_weights : weights; }

  double held(double eta, double square, double residual, double largest_target) {
    const double turn = eta * square;
    if (!(turn > 2) || !(std::fabs(residual * (1 - turn)) > kWildest * largest_target)) return eta;
    if (cuts_.count++ == 0) {
      cuts_.first_row = rows;
      cuts_.square = square;
    }
    return 1 / square;
  }

  // The average of all weights so far, or of the last 1 / forgetting.
  void average() {
    const double gain = std::max(1 / double(rows), options.forgetting);
    for (int64_t o = 0; o < outputs(); o++) mean_bias[o] += gain * (bias[o] - mean_bias[o]);
    for (int64_t j = 0; j < int64_t(weights.size()); j += Width<0>::L) {
      const Width<0>::V now = load<Width<0>::V>(weights.data() + j), then = load<Width<0>::V>(mean_weights.data() + j);
      store<Width<0>::V>(mean_weights.data() + j, then + gain * (now - then));
    }
  }

  Width<0> width;
  GradientOptions options;
  Rate rate_;
  Buffer bias, mean_bias, largest;  // per output
  Buffer weights, mean_weights;     // output x feature
  Buffer z_;                        // the row at hand
  int64_t rows = 0;
  Cuts cuts_;
};

}  // namespace thalweg::THALWEG_LEVEL
