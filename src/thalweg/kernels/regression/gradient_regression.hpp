// Linear regression by stochastic gradient (Wu & Snell 2016): w += eta_t (y_t - w'x_t) x_t. A row that counts c times
// takes a step c times as large.
//
// A step leaves its own row's error at (1 - eta |x|^2) times what it was. Where that overshoots, and by so much that the
// error is beyond ten times every target so far, the step is cut to the one that fits the row exactly.
//
// With a step size for each feature (linear/feature_steps.hpp) the squares are those of the values alone, so that the unit
// of the target does not matter.
//
// Averages of all weights so far, or of the last ones, take O(1) for each value of a sparse row: the average is a w + b u, where
// a row changes the two factors and those entries of u whose weights it moves.
#pragma once

#include <numeric>

#include "linear/feature_steps.hpp"
#include "rate.hpp"
#include "regression/least_squares.hpp"

namespace thalweg::THALWEG_LEVEL {

struct GradientOptions {
  bool intercept = true, averaged = false;
  double penalty = 0, forgetting = 0;
  bool per_feature = false;
};

template <class Weights> class GradientRegression final : public Regressor {
  using Row = typename Weights::Row;

 public:
  GradientRegression(int64_t p, GradientOptions options, Rate rate)
      : Regressor(p), options(options), rate_(std::move(rate)), weights(p), mean_weights(p), holder(weights),
        steps(weights, 0) {}

  GradientRegression *copy() const override { return new GradientRegression(*this); }
  double rate() const override { return rate_.value; }
  Cuts cuts() const override { return cuts_; }

  void answer(RowView x, double *out) const override {
    typename Weights::Reader reader(weights, x);
    for (int64_t o = 0; o < outputs(); o++) out[o] = answer_of(o, reader.row());
  }
  void appear(const int64_t *, int64_t count) override {
    if constexpr (Weights::kSparse) {
      weights.appear(count);
      if (options.averaged) mean_weights.appear(count);
      if (options.per_feature) steps.appear(count);
    }
  }

  // The least-squares solution of these rows, as if it had been reached by as many steps; of sparse rows, nothing.
  void begin(const double *X, const double *Y, const double *masses, int64_t count) override {
    make_room();
    steps.clear();
    rate_.reset();
    rows = 0;
    cuts_ = Cuts{};
    average = 1;
    if constexpr (!Weights::kSparse)
      if (count > 0) solve(X, Y, masses, count);
    for (int64_t i = 0; i < count; i++) {
      if (masses && !(masses[i] > 0)) continue;
      rows++;
      rate_.next(false);
      for (int64_t o = 0; o < outputs(); o++) largest[o] = std::max(largest[o], std::fabs(Y[i * outputs() + o]));
    }
  }

  void coefficients(double *out, double *intercepts) const override {
    for (int64_t o = 0; o < outputs(); o++) {
      for (int64_t j = 0; j < weights.features(); j++) out[o * weights.features() + j] = coefficient(o, j);
      intercepts[o] = (options.averaged ? mean_bias : bias)[o];
    }
  }
  int64_t coefficient_count() const override { return weights.features(); }

  void visit(State &state) override {
    visit_outputs(state);
    const int64_t m = outputs();
    state.integer("rows", rows, not_negative);
    state.integer("cut_steps", cuts_.count, not_negative);
    state.integer("first_cut_row", cuts_.first_row);
    state.real("first_cut_square", cuts_.square);
    state.matrix("bias", bias, 1, m, m);
    weights.visit(state, "weights", m);
    state.matrix("largest_target", largest, 1, m, m);
    if (options.averaged) {
      state.matrix("mean_bias", mean_bias, 1, m, m);
      mean_weights.visit(state, "mean_weights", m);
    }
    rate_.visit(state);
    if (options.per_feature) steps.visit(state, weights.features());
    if (!Weights::kSparse) return;
    state.matrix("weights_unit", unit, 1, m, m);
    state.matrix("average_of_weights", average_of_w, 1, m, m);
    state.real("average_unit", average, [](double u) { return u > 0 && u <= 1; });
    for (int64_t o = 0; o < m; o++)
      if (!(unit[o] > 0 && unit[o] <= 1 && std::isfinite(average_of_w[o]))) throw BadState("weights_unit");
  }

 protected:
  void learn(RowView x, const double *y, double weight, double *given, const double *, double) override {
    Row z = holder.read(weights, x);
    const double eta = weight * rate_.next(false);
    const double square = options.per_feature ? steps.learn(z, weight) - (options.intercept ? 0 : steps.bias_step())
                                              : weights.squared_norm(z) + options.intercept;
    const double bias_step = options.per_feature ? steps.bias_step() : 1;
    for (int64_t o = 0; o < outputs(); o++) {
      given[o] = answer_of(o, z);
      const double residual = y[o] - current(o, z);
      largest[o] = std::max(largest[o], std::fabs(y[o]));
      const double pace = held(eta, square, residual, largest[o]);
      if (options.penalty > 0) shrink(o, 1 - std::min(1.0, pace * options.penalty));
      if (options.intercept) bias[o] += bias_step * (pace * residual);
      add(o, pace * residual, options.per_feature ? steps.scaled() : z);
    }
    rows++;
    if (options.averaged) take_average();
  }
  void make_room() override {
    for (Buffer *values : {&bias, &mean_bias, &largest, &average_of_w}) values->assign(outputs(), 0.0);
    unit.assign(outputs(), 1.0);
    for (Weights *values : {&weights, &mean_weights}) values->assign(outputs());
  }

 private:
  static constexpr double kWildest = 10;  // times the largest target: Wu & Snell's own simulation overshoots to 4

  void solve(const double *X, const double *Y, const double *masses, int64_t count) {
    const double mass = masses ? std::accumulate(masses, masses + count, 0.0) : double(count);
    LeastSquares<0> batch(features(), LeastSquaresOptions{options.intercept, options.penalty * mass, 0});
    batch.widen(outputs());
    batch.begin(X, Y, masses, count);
    Buffer dense(outputs() * features());
    batch.coefficients(dense.data(), bias.data());
    for (int64_t o = 0; o < outputs(); o++) std::copy_n(dense.begin() + o * features(), features(), weights.of(o));
    if (!options.intercept) std::fill(bias.begin(), bias.end(), 0.0);
    mean_bias = bias;
    mean_weights = weights;
  }

  double current(int64_t o, Row z) const {
    const double sum = weights.dot(o, z);
    return bias[o] + (Weights::kSparse ? unit[o] * sum : sum);
  }
  double answer_of(int64_t o, Row z) const {
    if (!options.averaged) return current(o, z);
    const double sum = mean_weights.dot(o, z);
    return mean_bias[o] + (Weights::kSparse ? average_of_w[o] * weights.dot(o, z) + average * sum : sum);
  }
  double coefficient(int64_t o, int64_t j) const {
    if constexpr (Weights::kSparse)
      return options.averaged ? average_of_w[o] * weights.at(o, j) + average * mean_weights.at(o, j)
                              : unit[o] * weights.at(o, j);
    else return (options.averaged ? mean_weights : weights).at(o, j);
  }

  void shrink(int64_t o, double kept) {
    if constexpr (Weights::kSparse) {
      unit[o] *= kept;
      if (unit[o] > (options.averaged ? kLeastUnitOfAverages : kLeastUnit)) return;
      // The unit goes into the weights, after what the average has of them has gone into its own.
      for (int64_t j = 0; j < weights.features(); j++) {
        if (options.averaged) mean_weights.at(o, j) += average_of_w[o] / average * weights.at(o, j);
        weights.at(o, j) *= unit[o];
      }
      average_of_w[o] = 0;
      unit[o] = 1;
    } else {
      double *w = weights.of(o);
      for (int64_t j = 0; j < features(); j++) w[j] *= kept;
    }
  }
  void add(int64_t o, double by, Row z) {
    if (Weights::kSparse) by /= unit[o];
    weights.add(o, by, z);
    // The average must not move with the weight: a w + b u stays what it is.
    if (Weights::kSparse && options.averaged) mean_weights.add(o, -average_of_w[o] / average * by, z);
  }

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
  void take_average() {
    const double gain = std::max(1 / double(rows), options.forgetting);
    for (int64_t o = 0; o < outputs(); o++) mean_bias[o] += gain * (bias[o] - mean_bias[o]);
    if constexpr (Weights::kSparse) {
      for (int64_t o = 0; o < outputs(); o++) average_of_w[o] = (1 - gain) * average_of_w[o] + gain * unit[o];
      average *= 1 - gain;
      if (average > kLeastUnit) return;
      mean_weights.shrink(average);
      average = 1;
    } else {
      using V = Width<0>::V;
      for (int64_t o = 0; o < outputs(); o++)
        for (int64_t j = 0; j < weights.stride(); j += Width<0>::L) {
          const V now = load<V>(weights.of(o) + j), then = load<V>(mean_weights.of(o) + j);
          store<V>(mean_weights.of(o) + j, then + gain * (now - then));
        }
    }
  }
  // Averages are differences of large numbers where the unit is small.
  static constexpr double kLeastUnit = 1e-60, kLeastUnitOfAverages = 1e-4;

  GradientOptions options;
  Rate rate_;
  Buffer bias, mean_bias, largest;  // per output
  // The weights and their averages. Of sparse rows the weights are `unit` times those, and their averages `average_of_w` times
  // `weights` plus `average` times `mean_weights`.
  Weights weights, mean_weights;
  typename Weights::Holder holder;
  FeatureSteps<Weights> steps;
  Buffer unit, average_of_w;  // per output
  double average = 1;
  int64_t rows = 0;
  Cuts cuts_;
};

}  // namespace thalweg::THALWEG_LEVEL
