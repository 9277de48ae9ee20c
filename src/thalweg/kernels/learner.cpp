#include "learner.hpp"

#include <cstdlib>

#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace {

// So many numbers, and zeros in the lanes behind them.
Lanes first_lanes(const double *from, int64_t count) {
  return each_group<Lanes>([&](int g) THALWEG_LAMBDA {
    const int64_t left = count - g * kLanes;
    if (left >= kLanes) return load<Lanes::V>(from + g * kLanes);
    return left > 0 ? load_some(from + g * kLanes, left, Lanes::V{}) : Lanes::V{};
  });
}

}  // namespace

double mixing_odds(const double *losses, int64_t count, double sharpness, double *out) {
  double least = losses[0];
  for (int64_t i = 1; i < count; i++) least = std::min(least, losses[i]);
  Lanes whole = 0.0;
  int64_t i = 0;
  for (; i + Lanes::kCount <= count; i += Lanes::kCount) {
    const Lanes odds = exponential(Lanes(sharpness) * (Lanes(least) - Lanes::load(losses + i)));
    odds.store(out + i);
    whole = whole + odds;
  }
  if (const int64_t left = count - i; left > 0) {
    static constexpr double kOnes[Lanes::kCount] = {1, 1, 1, 1, 1, 1, 1, 1};
    double last[Lanes::kCount];
    const Lanes odds = exponential(Lanes(sharpness) * (Lanes(least) - first_lanes(losses + i, left)));
    whole = whole + odds * first_lanes(kOnes, left);
    odds.store(last);
    for (int64_t j = 0; j < left; j++) out[i + j] = last[j];
  }
  return sum_of(whole);
}

void mixing_shares(const double *losses, int64_t count, double sharpness, double *out) {
  const double part = 1 / mixing_odds(losses, count, sharpness, out);
  for (int64_t i = 0; i < count; i++) out[i] *= part;
}

int threads_of_a_call() {
#if defined(__wasm__)
  return 1;
#else
  static const int threads = [] {
    const char *given = std::getenv("THALWEG_THREADS");
    return given ? std::clamp(std::atoi(given), 1, 64) : 1;
  }();
  return threads;
#endif
}

Learner::~Learner() = default;

int64_t Learner::answer(RowView x) const {
  Scratch room(classes_);
  scores(x, room.data());
  return highest(room.data(), classes_);
}

void Learner::begin(const double *X, const int64_t *y, const double *weights, int64_t rows) {
  forget();
  for (int64_t i = 0; i < rows; i++) step(X + i * features_, y[i], weights ? weights[i] : 1);
}

void Learner::learn_rows(const RowsToLearn &some, double *said, int64_t apart) {
  for (int64_t i = 0; i < some.rows; i++)
    step(some.X + i * features_, some.y[i], some.weights ? some.weights[i] : 1,
         {Wanted::kPosteriors, said + i * apart});
}

void Learner::visit_as_members(State &state, int64_t &index) {
  const std::string prefix = "member" + std::to_string(index++) + "_";
  if (!state.wants(prefix)) return;
  state.part(prefix, *this);
}

void Learner::posteriors(RowView x, double *out) const { probabilities(x, out); }

void Learner::show_now(RowView x, const Wanted &wanted) const {
  if (wanted.kind == Wanted::kScores) scores(x, wanted.out);
  if (wanted.kind == Wanted::kProbabilities) probabilities(x, wanted.out);
  if (wanted.kind == Wanted::kPosteriors) posteriors(x, wanted.out);
}

void Learner::show_scores_now(const double *scores, const Wanted &wanted) const {
  std::copy_n(scores, classes_, wanted.out);
  if (wanted.kind != Wanted::kScores) normalise(wanted.out);
}

void Learner::probabilities(RowView x, double *out) const {
  scores(x, out);
  normalise(out);
}

void Learner::normalise(double *out) const {
  double top = -__builtin_inf(), whole = 0;
  for (int64_t c = 0; c < classes_; c++) top = std::max(top, out[c]);
  for (int64_t c = 0; c < classes_; c++)
    whole += out[c] = top == -__builtin_inf() ? 1 : std::exp(traits_.confidence * (out[c] - top));
  for (int64_t c = 0; c < classes_; c++) out[c] /= whole;
}

void Learner::run(const double *X, const int64_t *y, const double *weights, int64_t rows, const Outputs &out) {
  run_as(*this, DenseAccess{X, rows, features_}, y, weights, out);
}

int64_t Learner::mistakes_on(const double *X, const int64_t *y, int64_t rows) const {
  int64_t wrong = 0;
  for (int64_t i = 0; i < rows; i++) wrong += answer(X + i * features_) != y[i];
  return wrong;
}

void Learner::visit_classes(State &state) {
  int64_t count = classes_;
  state.integer("n_classes", count);
  if (count < 0 || count > state.most_classes()) throw BadState("n_classes");
  while (classes_ < count) announce(classes_);
  if (classes_ != count) throw BadState("n_classes");
}

}  // namespace thalweg::THALWEG_LEVEL
