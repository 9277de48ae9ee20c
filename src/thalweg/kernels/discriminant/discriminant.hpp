// The online linear discriminant classifier, O-LDC (Kuncheva & Plumpton 2008; corrected by Schnackenberg et al. 2018).
//
// For a row x of class k, with e = x - m_k before the row, every variant is one formula,
//     m_k <- m_k + gain e,      S <- (a S + weight e e') / (a + lambda),      a = (1 - lambda) N,
// and differs in gain, weight and in how the counts go on. A row that counts w times (ours): soft counts take it for w
// copies in sequence, lambda -> 1 - (1 - lambda)^w; hard counts set lambda w against (1 - lambda) N and count it w times,
// which at lambda = 1/2 is w copies too. All rows are taken relative to the first one ever seen:
// a common shift changes no decision, and offsets such as time stamps then cost no digits.
#pragma once

#include "discriminant/any_width.hpp"
#include "discriminant/row.hpp"
#include "linear_algebra/row_block.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class T> class DiscriminantBlocks;

// T: what the factor is kept in, floats where the width is known at run time only.
template <int P, class T = double>
class Discriminant final : public DiscriminantRow<P, double, double, AnyDiscriminant, FactorOf<P, double, T>> {
  using Row = DiscriminantRow<P, double, double, AnyDiscriminant, FactorOf<P, double, T>>;
  using W = typename Row::W;
  friend class DiscriminantBlocks<T>;
  template <int> friend class SideBySide;
  template <class A, class B, class Act> friend void each_array(A &, B &, Act);
  template <class A, class B, class Act> friend void each_number(A &, B &, Act);

 public:
  Discriminant(int64_t p, const DiscriminantOptions &options, const Rate &rate)
      : Discriminant(Row::width_for(p), options, rate) {}

  MeanLearner *copy() const override { return new Discriminant(*this); }

  void scores(RowView x, double *out) const override {
    Scratch at(stride());
    width.difference(x, origin.data(), at.data());
    score(at.data(), out);
  }

  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    show(x, wanted);
    return take(x, k, weight);
  }

  // Null masses: each row counts once.
  void run(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out) override {
    if constexpr (P == 0 || (P > kFew)) run_many(X, y, masses, count, out);
    else if (masses || out.scores || out.rates || options.ridge > 0 || classes() != 2)
      Learner::run(X, y, masses, count, out);
    else run_two_classes(X, y, count, out.answers);
  }

  int64_t mistakes_on(const double *X, const int64_t *y, int64_t count) const override {
    int64_t wrong = 0, i = 0;
    Scratch room(std::max<int64_t>(stride() + classes(), Lanes::kCount * classes()));
    if constexpr (P > 0 && P <= kFew) {
      alignas(64) double shift[P], at[P * Lanes::kCount];
      for (int j = 0; j < P; j++) shift[j] = -origin[j];
      const Answered most = answer_in_lanes(X, y, count, P, shift, at, [&](const double *row) THALWEG_LAMBDA {
        for (int64_t c = 0; c < classes(); c++) store<Lanes>(room.data() + c * Lanes::kCount, score_in_lanes(c, row));
        return best_of<Lanes>(room.data(), classes());
      });
      wrong = most.wrong;
      i = most.rows;
    }
    for (; i < count; i++) {
      width.difference(X + i * features(), origin.data(), room.data());
      score(room.data(), room.data() + stride());
      wrong += highest(room.data() + stride(), classes()) != y[i];
    }
    return wrong;
  }

  void weigh(const double *mean, double *w) override {
    std::copy(mean, mean + features(), z_.begin());
    P_.apply(z_.data(), e_.data());
    std::copy(e_.begin(), e_.begin() + features(), w);
  }

 protected:
  Triangle &factor() override { return P_; }
  void refresh_weights() override { Row::refresh(true); }
  double raise(int64_t j, double more) override {
    std::fill_n(e_.data(), width.stride(), 0.0);
    e_[j] = 1;
    const RankOne change{1, more, 1};
    const double inverse = P_.absorb(e_.data(), change, u_.data());
    return reweigh(e_.data(), u_.data(), change, inverse, -1, 0);
  }

 private:
  Discriminant(const W &width, const DiscriminantOptions &options, const Rate &rate)
      : Row(width, width.features(), width.stride(), options, rate) {
    this->traits_.outweighs_a_look = width.features() >= wide_from(false);
  }

  // As `score_of`, for eight rows.
  THALWEG_INLINE Lanes score_in_lanes(int64_t c, const double *row) const {
    Lanes score = log_prior[c] - half_square[c];
    for (int j = 0; j < P; j++) score = fused(Lanes(weights[c * P + j]), load<Lanes>(row + j * Lanes::kCount), score);
    return score;
  }

  // Few features take so little time that a row's call, what never changes and every detour to memory would be felt.
  THALWEG_NO_VECTORIZE void run_two_classes(const double *X, const int64_t *y, int64_t count, int64_t *answers) {
    int64_t i = 0;
    for (; i < count && warm_left > 0; i++) {
      const int64_t given = take(X + i * P, y[i], 1);
      if (answers) answers[i] = given;
    }
    rows += count - i;
    const bool constant = rate_.kind() == Rate::kConstant;
    const Share always = Share::once(rate_.value);
    DiscriminantRow<P, double, double, TwoClassState<P>, SmallFactor<P, double, BareEntries<P>>> row(width, stride(),
                                                                                                     options);
    copy_to(row);
    typename W::Room z(z_);
    for (; i < count; i++) {
      fetch_ahead(X + i * P, P);
      row.width.difference(X + i * P, row.origin.data(), z);
      const int64_t given = row.answer_to(z), k = y[i];
      const Move move(row.options, k, row.counts[k], row.total,
                      constant ? always : Share::once(rate_.next(given != k)));
      row.count_row(move);  // its logarithm, for which nothing waits, has time until the next row
      row.tidy(row.follow(z, move));
      if (answers) answers[i] = given;
    }
    copy_back(row);
  }
  // What rows change goes into a loop's own state, and comes back.
  template <class Own> THALWEG_INLINE void copy_to(Own &own) {
    each_array(*this, own, [](const auto &from, auto &to) { std::copy(from.begin(), from.end(), to.begin()); });
    each_number(*this, own, [](const auto &from, auto &to) { to = from; });
  }
  template <class Own> THALWEG_INLINE void copy_back(const Own &own) {
    each_array(*this, own, [](auto &to, const auto &from) { std::copy_n(from.begin(), to.size(), to.begin()); });
    each_number(*this, own, [](auto &to, const auto &from) { to = from; });
  }
  // The mass is told at run time: a row that counts otherwise than once would need all of this a second time.
  THALWEG_NOINLINE THALWEG_NO_VECTORIZE int64_t take(const double *x, int64_t k, double mass) {
    if (rows++ == 0) std::copy(x, x + features(), origin.begin());
    typename W::Room z(z_);
    width.difference(x, origin.data(), z);
    const int64_t given = Row::answer_to(z);
    if (warm_left > 0) {
      gather(z, k, mass);
      settle();
      if (--warm_left == 0) end_start();
    } else {
      learn(z, Move(options, k, counts[k], total, share(rate_.next(given != k), mass)));
    }
    return given;
  }

  // A copy of the move goes to what is not inlined: the move itself then need not stand in memory.
  THALWEG_INLINE void learn(const double *z, const Move &move) {
    bool stale = Row::follow(z, move);
    if (options.ridge > 0) stale |= hold_ridge(z, Move(move));
    tidy(stale);
    count_row(move);
  }

  THALWEG_NOINLINE void learn_apart(const double *z, const Move &move) { learn(z, move); }

  // Features from which rows go in blocks: whoever cuts a chunk into pieces there would move their borders.
  int64_t wide_from(bool weighted) const { return weighted || options.ridge > 0 ? kWideInTwo : kWide; }

  // Whole chunks, below.
  void run_many(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out);
  void run_singly(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out);
  void run_in_one_pass(const double *X, const int64_t *y, int64_t count, const Outputs &out);
  // The answer by the scores at hand, written where it is wanted.
  THALWEG_INLINE int64_t write_answer(int64_t i, const Outputs &out, int64_t classes) const {
    const int64_t given = best_of<double>(score_.data(), classes);
    if (out.scores) std::copy(score_.begin(), score_.begin() + classes, out.scores + i * classes);
    if (out.answers) out.answers[i] = given;
    return given;
  }
  // The change that a row makes of L and of w, before it is made; f and w_c'e are those of the row at hand.
  struct LastChange {
    LastChange(int64_t stride, int64_t classes) : f(stride), g(stride), lambda(stride), along(classes) {}
    Buffer f, g, lambda, along;
    RankOne change{};
    int64_t k = 0;
    double gain = 0, inverse = 0;
  };
  template <class State>
  void learn_chunk(State &state, LastChange &last, const double *X, const int64_t *y, int64_t count,
                   const Outputs &out);
  template <int Q>
  bool learn_in_place(LastChange &last, const double *X, const int64_t *y, int64_t count, const Outputs &out);

  using Row::width, Row::P_, Row::options, Row::counts, Row::log_prior, Row::half_square, Row::M, Row::weights;
  using Row::origin, Row::variance, Row::z_, Row::e_, Row::u_, Row::score_, Row::last, Row::since_refresh, Row::total;
  using Row::rate_, Row::rows, Row::warm_left;
  using Row::stride, Row::features, Row::classes, Row::highest;
  using Row::score, Row::show, Row::approach, Row::reweigh, Row::tidy, Row::count_row, Row::share;
  using Row::gather, Row::settle, Row::end_start, Row::hold_ridge, Row::survey, Row::top_up_ridge, Row::ridge_turns;
};

// Chunks of rows of many features, in fewer passes over the factor.
//
// A row reads the triangle of L twice: to project e, and to make the change. Where the next row is known the change of
// one and the projection of the other share a pass, with the same numbers to the last bit. From `wide_from` features on
// blocks of rows go through it together and agree with single rows to rounding (blocks.hpp). Below that a ridge, which
// makes changes between the rows, and weights go row by row.
template <int P, class T>
void Discriminant<P, T>::run_many(const double *X, const int64_t *y, const double *masses, int64_t count,
                                  const Outputs &out) {
  if (P != 0 && masses) return Learner::run(X, y, masses, count, out);
  int64_t start = 0;  // rows of the start go one by one, those that count for nothing are none of it
  for (; start < count && warm_left > 0; start++)
    Learner::run(X + start * features(), y + start, masses ? masses + start : nullptr, 1, out.after(start, classes()));
  X += start * features(), y += start, count -= start;
  if (masses) masses += start;
  const Outputs rest = out.after(start, classes());
  if constexpr (P == 0)
    if (features() >= wide_from(masses) && count >= RowBlocks::kFewest)
      return DiscriminantBlocks<T>(*this, count).run(X, y, masses, count, rest);
  run_singly(X, y, masses, count, rest);
}

template <int P, class T>
void Discriminant<P, T>::run_singly(const double *X, const int64_t *y, const double *masses, int64_t count,
                                    const Outputs &out) {
  if (masses || options.ridge > 0) return Learner::run(X, y, masses, count, out);
  if (count > 0) run_in_one_pass(X, y, count, out);
}

// Learns the rows of a chunk, each after the projection and the scores of the next. `state` is this model, or a copy of
// what the rows change. The last row's change of L and of w is left to the caller.
template <int P, class T>
template <class State>
THALWEG_INLINE void Discriminant<P, T>::learn_chunk(State &state, LastChange &last, const double *X, const int64_t *y,
                                                    int64_t count, const Outputs &out) {
  typename State::W::Room z(z_), e(e_), u(u_), f(last.f), g(last.g), lambda(last.lambda);
  e.take(e_), f.take(last.f);
  const bool constant = rate_.kind() == Rate::kConstant;
  const Share always = Share::once(rate_.value);
  for (int64_t i = 0;; i++) {
    const int64_t given = write_answer(i, out, state.known), k = y[i];
    const Move move(state.options, k, state.counts[k], state.total,
                    constant ? always : Share::once(rate_.next(given != k)));
    if (out.rates) out.rates[i] = rate_.value;
    state.count_row(move);
    state.approach(e, move);
    const double inverse = state.P_.settle(f, move.change, g, lambda);
    if (i + 1 == count) {  // number by number: the move itself then need not stand in memory
      last.change.a = move.change.a, last.change.weight = move.change.weight, last.change.scale = move.change.scale;
      last.k = k, last.gain = move.gain, last.inverse = inverse;
      g.give(last.g), lambda.give(last.lambda);
      return;
    }
    X += features();
    fetch_ahead(X, state.stride());
    state.width.difference(X, state.origin.data(), z);
    state.width.difference_padded(z, state.M.data() + y[i + 1] * state.stride(), e);
    state.P_.rotate_and_project(g, lambda, u, e, f);
    const double shrink =
        state.reweigh_and_look(u, move.change, inverse, k, move.gain, z, e, score_.data(), last.along.data());
    if (state.tidy(shrink < kGreatShrink)) state.look(z, e, score_.data(), last.along.data());
  }
}

template <int P, class T>
void Discriminant<P, T>::run_in_one_pass(const double *X, const int64_t *y, int64_t count, const Outputs &out) {
  rows += count;
  LastChange last(stride(), classes());
  width.difference(X, origin.data(), z_.data());
  width.difference_padded(z_.data(), M.data() + y[0] * stride(), e_.data());
  P_.project(e_.data(), last.f.data());
  Row::look(z_.data(), e_.data(), score_.data(), last.along.data());
  if (!learn_in_place<6>(last, X, y, count, out)) learn_chunk(*this, last, X, y, count, out);
  P_.rotate(last.g.data(), last.lambda.data(), u_.data());
  const auto known = [&](int64_t c) THALWEG_LAMBDA { return last.along[c]; };
  tidy(Row::reweigh_by(known, u_.data(), last.change, last.inverse, last.k, last.gain) < kGreatShrink);
}

// The same for two classes and few features: the rows change a copy of the model whose layout the compiler knows.
// Returns false where no such loop is compiled, or where the chunk is too short for a copy.
template <int P, class T>
template <int Q>
bool Discriminant<P, T>::learn_in_place(LastChange &last, const double *X, const int64_t *y, int64_t count,
                                        const Outputs &out) {
  if constexpr (P > 0 || !std::is_same_v<T, double> || Q > kMostInPlace) {
    return false;
  } else {
    if (classes() != 2 || count < RowBlocks::kFewest) return false;
    if (features() > Q) return learn_in_place<Q + 2>(last, X, y, count, out);
    DiscriminantRow<Q, double, double, TwoClassState<Q>, Factor<Q, double, BareBlocks<Q>>> state(Width<Q>(features()),
                                                                                                 stride(), options);
    copy_to(state);
    learn_chunk(state, last, X, y, count, out);
    copy_back(state);
    return true;
  }
}

}  // namespace thalweg::THALWEG_LEVEL
