#include "learner.hpp"

#include "prefixed_state.hpp"

namespace thalweg::THALWEG_LEVEL {

void mixing_shares(const double *losses, int64_t count, double sharpness, double *out) {
  const double least = *std::min_element(losses, losses + count);
  double whole = 0;
  for (int64_t i = 0; i < count; i++) whole += out[i] = std::exp(-sharpness * (losses[i] - least));
  for (int64_t i = 0; i < count; i++) out[i] /= whole;
}

Learner::~Learner() = default;

int64_t Learner::answer(const double *x) const {
  Scratch room(classes_);
  scores(x, room.data());
  return highest(room.data(), classes_);
}

void Learner::weighted_begin(const double *X, const int64_t *y, const double *weights, int64_t rows) {
  begin(X, y, 0);
  for (int64_t i = 0; i < rows; i++) counted_step(X + i * features_, y[i], weights[i]);
}

void Learner::visit_as_members(State &state, int64_t &index) {
  const std::string prefix = "member" + std::to_string(index++) + "_";
  if (!state.wants(prefix)) return;
  PrefixedState own(state, prefix);
  visit(own);
}

void Learner::posteriors(const double *x, double *out) const { probabilities(x, out); }

void Learner::judged_step(const double *x, int64_t k, double weight, double *out) {
  posteriors(x, out);
  counted_step(x, k, weight);
}

int64_t Learner::probable_step(const double *x, int64_t k, double weight, double *out) {
  probabilities(x, out);
  return counted_step(x, k, weight);
}

int64_t Learner::scored_step(const double *x, int64_t k, double weight, double *out) {
  scores(x, out);
  return counted_step(x, k, weight);
}

void Learner::probabilities(const double *x, double *out) const {
  scores(x, out);
  normalise(out);
}

void Learner::normalise(double *out) const {
  double top = -__builtin_inf(), whole = 0;
  for (int64_t c = 0; c < classes_; c++) top = std::max(top, out[c]);
  for (int64_t c = 0; c < classes_; c++)
    whole += out[c] = top == -__builtin_inf() ? 1 : std::exp(confidence() * (out[c] - top));
  for (int64_t c = 0; c < classes_; c++) out[c] /= whole;
}

void Learner::run(const double *X, const int64_t *y, int64_t rows, const Outputs &out) {
  run_as(*this, X, y, rows, out);
}

void Learner::weighted_run(const double *X, const int64_t *y, const double *weights, int64_t rows, const Outputs &out) {
  for (int64_t i = 0; i < rows; i++) {
    const double *x = X + i * features_;
    if (out.shares) shares(out.shares + i * members());
    const int64_t given =
        out.scores ? scored_step(x, y[i], weights[i], out.scores + i * classes_) : counted_step(x, y[i], weights[i]);
    if (out.answers) out.answers[i] = given;
    if (out.rates) out.rates[i] = rate();
  }
}

void Learner::learn_then_test(const double *X, const int64_t *y, int64_t rows, const double *test_X,
                              const int64_t *test_y, int64_t tests, int64_t *mistakes) {
  for (int64_t i = 0; i < rows; i++) {
    step(X + i * features_, y[i]);
    mistakes[i] = mistakes_on(test_X + i * tests * features_, test_y + i * tests, tests);
  }
}

int64_t Learner::mistakes_on(const double *X, const int64_t *y, int64_t rows) const {
  int64_t wrong = 0;
  for (int64_t i = 0; i < rows; i++) wrong += answer(X + i * features_) != y[i];
  return wrong;
}

int64_t Learner::weighted_step(const double *, int64_t, double) { throw std::invalid_argument("takes no weights"); }

void Learner::visit_classes(State &state) {
  int64_t count = classes_;
  state.integer("n_classes", count);
  if (count < 0 || count > state.most_classes()) throw BadState("n_classes");
  while (classes_ < count) announce(classes_);
  if (classes_ != count) throw BadState("n_classes");
}

}  // namespace thalweg::THALWEG_LEVEL
