#include "discriminant/any_width.hpp"

namespace thalweg::THALWEG_LEVEL {

AnyDiscriminant::AnyDiscriminant(int64_t p, int64_t stride, const DiscriminantOptions &options, const Rate &rate)
    : MeanLearner(p), DiscriminantState(stride, options), rate_(rate), ridge_held(stride),
      long_run(stride, RunningVariance::kLongRun, true, false, kOrderless),
      warm_left(std::max<int64_t>(1, options.warmup)) {}

AnyDiscriminant::AnyDiscriminant(const AnyDiscriminant &) = default;
AnyDiscriminant::~AnyDiscriminant() = default;

void AnyDiscriminant::begin(const double *X, const int64_t *y, const double *masses, int64_t count) {
  forget();
  for (int64_t i = 0; i < count; i++) {
    const double mass = masses ? masses[i] : 1, *x = X + i * features();
    if (!(mass > 0)) continue;
    if (rows++ == 0) std::copy(x, x + features(), origin.begin());
    localise(x, z_.data());
    gather(z_.data(), y[i], mass);
  }
  if (rows == 0) return;
  settle();
  warm_left = 0;
  end_start();
}

void AnyDiscriminant::visit(State &state) {
  visit_classes(state);
  const int64_t p = features(), c = classes(), n = stride();
  state.integer("rows", rows);
  state.integer("warm_left", warm_left);
  state.integer("last_class", last, within<int64_t>(warm_left > 0 ? -1 : 0, c - 1));
  state.integer("since_refresh", since_refresh);
  state.integer("ridge_cursor", cursor, within<int64_t>(0, p - 1));
  state.real("total", total);
  state.real("log_count", log_count);
  state.matrix("counts", counts, 1, c, c);
  state.unbounded([&] { state.matrix("log_prior", log_prior, 1, c, c, below_infinity); });
  state.matrix("half_square", half_square, 1, c, c);
  state.matrix("means", M, c, p, n);
  state.matrix("weights", weights, c, p, n);
  state.matrix("origin", origin, 1, p, n);
  state.matrix("variance", variance, 1, p, n);
  state.real("surveyed", long_run.rows);
  state.matrix("ridge_held", ridge_held, 1, p, n);
  state.matrix("long_mean", long_run.mean, 1, p, n);
  state.matrix("long_variance", long_run.variance, 1, p, n);
  if (warm_left > 0) {
    scatter.resize(n * n, 0.0);
    state.matrix("scatter", scatter, p, p, n);
  } else {
    scatter.clear();
  }
  factor().visit(state);
  rate_.visit(state);
}

void AnyDiscriminant::insert(int64_t at) {
  insert_class(at);
  if (last >= at) last++;
}

Share AnyDiscriminant::share_of_several(double lambda, double mass) const {
  if (!options.soft_counts) return {1 - lambda, lambda * mass, mass};
  const double fade = std::exp(mass * std::log1p(-lambda));
  return {std::max(fade, std::min(kLeastFade, 1 - lambda)), repeated(lambda, mass), mass};
}

void AnyDiscriminant::weigh_classes() {
  for (int64_t c = 0; c < classes(); c++) log_prior[c] = counts[c] > 0 ? logarithm(counts[c]) : -__builtin_inf();
}

bool AnyDiscriminant::hold_ridge(const double *z, const Move &move) {
  survey(z, move.row.mass);
  return top_up_ridge(move, [&](int64_t j, double more) { return raise(j, more); });
}

void AnyDiscriminant::gather(const double *z, int64_t k, double mass) {
  const int64_t p = features(), n = stride();
  if (scatter.empty()) scatter.assign(n * n, 0.0);
  double *m = M.data() + k * n;
  const double before = counts[k];
  counts[k] += mass;
  total += mass;
  last_gain_ = mass / counts[k];
  survey(z, mass);
  for (int64_t j = 0; j < p; j++) {
    e_[j] = z[j] - m[j];
    m[j] += e_[j] * mass / counts[k];
  }
  const double weight = before * mass / counts[k];
  for (int64_t j = 0; j < p; j++) {
    const double f = weight * e_[j];
    for (int64_t i = j; i < p; i++) scatter[j * n + i] += f * e_[i];
  }
  last = k;
  log_count = logarithm(counts[k]);
}

void AnyDiscriminant::settle() {
  const int64_t p = features(), n = stride();
  weigh_classes();
  Scratch room(n * n);
  double *covariance = room.data();
  int64_t seen = 0;
  for (int64_t j = 0; j < p; j++) {
    for (int64_t i = j; i < p; i++) covariance[j * n + i] = scatter[j * n + i] / total;
    ridge_held[j] = options.ridge * long_run.variance[j];
    variance[j] = covariance[j * n + j] + ridge_held[j];
  }
  for (int64_t c = 0; c < classes(); c++) seen += counts[c] > 0;
  for (int64_t j = 0; j < p; j++) factor().measure(j, variance[j]);
  const bool full_rank_possible = options.ridge > 0 || rows - seen >= p;
  if (full_rank_possible && factor().invert(covariance, n, variance.data())) {
    refresh_weights();
    if (factor().in_units()) weigh_by(covariance);
    return;
  }
  factor().identity();
  std::fill(variance.begin(), variance.begin() + p, 1.0);
  // Without a ridge this says that the identity stands in: whoever adds models up must know it.
  std::fill(ridge_held.begin(), ridge_held.end(), options.ridge > 0 ? 0.0 : 1.0);
  refresh_weights();
}

void AnyDiscriminant::weigh_by(const double *rows_of_U) {
  for (int64_t c = 0; c < classes(); c++) {
    const double *m = M.data() + c * stride();
    double *w = weights.data() + c * stride();
    factor().apply_rows(rows_of_U, stride(), m, w);
    half_square[c] = 0;
    for (int64_t j = 0; j < features(); j++) half_square[c] += 0.5 * w[j] * m[j];
  }
}

void AnyDiscriminant::end_start() {
  if (scatter.size() > kSmallScatter) scatter = Buffer();  // and its memory, twice that of the factor
  else scatter.clear();
  if (!options.soft_counts) return;
  const double whole = std::min(1.0, total * rate_.value);
  for (double &count : counts) count *= whole / total;
  total = whole;
  weigh_classes();
}

void AnyDiscriminant::forget() {
  for (Buffer *values : {&counts, &half_square, &M, &weights, &origin, &variance, &ridge_held}) values->fill(0);
  std::fill(log_prior.begin(), log_prior.end(), -__builtin_inf());
  scatter = Buffer();
  factor().identity();
  rate_.reset();
  rows = since_refresh = cursor = 0;
  total = 0;
  long_run.forget();
  last = -1;
  warm_left = std::max<int64_t>(1, options.warmup);
}

}  // namespace thalweg::THALWEG_LEVEL
