// Whole chunks of rows for a discriminant of many features, in fewer passes over its factor.
//
// A row reads the triangle of L twice: to project e, and to make the change. Where the next row is known the change of
// one and the projection of the other share a pass, with the same numbers to the last bit. Of many features, where it is
// faster (row_block.hpp), blocks of rows go through it together and agree with single rows to rounding
// (discriminant_blocks.hpp). Below that a ridge, which makes changes between the rows, and weights go row by row.
#pragma once

#include "discriminant.hpp"
#include "discriminant_blocks.hpp"

namespace thalweg::THALWEG_LEVEL {

template <int P, class T>
void Discriminant<P, T>::run_many(const double *X, const int64_t *y, int64_t count, const Outputs &out) {
  const int64_t start = std::min(count, warm_left);
  Learner::run(X, y, start, out);
  run_on(X + start * features(), y + start, nullptr, count - start, out.after(start, classes()));
}

template <int P, class T>
void Discriminant<P, T>::weighted_run(const double *X, const int64_t *y, const double *masses, int64_t count,
                                      const Outputs &out) {
  if constexpr (P != 0) {
    Learner::weighted_run(X, y, masses, count, out);
  } else {
    int64_t start = 0;
    for (; start < count && warm_left > 0; start++)
      Learner::weighted_run(X + start * features(), y + start, masses + start, 1, out.after(start, classes()));
    run_on(X + start * features(), y + start, masses + start, count - start, out.after(start, classes()));
  }
}

template <int P, class T>
void Discriminant<P, T>::run_on(const double *X, const int64_t *y, const double *masses, int64_t count,
                                const Outputs &out) {
  if constexpr (P == 0)
    if (features() >= wide_from(masses) && count >= RowBlocks::kFewest)
      return DiscriminantBlocks<T>(*this, count).run(X, y, masses, count, out);
  run_singly(X, y, masses, count, out);
}

template <int P, class T>
void Discriminant<P, T>::run_singly(const double *X, const int64_t *y, const double *masses, int64_t count,
                                    const Outputs &out) {
  if (masses) return Learner::weighted_run(X, y, masses, count, out);
  if (options.ridge > 0) return Learner::run(X, y, count, out);
  if (count > 0) run_in_one_pass(X, y, count, out);
}

template <int P, class T>
void Discriminant<P, T>::run_in_one_pass(const double *X, const int64_t *y, int64_t count, const Outputs &out) {
  rows += count;
  Buffer f(stride()), g(stride()), lambda(stride()), along(classes());
  Move move{};
  double inverse = 0;
  for (int64_t i = 0; i <= count; i++) {
    const bool more = i < count;
    if (more) {
      fetch_ahead(X + i * features(), features());
      width.difference(X + i * features(), origin.data(), z_.data());
      width.difference_padded(z_.data(), M.data() + y[i] * stride(), e_.data());
    }
    if (i == 0) {
      P_.project(e_.data(), f.data());
    } else {
      if (more) P_.rotate_and_project(g.data(), lambda.data(), u_.data(), e_.data(), f.data());
      else P_.rotate(g.data(), lambda.data(), u_.data());
      const auto known = [&](int64_t c) THALWEG_LAMBDA { return along[c]; };
      tidy(Row::reweigh_by(known, u_.data(), move.change, inverse, move.k, move.gain) < kGreatShrink);
    }
    if (!more) return;
    score(z_.data(), score_.data());
    const int64_t given = write_answer(i, out);
    move = Move(options, y[i], counts[y[i]], total, Share::once(rate_.next(given != y[i])));
    if (out.rates) out.rates[i] = rate_.value;
    approach(e_.data(), move);
    count_row(move);
    // Here, where nothing waits for it; behind the pass over the triangle the next answer would.
    for (int64_t c = 0; c < classes(); c++) along[c] = Row::along_weights(c, e_.data());
    inverse = P_.settle(f.data(), move.change, g.data(), lambda.data());
  }
}

// The answer by the scores at hand, written where it is wanted.
template <int P, class T> int64_t Discriminant<P, T>::write_answer(int64_t i, const Outputs &out) {
  const int64_t given = highest(score_.data(), classes());
  if (out.scores) std::copy(score_.begin(), score_.begin() + classes(), out.scores + i * classes());
  if (out.answers) out.answers[i] = given;
  return given;
}

}  // namespace thalweg::THALWEG_LEVEL
