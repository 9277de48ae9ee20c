// The rows of a block as directions of change of a factor (factor_block.hpp), and the vectors that follow its changes.
//
// A row's direction is e = d - s: d, its distance from a mean as of the block's start, is known ahead for the whole
// block, and s, by how far that mean has moved since then, follows the rows. Both are columns beside the factor, so U e
// is at hand when its turn comes, whatever happened before it. A column also brings u_t'd for each change t so far. So a
// vector
//     w = growth (w of the start + sum_t share_t u_t)
// is known by its shares, w'e needs no vector of p, and w itself waits for the end of the block, as the factor does.
#pragma once

#include "factor_block.hpp"

namespace thalweg::THALWEG_LEVEL {

class RowBlock {
  using Columns = FactorBlock::Columns;
  using V = Width<0>::V;
  static constexpr int L = Width<0>::L;

 public:
  static constexpr int64_t kFewest = 8;  // rows that are worth a block
  static constexpr int64_t kNone = -1;

  // Changes to a block where so many are to come.
  static int64_t enough(int64_t features, int64_t changes) {
    return std::min<int64_t>(features < 1000 ? 48 : 96, (changes + L - 1) / L * L);
  }

  // The vectors that follow: `followers` rows of `weights`.
  RowBlock(Factor<0> &factor, const Width<0> &width, Buffer &weights, int64_t followers, int64_t most)
      : width(width), weights(weights), followers(followers), most(most), changes(factor, most),
        units(width.stride(), most), side_by_side(L * width.stride()), dots(2 * most * followers),
        shares(followers * most), f(width.stride()), towards_(most), along_(most), slots(most) {
    for (int64_t s = 0; s < most; s += L) {
      directions.emplace_back(width.stride(), most);
      projected.emplace_back(width.stride(), most);
    }
  }

  // A new block: room for d of its next row, which is added when it is filled, with the number of its mean; at last all
  // are projected.
  void open() { planned = means = 0; }
  double *next() { return side_by_side.data() + planned % L * width.stride(); }
  void add(int64_t mean) {
    for (int64_t i = 0; i < followers; i++) row_dots(planned)[i] = width.dot(weight(i), next());
    slots[planned++] = mean;
    means = std::max(means, mean + 1);
    if (planned % L == 0) turn_upright(directions[planned / L - 1]);
  }
  void project() {
    const int64_t groups = (planned + L - 1) / L;
    if (planned % L) {
      std::fill(side_by_side.begin() + planned % L * width.stride(), side_by_side.end(), 0.0);
      turn_upright(directions[groups - 1]);
    }
    changes.project(directions.data(), projected.data(), groups);
    for (int64_t g = 0; g < groups; g++) projected[g].restart();
    while (int64_t(moved.size()) * L < means) moved.emplace_back(width.stride(), most);
    for (Columns &columns : moved) {
      columns.restart();
      std::fill(columns.values.begin(), columns.values.end(), 0.0);
    }
    std::fill_n(moved_dots(0), means * followers, 0.0);
    std::fill(shares.begin(), shares.end(), 0.0);
    unit_block = ready = kNone;
  }

  int64_t made() const { return changes.made(); }
  int64_t left() const { return changes.left(); }

  // Row s is the direction at hand, or the unit vector of feature j.
  void reach(int64_t s) {
    row = s;
    unit = kNone;
    if (s % L == 0) changes.bring(projected[s / L]);
    for (int64_t t = 0; t < made(); t++) {
      towards_[t] = projected[s / L].product(t, s);
      along_[t] = towards_[t] - moved_product(slots[s], t);
    }
  }
  void reach_unit(int64_t j) {
    unit = j;
    if (unit_block != j / L) {
      unit_block = j / L;
      changes.take_units(unit_block, units);
      units.restart();
      changes.bring(units);
    }
    for (int64_t t = 0; t < made(); t++) along_[t] = units.product(t, j);
  }
  // Of each change so far: u'd of the row at hand; u's for a mean.
  const double *towards() const { return towards_.data(); }
  double moved_product(int64_t mean, int64_t change) const { return moved[mean / L].product(change, mean); }

  // w'v / growth for the direction v at hand, and for any v of which w'v of the start and every u_t'v are known.
  double dot(int64_t i) const {
    const double start = unit == kNone ? row_dots(row)[i] - moved_dots(slots[row])[i] : weight(i)[unit];
    return dot(i, start, along_.data());
  }
  double dot(int64_t i, double start, const double *products) const {
    return start + Width<0>(made()).dot(shares.data() + i * most, products);
  }

  // Makes the change along the direction at hand, of which a row's mean takes the share `gain`.
  FactorBlock::Made change(const RankOne &change, double gain) {
    const int64_t mean = slots[row], at = mean % L;
    Columns &here = projected[row / L], &moving = moved[mean / L];
    V gains{};
    if (unit == kNone) {
      gains[at] = gain;
      for (int64_t i = 0; i < followers; i++)
        moved_dots(mean)[i] += gain * (row_dots(row)[i] - moved_dots(mean)[i]);
      for (int64_t t = 0; t < made(); t++) moving.products[t * L + at] += gain * along_[t];
      if (ready != row)
        for (int64_t j = 0; j < width.features(); j++) f[j] = here.at(j)[row % L] - moving.at(j)[at];
    } else {
      for (int64_t j = 0; j < width.features(); j++) f[j] = units.at(j)[unit % L];
    }
    const int64_t after = std::min(row + 1, planned - 1);
    const auto made = changes.change(f.data(), change, here, moving, gains, after % L, slots[after] % L);
    ready = after / L == row / L && slots[after] / L == mean / L ? after : kNone;
    for (Columns &others : moved) changes.bring(others);
    if (unit_block != kNone) changes.bring(units);
    return made;
  }
  // The share of the last change in a vector.
  void take_share(int64_t i, double share) { shares[i * most + made() - 1] = share; }

  // The factor and the vectors catch up.
  void close(double growth) {
    const int64_t count = made();
    changes.close([&](int64_t block, const double *u) {
      for (int64_t i = 0; i < followers; i++) {
        double *w = weights.data() + i * width.stride() + block * L;
        V all = load<V>(w);
        for (int64_t t = 0; t < count; t++) all += shares[i * most + t] * load<V>(u + t * L);
        store<V>(w, growth * all);
      }
    });
  }

 private:
  void turn_upright(Columns &to) {
    for (int64_t j = 0; j < width.features(); j++)
      for (int r = 0; r < L; r++) to.at(j)[r] = side_by_side[r * width.stride() + j];
  }
  const double *weight(int64_t i) const { return weights.data() + i * width.stride(); }
  // w'd and w's with the weights of the block's start, for every vector.
  double *row_dots(int64_t s) { return dots.data() + s * followers; }
  double *moved_dots(int64_t mean) { return row_dots(most + mean); }
  const double *row_dots(int64_t s) const { return dots.data() + s * followers; }
  const double *moved_dots(int64_t mean) const { return row_dots(most + mean); }

  const Width<0> &width;
  Buffer &weights;
  const int64_t followers, most;  // most: changes to a block
  FactorBlock changes;
  std::vector<Columns> directions, projected, moved;  // d of the rows, U d, and U s of the means
  Columns units;                                      // U of a block of unit vectors
  Buffer side_by_side;                                // lanes x features: d of a few rows
  Buffer dots, shares;                                // shares: vector x change
  Buffer f, towards_, along_;                         // the direction at hand
  std::vector<int64_t> slots;                         // the mean of each row
  int64_t planned = 0, means = 0, row = 0;
  int64_t unit = kNone, unit_block = kNone, ready = kNone;  // ready: the row whose U e is in f
};

}  // namespace thalweg::THALWEG_LEVEL
