// Chunks of wide rows for a discriminant: blocks of rows share two passes over the factor (row_block.hpp).
//
// Inside a block the factor and the weights w_c = P m_c wait, but every answer is given as if they did not. Means,
// counts, rates, D and the order of it all are those of single rows; only sums over features are taken in another order,
// so that the numbers agree with theirs to rounding.
#pragma once

#include "discriminant.hpp"
#include "row_block.hpp"

namespace thalweg::THALWEG_LEVEL {

class DiscriminantBlocks {
 public:
  // For a chunk of so many rows.
  DiscriminantBlocks(Discriminant<0> &model, int64_t count)
      : model(model), width(model.width),
        most(RowBlock::enough(model.features(), model.options.ridge > 0 ? 100 * count : count)),
        block(model.P_, model.width, model.weights, model.classes(), most), means(model.classes()),
        row_dots(most * model.classes()), start_products(most * most), q(model.classes()), across(most) {}

  void run(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out) {
    int64_t trust = most;  // rows that a block is likely to last
    for (int64_t i = 0; i < count;) {
      const int64_t room = std::max<int64_t>(1, most / per_row), refresh = model.refresh_after() - model.since_refresh;
      const int64_t planned = std::min({count - i, trust, room, refresh});
      const double *x = X + i * model.features(), *mass = masses ? masses + i : nullptr;
      const Outputs here = out.after(i, model.classes());
      int64_t done = planned;
      upset = false;
      if (planned * per_row < RowBlock::kFewest) model.run_singly(x, y + i, mass, planned, here);
      else done = learn(x, y + i, mass, planned, here);
      trust = upset ? 1 : std::min(2 * done, most);
      i += done;
    }
  }

 private:
  static constexpr double kMostGrowth = 1e4;  // beyond it the sum behind w_c would lose digits to cancellation

  // Answers and learns rows up to one behind which P has to be looked after; returns how many.
  int64_t learn(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out) {
    look_ahead(X, y, count);
    bool stale = false, learned = false;
    int64_t s = 0;
    for (; s < count && !upset && growth < kMostGrowth; s++) {
      const double mass = masses ? masses[s] : 1;
      const int64_t k = y[s], given = answer(X, s, k, out);
      if (mass > 0) {
        const Share share = model.share(model.rate_.next(given != k), mass);
        const Move move(model.options, k, model.counts[k], model.total, share);
        if (out.rates) out.rates[s] = model.rate_.value;
        model.rows++;
        if (model.options.ridge > 0) per_row = 1 + model.ridge_turns(move);
        if (per_row > block.left()) {  // no room for it and its ridge
          close(learned, stale);
          model.learn(model.z_.data(), move);
          return s + 1;
        }
        if (learned) model.since_refresh++;
        learned = true;
        stale = take(move);
        upset = stale || move.n == 0 || model.P_.needs_cap(model.variance.data());
      } else if (out.rates) {
        out.rates[s] = model.rate_.value;
      }
    }
    close(learned, stale);
    return s;
  }

  // All that can be known of the rows before the first of them is learned.
  void look_ahead(const double *X, const int64_t *y, int64_t count) {
    growth = 1;
    std::fill(means.begin(), means.end(), RowBlock::kNone);
    known.clear();
    std::fill(start_products.begin(), start_products.end(), 0.0);
    block.open();
    for (int64_t s = 0; s < count; s++) {
      if (means[y[s]] == RowBlock::kNone) {
        means[y[s]] = int64_t(known.size());
        known.push_back(y[s]);
      }
      width.difference(X + s * model.features(), model.origin.data(), model.z_.data());
      width.difference_padded(model.z_.data(), model.M.data() + y[s] * model.stride(), block.next());
      for (int64_t c = 0; c < model.classes(); c++)
        row_dots[s * model.classes() + c] = width.dot(model.weights.data() + c * model.stride(), model.z_.data());
      block.add(means[y[s]]);
    }
    block.project();
  }

  // g_c = ln P_c - m_c'w_c / 2 + w_c'x, with u'x = u'd + u'm for m as of the block's start               eq. (3)
  int64_t answer(const double *X, int64_t s, int64_t k, const Outputs &out) {
    width.difference(X + s * model.features(), model.origin.data(), model.z_.data());
    block.reach(s);
    for (int64_t t = 0; t < block.made(); t++) across[t] = block.towards()[t] + start_products[means[k] * most + t];
    for (int64_t c = 0; c < model.classes(); c++)
      model.score_[c] = model.log_prior[c] - model.half_square[c] +
                        growth * block.dot(c, row_dots[s * model.classes() + c], across.data());
    return model.write_answer(s, out);
  }

  // Learns the row: all of `Discriminant::learn`. Returns whether the weights have to be computed afresh.
  bool take(const Move &move) {
    width.difference_padded(model.z_.data(), model.M.data() + move.k * model.stride(), model.e_.data());
    model.approach(model.e_.data(), move);
    bool stale = change(move.change, move.k, move.gain) < Discriminant<0>::kGreatShrink;  // eq. (7), (12)
    model.count_row(move);
    if (model.options.ridge > 0) {
      model.survey(model.z_.data(), move.row.mass);
      stale |= model.top_up_ridge(move, [&](int64_t j, double more) {
        block.reach_unit(j);
        return change({1, more, 1}, RowBlock::kNone, 0);
      });
    }
    return stale;
  }

  // Makes the change along the direction v at hand: `Discriminant::reweigh` on the shares, with q_c = w_c'v = u'm_c.
  // Returns by how much P shrinks along v.
  double change(const RankOne &change, int64_t k, double gain) {
    const int64_t t = block.made();
    for (int64_t c = 0; c < model.classes(); c++) q[c] = growth * block.dot(c);
    const auto [inverse, square] = block.change(change, gain);
    const double kappa = change.weight * inverse, shrink = change.a * inverse;
    for (std::size_t i = 0; i < known.size(); i++) {  // u'm of the start is u'm less u's, before s moved
      const double moves = known[i] == k ? gain * square : 0;
      start_products[i * most + t] = q[known[i]] - (block.moved_product(i, t) - moves);
    }
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
    block.close(growth);
    for (int64_t c = 0; c < model.classes(); c++)
      model.half_square[c] =
          0.5 * width.dot(model.weights.data() + c * model.stride(), model.M.data() + c * model.stride());
    if (learned) model.tidy(stale);
  }

  Discriminant<0> &model;
  const Width<0> &width;
  const int64_t most;  // changes to a block
  RowBlock block;
  std::vector<int64_t> means, known;  // a class's number among the means of the block, and the other way round
  Buffer row_dots, start_products;    // row x class, w_c'x of the start; mean x change, u_t'm of the start
  Buffer q, across;                   // the change at hand; u_t'x of the row at hand
  int64_t per_row = 1;                // changes
  double growth = 1;
  bool upset = false;  // the block ended because P has to be looked after
};

}  // namespace thalweg::THALWEG_LEVEL
