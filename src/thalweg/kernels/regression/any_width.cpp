#include "regression/any_width.hpp"

namespace thalweg::THALWEG_LEVEL {

AnyLeastSquares::AnyLeastSquares(int64_t p, int64_t stride, const LeastSquaresOptions &options)
    : Regressor(p), options(options), gamma(1 - options.forgetting), stride_(stride), origin(stride), mean(stride),
      scale(stride), penalty_held(stride), e_(stride), u_(stride), asleep(p) {}

void AnyLeastSquares::begin(const double *X, const double *Y, const double *masses, int64_t count) {
  forget();
  survey(X, masses, count);
  run(X, Y, masses, count, {});
}

void AnyLeastSquares::visit(State &state) {
  visit_outputs(state);
  const int64_t p = features(), n = stride_;
  state.integer("rows", rows, not_negative);
  state.integer("penalty_cursor", cursor, within<int64_t>(0, p - 1));
  state.real("weight", weight, not_negative);
  state.matrix("origin", origin, 1, p, n);
  state.matrix("mean", mean, 1, p, n);
  state.matrix("scale", scale, 1, p, n);
  state.matrix("penalty_held", penalty_held, 1, p, n);
  state.matrix("target_origin", target_origin, 1, outputs(), outputs());
  state.matrix("target_mean", target_mean, 1, outputs(), outputs());
  state.matrix("weights", weights, outputs(), p, n);
  factor().visit(state);
  asleep = std::count(scale.begin(), scale.begin() + p, 0.0);
}

void AnyLeastSquares::make_room() {
  target_origin.assign(outputs(), 0.0);
  target_mean.assign(outputs(), 0.0);
  residual.assign(outputs(), 0.0);
  weights.assign(outputs() * stride_, 0.0);
}

void AnyLeastSquares::wake(const double *e) {
  for (int64_t j = 0; j < features(); j++) wake(j, e[j] * e[j]);
}

void AnyLeastSquares::wake(int64_t j, double square) {
  if (scale[j] > 0 || !(square > kLeastVariance)) return;
  scale[j] = square;
  penalty_held[j] = options.penalty;
  factor().release(j, options.penalty + kNothingKnown * square);
  asleep--;
}

void AnyLeastSquares::survey(const double *X, const double *masses, int64_t count) {
  for (int64_t j = 0; j < features(); j++) {
    double all = 0, centre = 0, square = 0;
    for (int64_t i = 0; i < count; i++) {
      const double mass = masses ? masses[i] : 1, d = X[i * features() + j] - centre;
      if (!(mass > 0)) continue;
      all += mass;
      if (options.intercept) centre += d * mass / all;
      square += (d * (X[i * features() + j] - centre) - square) * mass / all;
    }
    wake(j, square);
  }
}

void AnyLeastSquares::hold(const double *e, double fade) {
  hold(e, fade, [&](int64_t j, double more) { this->raise(j, more); });
}

void AnyLeastSquares::follow_scale(const double *e) {
  const double gain = std::max(1 / double(rows), kLongRun);
  for (int64_t j = 0; j < features() && rows > 1; j++) {  // the first row says nothing of a scale that `fit` knows
    double square = e[j] * e[j];
    if (rows > kTrusted) square = std::min(square, kWild * scale[j]);  // one wild value must not stiffen it for good
    if (scale[j] > 0) scale[j] += gain * (square - scale[j]);
  }
}

void AnyLeastSquares::hold_little() {
  factor().hold_above(scale, kNothingKnown);
  for (int64_t j = 0; asleep > 0 && j < features(); j++)
    if (scale[j] == 0) factor().release(j, 1);
}

void AnyLeastSquares::forget() {
  for (Buffer *values : {&origin, &mean, &scale, &penalty_held, &target_origin, &target_mean, &weights})
    std::fill(values->begin(), values->end(), 0.0);
  factor().identity();
  rows = cursor = 0;
  asleep = features();
  weight = 0;
}

}  // namespace thalweg::THALWEG_LEVEL
