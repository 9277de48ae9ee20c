// Chunks of wide rows for a discriminant: blocks of rows share two passes over the factor (linear_algebra/row_block.hpp).
//
// Inside a block the factor and the weights w_c = P m_c wait, but every answer is given as if they did not. Means,
// counts, rates, D and the order of it all are those of single rows; only sums over features are taken in another
// order, so that the numbers agree with theirs to rounding.
#pragma once

#include "discriminant/discriminant.hpp"
#include "linear_algebra/row_block.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class T> class DiscriminantBlocks : RowBlocks {
 public:
  // For a chunk of so many rows.
  DiscriminantBlocks(Discriminant<0, T> &model, int64_t count)
      : model(model), width(model.width), per_row(changes_for(move_of(0, model.rate_.value, 1))),
        most(RowBlock<T>::enough(model.features(), count, per_row)),
        block(model.P_, model.width, model.weights, model.classes(), most), means(model.classes()),
        row_dots(most * model.classes()), mean_products(most * most), q(model.classes()), across(most) {}

  void run(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out) {
    int64_t trust = most;  // rows that a block is likely to last
    for (int64_t i = 0; i < count;) {
      const int64_t room = most / per_row, refresh = refresh_after(model.features()) - model.since_refresh;
      const int64_t planned = std::max<int64_t>(1, std::min({count - i, trust, room, refresh}));
      const double *x = X + i * model.features(), *mass = masses ? masses + i : nullptr;
      const Outputs here = out.after(i, model.classes());
      int64_t done = planned;
      upset = false;
      if (planned * per_row < kFewest) model.run_singly(x, y + i, mass, planned, here);
      else done = learn(x, y + i, mass, planned, here);
      trust = upset ? 1 : std::min(2 * done, most);
      i += done;
    }
  }

 private:
  // Beyond it the sum behind w_c would lose more digits to cancellation than it can spare.
  static constexpr double kMostGrowth = std::is_same_v<T, double> ? 1e4 : 1e2;

  Move move_of(int64_t k, double rate, double mass) const {
    return Move(model.options, k, model.counts[k], model.total, model.share(rate, mass));
  }
  int64_t changes_for(const Move &move) const { return model.options.ridge > 0 ? 1 + model.ridge_turns(move) : 1; }

  // Answers and learns rows up to one behind which P has to be looked after; returns how many.
  int64_t learn(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out) {
    look_ahead(X, y, masses, count);
    bool stale = false, learned = false;
    int64_t s = 0;
    for (; s < count && !upset && growth < kMostGrowth; s++) {
      const double mass = masses ? masses[s] : 1;
      const int64_t k = y[s], given = answer(X, s, k, out);
      if (mass > 0) {
        const Move move = move_of(k, model.rate_.next(given != k), mass);
        if (out.rates) out.rates[s] = model.rate_.value;
        model.rows++;
        per_row = changes_for(move);
        if (per_row > block.left()) {  // no room for it and its ridge
          close(learned, stale);
          model.learn_apart(model.z_.data(), move);
          return s + 1;
        }
        if (learned) model.since_refresh++;
        learned = true;
        stale = take(move, s);
        upset = stale || model.P_.needs_cap(model.variance.data()) || move.n == 0;  // a new mean is far from its start
      } else if (out.rates) {
        out.rates[s] = model.rate_.value;
      }
    }
    close(learned, stale);
    return s;
  }

  // Whether a row is looked at again when its turn comes: e is not known ahead of the answers, or the ridge surveys it.
  bool looks_back() const { return waits() || model.options.ridge > 0; }
  bool waits() const { return model.rate_.kind() == Rate::kErrorDriven; }

  // All that can be known of the rows before the first of them is learned; their means too, unless a rate waits for the
  // answers.
  void look_ahead(const double *X, const int64_t *y, const double *masses, int64_t count) {
    Buffer M(model.M), counts(model.counts);
    double total = model.total;
    Rate rate(model.rate_);
    growth = 1;
    std::fill(means.begin(), means.end(), kNone);
    known.clear();
    std::fill(mean_products.begin(), mean_products.end(), 0.0);
    block.open(waits());
    for (int64_t s = 0; s < count; s++) {
      const int64_t k = y[s];
      if (means[k] == kNone) {
        means[k] = int64_t(known.size());
        known.push_back(k);
      }
      double *m = M.data() + k * model.stride(), *e = block.next();
      width.difference(X + s * model.features(), model.origin.data(), model.z_.data());
      width.difference_padded(model.z_.data(), m, e);
      for (int64_t c = 0; c < model.classes(); c++)
        row_dots[s * model.classes() + c] = width.dot(model.weights.data() + c * model.stride(), model.z_.data());
      if (const double mass = masses ? masses[s] : 1; mass > 0 && !waits()) {
        const Move move(model.options, k, counts[k], total, model.share(rate.next(false), mass));
        width.add(m, move.gain, e);
        move.count(model.options, counts.data(), model.classes(), total);
      }
      block.add(means[k]);
    }
    block.project();
  }

  // g_c = ln P_c - m_c'w_c / 2 + w_c'x, with u'x = u'e + u'm                                              eq. (3)
  int64_t answer(const double *X, int64_t s, int64_t k, const Outputs &out) {
    if (looks_back()) width.difference(X + s * model.features(), model.origin.data(), model.z_.data());
    block.reach(s);
    for (int64_t t = 0; t < block.made(); t++) across[t] = block.along()[t] + mean_products[means[k] * most + t];
    for (int64_t c = 0; c < model.classes(); c++)
      model.score_[c] = model.log_prior[c] - model.half_square[c] +
                        growth * block.dot(c, row_dots[s * model.classes() + c], across.data());
    return model.write_answer(s, out, model.classes());
  }

  // Learns the row: all of `Discriminant::learn`. Returns whether the weights have to be computed afresh.
  bool take(const Move &move, int64_t s) {
    const double *e = block.direction(s);
    if (looks_back()) {
      width.difference_padded(model.z_.data(), model.M.data() + move.k * model.stride(), model.e_.data());
      e = model.e_.data();
    }
    model.approach(e, move);
    bool stale = change(move.change, move.k, move.gain) < kGreatShrink;  // eq. (7), (12)
    model.count_row(move);
    if (model.options.ridge > 0) {
      model.survey(model.z_.data(), move.row.mass);
      stale |= model.top_up_ridge(move, [&](int64_t j, double more) {
        block.reach_unit(j);
        return change({1, more, 1}, kNone, 0);
      });
    }
    return stale;
  }

  // Makes the change along the direction v at hand: `Discriminant::reweigh` on the shares, with q_c = w_c'v = u'm_c.
  // Returns by how much P shrinks along v.
  double change(const RankOne &change, int64_t k, double gain) {
    const int64_t t = block.made();
    for (int64_t c = 0; c < model.classes(); c++) q[c] = growth * block.dot(c);
    if (k != kNone)
      for (int64_t i = 0; i < t; i++) mean_products[means[k] * most + i] += gain * block.along()[i];
    const auto [inverse, square] = block.change(change, gain);
    const double kappa = change.weight * inverse, shrink = change.a * inverse;
    for (std::size_t i = 0; i < known.size(); i++)
      mean_products[i * most + t] = q[known[i]] + (known[i] == k ? gain * square : 0);
    for (int64_t c = 0; c < model.classes(); c++) {
      const double moves = c == k ? gain : 0, step = moves * shrink - kappa * q[c];
      block.take_share(c, step / growth);
      const double more = step * q[c] + moves * (q[c] + step * square);
      model.half_square[c] = change.scale * (model.half_square[c] + 0.5 * more);
    }
    growth *= change.scale;
    return shrink;
  }

  void close(bool learned, bool stale) {
    if (!learned) return;
    block.close(growth);
    for (int64_t c = 0; c < model.classes(); c++)
      model.half_square[c] =
          0.5 * width.dot(model.weights.data() + c * model.stride(), model.M.data() + c * model.stride());
    model.tidy(stale);
  }

  Discriminant<0, T> &model;
  const Width<0> &width;
  int64_t per_row;     // changes to the last row
  const int64_t most;  // changes to a block
  RowBlock<T> block;
  std::vector<int64_t> means, known;  // a class's number among the means of the block, and the other way round
  Buffer row_dots, mean_products;     // row x class, w_c'x with the weights of the start; mean x change, u_t'm_c
  Buffer q, across;                   // the change at hand; u_t'x of the row at hand
  double growth = 1;
  bool upset = false;  // the block ended because P has to be looked after
};

}  // namespace thalweg::THALWEG_LEVEL
