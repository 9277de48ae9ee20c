// Whole chunks of rows for a discriminant of many features: the same numbers to the last bit, in fewer passes.
//
// A row reads the triangle of L twice: to project e, and to make the change. Where the next row is known the change of
// one and the projection of the other share a pass. From p = 256 on, where the triangle outgrows the cache, blocks of
// rows go through it together (`Factor::absorb_rows`): what a row does to counts, means and rates is found ahead for the
// whole block, which needs a rate that does not hang on the answers. An error-driven rate shares a pass between two rows
// at any width. A ridge makes changes between the rows, which go one by one.
#pragma once

#include "discriminant.hpp"

namespace thalweg::THALWEG_LEVEL {

// Rows of a block, and what is found for each of them before it is learned.
template <int P> struct Discriminant<P>::Ahead {
  static constexpr int64_t kMost = 64;

  explicit Ahead(const Discriminant &of)
      : e(kMost * of.stride()), u(kMost * of.stride()), diagonals(kMost * of.stride()), inverses(kMost),
        start(of.features()) {}

  double *row(Buffer &of, int64_t s) { return of.data() + s * (of.size() / kMost); }
  void absorb(int64_t count, Factor<P> &into) {
    into.absorb_rows(count, e.data(), changes.data(), u.data(), diagonals.data(), inverses.data(), start);
  }

  Buffer e, u, diagonals, inverses;
  Factor<P> start;  // P before the block
  std::vector<Move> moves;
  std::vector<RankOne> changes;
};

template <int P> void Discriminant<P>::run_wide(const double *X, const int64_t *y, int64_t count, const Outputs &out) {
  if (options.ridge > 0) return run_as(*this, X, y, count, out);
  const int64_t start = std::min(count, warm_left);
  run_as(*this, X, y, start, out);
  if (start == count) return;
  rows += count - start;
  const Outputs rest = out.after(start, classes());
  const bool in_blocks = features() >= kWide && rate_.kind() != Rate::kErrorDriven;
  in_blocks ? run_in_blocks(X + start * features(), y + start, count - start, rest)
            : run_in_one_pass(X + start * features(), y + start, count - start, rest);
}

template <int P>
void Discriminant<P>::run_in_one_pass(const double *X, const int64_t *y, int64_t count, const Outputs &out) {
  Buffer f(stride()), g(stride()), lambda(stride()), before(stride());
  Move move{};
  double inverse = 0;
  for (int64_t i = 0; i < count; i++) {
    width.difference(X + i * features(), origin.data(), z_.data());
    width.difference_padded(z_.data(), M.data() + y[i] * stride(), e_.data());
    if (i == 0) {
      P_.project(e_.data(), f.data());
    } else {
      P_.rotate_and_project(g.data(), lambda.data(), u_.data(), e_.data(), f.data());
      tidy(reweigh(before.data(), u_.data(), move.change, inverse, move.k, move.gain) < kGreatShrink);
    }
    const int64_t given = answer_row(i, out);
    move = Move(options, y[i], counts[y[i]], total, Share::once(rate_.next(given != y[i])));
    if (out.rates) out.rates[i] = rate_.value;
    approach(e_.data(), move);
    count_row(move);
    inverse = P_.settle(f.data(), move.change, g.data(), lambda.data());
    e_.swap(before);
  }
  P_.rotate(g.data(), lambda.data(), u_.data());
  tidy(reweigh(before.data(), u_.data(), move.change, inverse, move.k, move.gain) < kGreatShrink);
}

template <int P>
void Discriminant<P>::run_in_blocks(const double *X, const int64_t *y, int64_t count, const Outputs &out) {
  Ahead ahead(*this);
  int64_t trust = Ahead::kMost;  // rows that a block is likely to last
  for (int64_t i = 0; i < count;) {
    const int64_t planned = std::min({count - i, trust, refresh_after() - since_refresh});
    look_ahead(X + i * features(), y + i, planned, ahead);
    ahead.absorb(planned, P_);
    const int64_t done = catch_up(X + i * features(), planned, ahead, out.after(i, classes()));
    trust = done < planned ? 1 : std::min(2 * trust, Ahead::kMost);
    i += done;
  }
}

// Everything about the rows that does not depend on P.
template <int P>
void Discriminant<P>::look_ahead(const double *X, const int64_t *y, int64_t count, Ahead &ahead) const {
  Buffer means(M), seen(counts);
  double all = total;
  Rate rate(rate_);
  ahead.moves.clear();
  ahead.changes.clear();
  for (int64_t s = 0; s < count; s++) {
    double *e = ahead.row(ahead.e, s), *m = means.data() + y[s] * stride();
    width.difference(X + s * features(), origin.data(), e);
    width.difference_padded(e, m, e);
    const Move move(options, y[s], seen[y[s]], all, Share::once(rate.next(false)));
    width.add(m, move.gain, e);
    move.count(options, seen.data(), classes(), all);
    ahead.moves.push_back(move);
    ahead.changes.push_back(move.change);
  }
}

// Answers and learns the rows of a block whose changes of P are made. Where P has to be looked after behind a row, P
// goes back to the block's start and makes the changes up to that row alone. Returns how many rows were learned.
template <int P>
int64_t Discriminant<P>::catch_up(const double *X, int64_t count, Ahead &ahead, const Outputs &out) {
  for (int64_t s = 0; s < count; s++) {
    const Move &move = ahead.moves[s];
    width.difference(X + s * features(), origin.data(), z_.data());
    answer_row(s, out);
    rate_.next(false);
    if (out.rates) out.rates[s] = rate_.value;
    const double *e = ahead.row(ahead.e, s);
    approach(e, move);
    const bool stale =
        reweigh(e, ahead.row(ahead.u, s), move.change, ahead.inverses[s], move.k, move.gain) < kGreatShrink;
    count_row(move);
    const bool last = s + 1 == count;
    if (last || stale || P_.needs_cap(variance.data(), ahead.row(ahead.diagonals, s))) {
      if (!last) {
        P_ = ahead.start;
        ahead.absorb(s + 1, P_);
      }
      tidy(stale);
      return s + 1;
    }
    since_refresh++;
  }
  return count;
}

// The answer to the row in z_, written where it is wanted.
template <int P> int64_t Discriminant<P>::answer_row(int64_t i, const Outputs &out) {
  score(z_.data(), score_.data());
  const int64_t given = highest(score_.data(), classes());
  if (out.scores) std::copy(score_.begin(), score_.begin() + classes(), out.scores + i * classes());
  if (out.answers) out.answers[i] = given;
  return given;
}

}  // namespace thalweg::THALWEG_LEVEL
