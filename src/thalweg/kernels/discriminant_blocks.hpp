// Chunks of wide rows for a discriminant: blocks of rows share two passes over the factor (factor_block.hpp).
//
// Inside a block L waits, and so do the weights w_c = P m_c, but every answer is given as if they did not. A row's
// direction is e = d - s: d = x - m_k as of the block's start is known ahead for the whole block, and s, by how much m_k
// has moved since then, follows the rows. Both are columns beside the factor, so U e is at hand when its turn comes,
// whatever the rates before it were. Such a column also brings u_t'd for each change t, and
//     w_c = growth (w_c of the start + sum_t share_ct u_t)
// is then known by its shares: an answer needs w_c'x = growth (w_c'x of the start + sum_t share_ct u_t'x) and no vector
// of p. Shares, means, counts, D and the order of it all are those of single rows; only sums over features are taken in
// another order, so that the numbers agree with theirs to rounding.
#pragma once

#include "discriminant.hpp"
#include "factor_block.hpp"

namespace thalweg::THALWEG_LEVEL {

class DiscriminantBlocks {
  using Columns = FactorBlock::Columns;
  using V = Width<0>::V;
  static constexpr int L = Width<0>::L;

 public:
  static constexpr int64_t kFewest = 8;  // rows that are worth a block

  // For chunks of so many rows.
  DiscriminantBlocks(Discriminant<0> &model, int64_t count)
      : model(model), width(model.width), most(changes_to_a_block(model, count)), changes(model.P_, most),
        units(model.stride(), most), slots(model.classes(), kNone), dots(model.classes() * (3 * most)),
        shares(model.classes() * most), start_products(most * most), q(model.classes()), f(model.stride()),
        along(most), across(most) {
    for (int64_t s = 0; s < most; s += L) {
      directions.emplace_back(model.stride(), most);
      projected.emplace_back(model.stride(), most);
    }
  }

  void run(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out) {
    int64_t trust = most;  // rows that a block is likely to last
    for (int64_t i = 0; i < count;) {
      const int64_t planned = std::min({count - i, trust, model.refresh_after() - model.since_refresh});
      const double *x = X + i * model.features(), *mass = masses ? masses + i : nullptr;
      const Outputs here = out.after(i, model.classes());
      if (planned < kFewest) {
        model.run_singly(x, y + i, mass, planned, here);
        trust = std::min(2 * trust, most);
        i += planned;
      } else {
        upset = false;
        const int64_t done = learn(x, y + i, mass, planned, here);
        trust = upset ? 1 : done < planned ? done : std::min(2 * trust, most);
        i += done;
      }
    }
  }

 private:
  static constexpr int64_t kNone = -1;
  static constexpr double kMostGrowth = 1e4;  // beyond it the sum behind w_c would lose digits to cancellation

  static int64_t changes_to_a_block(const Discriminant<0> &model, int64_t count) {
    const int64_t best = model.features() < 1000 ? 48 : 96;
    return model.options.ridge > 0 ? best : std::min(best, (count + L - 1) / L * L);
  }

  // Answers and learns rows up to one behind which P has to be looked after; returns how many.
  int64_t learn(const double *X, const int64_t *y, const double *masses, int64_t count, const Outputs &out) {
    look_ahead(X, y, count);
    bool stale = false, learned = false;
    int64_t s = 0;
    while (s < count && !upset && growth < kMostGrowth) {
      const double mass = masses ? masses[s] : 1;
      row = s;
      if (s % L == 0) changes.bring(projected[s / L]);
      model.width.difference(X + s * model.features(), model.origin.data(), model.z_.data());
      const int64_t given = answer(y[s], out);
      if (mass > 0) {
        const Move move(model.options, y[s], model.counts[y[s]], model.total,
                        model.share(model.rate_.next(given != y[s]), mass));
        if (model.options.ridge > 0 && model.ridge_turns(move) >= changes.left()) {  // too much for what is left of it
          close(learned, stale);
          model.rows++;
          model.learn(model.z_.data(), move);
          if (out.rates) out.rates[s] = model.rate_.value;
          return s + 1;
        }
        if (learned) model.since_refresh++;
        learned = true;
        stale = take(move);
        upset = stale || move.n == 0 || model.P_.needs_cap(model.variance.data());
      }
      if (out.rates) out.rates[s] = model.rate_.value;
      s++;
    }
    close(learned, stale);
    return s;
  }

  // All that can be known of the rows before the first of them is learned.
  void look_ahead(const double *X, const int64_t *y, int64_t count) {
    growth = 1;
    unit_block = kNone;
    std::fill(slots.begin(), slots.end(), kNone);
    known.clear();
    const int64_t groups = (count + L - 1) / L;
    if (count % L) std::fill(directions[groups - 1].values.begin(), directions[groups - 1].values.end(), 0.0);
    for (int64_t s = 0; s < count; s++) {
      if (slots[y[s]] == kNone) {
        slots[y[s]] = int64_t(known.size());
        known.push_back(y[s]);
      }
      double *z = model.z_.data(), *d = model.e_.data();
      width.difference(X + s * model.features(), model.origin.data(), z);
      width.difference_padded(z, model.M.data() + y[s] * model.stride(), d);
      for (int64_t c = 0; c < model.classes(); c++) {
        const double *w = model.weights.data() + c * model.stride();
        row_dots(s)[c] = width.dot(w, z);
        direction_dots(s)[c] = width.dot(w, d);
      }
      Columns &to = directions[s / L];
      for (int64_t j = 0; j < model.features(); j++) to.at(j)[s % L] = d[j];
    }
    changes.project(directions.data(), projected.data(), groups);
    for (int64_t g = 0; g < groups; g++) restart(projected[g]);
    while (int64_t(moved.size() * L) < int64_t(known.size())) moved.emplace_back(model.stride(), most);
    for (Columns &means : moved) {
      restart(means);
      std::fill(means.values.begin(), means.values.end(), 0.0);
    }
    std::fill_n(moved_dots(0), model.classes() * int64_t(known.size()), 0.0);
    std::fill(shares.begin(), shares.end(), 0.0);
    std::fill(start_products.begin(), start_products.end(), 0.0);
  }

  // g_c = ln P_c - m_c'w_c / 2 + w_c'x for the row in z_                                                   eq. (3)
  int64_t answer(int64_t k, const Outputs &out) {
    const Width<0> so_far(changes.made());
    const int64_t slot = slots[k];
    for (int64_t t = 0; t < changes.made(); t++) {
      const double towards = product(projected[row / L], t, row);
      across[t] = towards + start_products[slot * most + t];
      along[t] = towards - product(moved[slot / L], t, slot);
    }
    for (int64_t c = 0; c < model.classes(); c++) {
      const double w_x = growth * (row_dots(row)[c] + so_far.dot(shares_of(c), across.data()));
      model.score_[c] = model.log_prior[c] - model.half_square[c] + w_x;
    }
    return model.write_answer(row, out);
  }

  // Learns the row: all of `Discriminant::learn`. Returns whether the weights have to be computed afresh.
  bool take(const Move &move) {
    const Width<0> so_far(changes.made());
    const int64_t slot = slots[move.k], p = model.features();
    Columns &rows = projected[row / L], &means = moved[slot / L];
    const int64_t lane = row % L, at = slot % L;
    width.difference_padded(model.z_.data(), model.M.data() + move.k * model.stride(), model.e_.data());
    model.approach(model.e_.data(), move);
    for (int64_t c = 0; c < model.classes(); c++)
      q[c] = growth * (direction_dots(row)[c] - moved_dots(slot)[c] + so_far.dot(shares_of(c), along.data()));
    for (int64_t j = 0; j < p; j++) f[j] = rows.at(j)[lane] - means.at(j)[at];
    bool stale = change(move.change, move.k, move.gain) < Discriminant<0>::kGreatShrink;  // eq. (7), (12)
    for (int64_t j = 0; j < p; j++) means.at(j)[at] += move.gain * (rows.at(j)[lane] - means.at(j)[at]);
    for (int64_t t = 0; t < changes.made(); t++)
      means.products[t * L + at] += move.gain * (rows.products[t * L + lane] - means.products[t * L + at]);
    for (int64_t c = 0; c < model.classes(); c++)
      moved_dots(slot)[c] += move.gain * (direction_dots(row)[c] - moved_dots(slot)[c]);
    model.rows++;
    model.count_row(move);
    if (model.options.ridge > 0) {
      model.survey(model.z_.data(), move.row.mass);
      stale |= model.top_up_ridge(move, [&](int64_t j, double more) { return raise(j, more); });
    }
    return stale;
  }

  // More variance for one feature; returns by how much P shrinks along it.
  double raise(int64_t j, double more) {
    if (unit_block != j / L) {
      unit_block = j / L;
      changes.take_units(unit_block, units);
      restart(units);
      changes.bring(units);
    }
    const Width<0> so_far(changes.made());
    for (int64_t t = 0; t < changes.made(); t++) along[t] = product(units, t, j);
    for (int64_t c = 0; c < model.classes(); c++)
      q[c] = growth * (model.weights[c * model.stride() + j] + so_far.dot(shares_of(c), along.data()));
    for (int64_t i = 0; i < model.features(); i++) f[i] = units.at(i)[j % L];
    return change({1, more, 1}, kNone, 0);
  }

  // Makes the change along the direction in f, of which q_c = w_c'v. `Discriminant::reweigh` on the shares.
  double change(const RankOne &change, int64_t k, double gain) {
    const int64_t t = changes.made();
    const double inverse = changes.change(f.data(), change);
    const double kappa = change.weight * inverse, shrink = change.a * inverse;
    changes.bring(projected[row / L], moved[0]);
    for (std::size_t i = 1; i < moved.size(); i++) changes.bring(moved[i]);
    if (unit_block != kNone) changes.bring(units);
    for (int64_t slot = 0; slot < int64_t(known.size()); slot++)  // u'm of the block's start, by u'm = w'e
      start_products[slot * most + t] = q[known[slot]] - product(moved[slot / L], t, slot);
    const int64_t own = k == kNone ? 0 : slots[k];
    const double square = product(projected[row / L], t, row) - product(moved[own / L], t, own);  // e'Pe
    for (int64_t c = 0; c < model.classes(); c++) {
      const double moves = c == k ? gain : 0, step = moves * shrink - kappa * q[c];
      shares_of(c)[t] = step / growth;
      const double more = step * q[c] + moves * (q[c] + step * square);
      model.half_square[c] = change.scale * (model.half_square[c] + 0.5 * more);
    }
    growth *= change.scale;
    return shrink;
  }

  // The factor and the weights catch up.
  void close(bool learned, bool stale) {
    const int64_t made = changes.made();
    changes.close([&](int64_t block, const double *u) {
      for (int64_t c = 0; c < model.classes(); c++) {
        double *w = model.weights.data() + c * model.stride() + block * L;
        V sum = load<V>(w);
        for (int64_t t = 0; t < made; t++) sum += shares_of(c)[t] * load<V>(u + t * L);
        store<V>(w, growth * sum);
      }
    });
    for (int64_t c = 0; c < model.classes(); c++)
      model.half_square[c] =
          0.5 * width.dot(model.weights.data() + c * model.stride(), model.M.data() + c * model.stride());
    if (learned) model.tidy(stale);
  }

  void restart(Columns &columns) {
    std::fill(columns.products.begin(), columns.products.end(), 0.0);
    columns.taken = 0;
  }
  static double product(const Columns &of, int64_t change, int64_t column) {
    return of.products[change * L + column % L];
  }
  double *shares_of(int64_t c) { return shares.data() + c * most; }
  // w_c'v with the weights of the block's start, for every class: v = x, d, and how far a class's mean has moved.
  double *row_dots(int64_t s) { return dots.data() + s * model.classes(); }
  double *direction_dots(int64_t s) { return row_dots(most + s); }
  double *moved_dots(int64_t slot) { return row_dots(2 * most + slot); }

  Discriminant<0> &model;
  const Width<0> &width;
  const int64_t most;  // changes to a block
  FactorBlock changes;
  std::vector<Columns> directions, projected, moved;  // d of the rows, U d, and U s of the classes
  Columns units;                                      // U of a block of unit vectors, for the ridge
  std::vector<int64_t> slots, known;                  // a class's column among `moved`, and a column's class
  Buffer dots, shares, start_products;                // start_products: slot x change, u_t'm
  Buffer q, f, along, across;                         // the change at hand; u_t'e and u_t'x
  int64_t row = 0, unit_block = kNone;
  double growth = 1;
  bool upset = false;  // the block ended because P has to be looked after
};

}  // namespace thalweg::THALWEG_LEVEL
