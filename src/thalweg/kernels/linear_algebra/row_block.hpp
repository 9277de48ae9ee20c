// The rows of a block as directions of change of a factor (factor_block.hpp), and the vectors that follow its changes.
//
// The rows' directions are columns beside the factor, so that U e is at hand when a row's turn comes. Such a column
// also brings u_t'e for each change t so far, and so a vector
//     w = growth (w of the start + sum_t share_t u_t)
// is known by its shares: w'e needs no vector of p, and w itself waits for the end of the block, as the factor does.
// Where e = x - m hangs on answers inside the block, e = d - s: d with m as of the block's start is known ahead, and s,
// by how far m has moved since then, is a column of its own that follows the rows.
#pragma once

#include "linear_algebra/factor_block.hpp"

namespace thalweg::THALWEG_LEVEL {

struct RowBlocks {
  static constexpr int64_t kFewest = 8;  // rows that are worth a block
  static constexpr int64_t kNone = -1;
};

template <class T> class RowBlock : public RowBlocks {
  using Columns = typename FactorBlock<T>::Columns;
  using V = typename Entries<T>::V;
  static constexpr int L = Entries<T>::L;

 public:
  using Made = typename FactorBlock<T>::Made;

  // Changes to a block for so many rows: what was fastest, and room for a row of more changes than that.
  static int64_t enough(int64_t features, int64_t rows, int64_t per_row) {
    const int64_t best = std::max(24, 3 * L) * (features < 1000 ? 1 : 2);
    const int64_t room = std::max(best, std::min(per_row, 4 * best));
    return (std::min(room, rows * per_row) + L - 1) / L * L;
  }

  // The vectors that follow: `followers` rows of `weights`.
  RowBlock(Factor<0, T> &factor, const Width<0> &width, Buffer &weights, int64_t followers, int64_t most)
      : width(width), weights(weights), followers(followers), most(most), changes(factor, most),
        units(width.stride(), most), given(most * width.stride()), dots(2 * most * followers), shares(followers * most),
        f(width.stride()), along_(most), slots(most) {
    for (int64_t s = 0; s < most; s += L) {
      directions.emplace_back(width.stride(), most);
      projected.emplace_back(width.stride(), most);
    }
  }

  // A new block: room for e, or d where means move inside it, of its next row, which is added when it is filled, with
  // the number of its mean; at last all are projected.
  void open(bool means_move) {
    moving = means_move;
    planned = means = 0;
  }
  double *next() { return direction(planned); }
  double *direction(int64_t s) { return given.data() + s * width.stride(); }  // of row s, as it was filled
  void add(int64_t mean) {
    for (int64_t i = 0; i < followers; i++) row_dots(planned)[i] = width.dot(weight(i), next());
    slots[planned++] = mean;
    if (moving) means = std::max(means, mean + 1);
    if (planned % L == 0) changes.take(direction(planned - L), directions[planned / L - 1]);
  }
  void project() {
    const int64_t groups = (planned + L - 1) / L;
    if (planned % L) {
      std::fill(direction(planned), direction(groups * L), 0.0);
      changes.take(direction((groups - 1) * L), directions[groups - 1]);
    }
    changes.project(directions.data(), projected.data(), groups);
    for (int64_t g = 0; g < groups; g++) projected[g].restart();
    while (int64_t(moved.size()) * L < means) moved.emplace_back(width.stride(), most);
    for (Columns &columns : moved) {
      columns.restart();
      columns.values.fill(0);
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
    for (int64_t t = 0; t < made(); t++) along_[t] = projected[s / L].product(t, s);
    if (moving)
      for (int64_t t = 0; t < made(); t++) along_[t] -= moved[slots[s] / L].product(t, slots[s]);
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
  // u'v of each change so far for the direction v at hand.
  const double *along() const { return along_.data(); }

  // w'v / growth for the direction v at hand, and for any v of which w'v of the start and every u_t'v are known.
  double dot(int64_t i) const {
    if (unit != kNone) return dot(i, weight(i)[unit], along());
    return dot(i, row_dots(row)[i] - (moving ? moved_dots(slots[row])[i] : 0), along());
  }
  double dot(int64_t i, double start, const double *products) const {
    return start + Width<0>(made()).dot(shares.data() + i * most, products);
  }

  // Makes the change along the direction at hand, of which a row's mean, where it is moving, takes the share `gain`.
  Made change(const RankOne &change, double gain) {
    Columns &here = projected[row / L];
    const int64_t mean = slots[row], at = mean % L, after = std::min(row + 1, planned - 1);
    if (unit != kNone) {
      for (int64_t j = 0; j < width.features(); j++) f[j] = units.at(j)[unit % L];
    } else if (ready != row) {
      for (int64_t j = 0; j < width.features(); j++) f[j] = here.at(j)[row % L];
      if (moving)
        for (int64_t j = 0; j < width.features(); j++) f[j] -= moved[mean / L].at(j)[at];
    }
    ready = after / L == row / L ? after : kNone;
    Made made;
    if (moving) {
      V gains{};
      if (unit == kNone) gains[at] = T(move_mean(mean, gain));
      if (slots[after] / L != mean / L) ready = kNone;
      made =
          changes.template change<true>(f.data(), change, here, after % L, &moved[mean / L], gains, slots[after] % L);
      for (Columns &others : moved) changes.bring(others);
    } else {
      made = changes.template change<false>(f.data(), change, here, after % L);
    }
    if (unit_block != kNone) changes.bring(units);
    return made;
  }
  // The share of the last change in a vector.
  void take_share(int64_t i, double share) { shares[i * most + made() - 1] = share; }

  // The factor and the vectors catch up.
  void close(double growth) {
    const int64_t count = made();
    if (count == 0) return;
    changes.close([&](int64_t block, const T *u) {
      for (int64_t i = 0; i < followers; i++) {
        double *w = weights.data() + i * width.stride() + block * L;
        const double *share = shares.data() + i * most;
        V all[4] = {};  // four sums, none of which waits for another
        int64_t t = 0;
        for (; t + 4 <= count; t += 4)
          for (int j = 0; j < 4; j++) all[j] += T(share[t + j]) * load<V>(u + (t + j) * L);
        for (; t < count; t++) all[0] += T(share[t]) * load<V>(u + t * L);
        const V more = (all[0] + all[1]) + (all[2] + all[3]);
        for (int j = 0; j < L; j++) w[j] = growth * (w[j] + changes.widened(block * L + j, more[j]));
      }
    });
  }

 private:
  // What is known of s by numbers follows the row at hand; its column does with the change.
  double move_mean(int64_t mean, double gain) {
    for (int64_t i = 0; i < followers; i++) moved_dots(mean)[i] += gain * (row_dots(row)[i] - moved_dots(mean)[i]);
    for (int64_t t = 0; t < made(); t++) moved[mean / L].products[t * L + mean % L] += T(gain * along_[t]);
    return gain;
  }
  const double *weight(int64_t i) const { return weights.data() + i * width.stride(); }
  // w'e or w'd, and w's, with the weights of the block's start, for every vector.
  double *row_dots(int64_t s) { return dots.data() + s * followers; }
  double *moved_dots(int64_t mean) { return row_dots(most + mean); }
  const double *row_dots(int64_t s) const { return dots.data() + s * followers; }
  const double *moved_dots(int64_t mean) const { return row_dots(most + mean); }

  const Width<0> &width;
  Buffer &weights;
  const int64_t followers, most;  // most: changes to a block
  FactorBlock<T> changes;
  std::vector<Columns> directions, projected, moved;  // e or d of the rows, U times it, and U s of the means
  Columns units;                                      // U of a block of unit vectors
  Buffer given;                                       // row x features: the directions as they came
  Buffer dots, shares;                                // shares: vector x change
  Buffer f, along_;                                   // the direction at hand
  std::vector<int64_t> slots;                         // the mean of each row
  bool moving = false;
  int64_t planned = 0, means = 0, row = 0;
  int64_t unit = kNone, unit_block = kNone, ready = kNone;  // ready: the row whose U e is in f
};

extern template class FactorBlock<double>;  // row_block.cpp
extern template class FactorBlock<float>;
extern template class RowBlock<double>;
extern template class RowBlock<float>;

}  // namespace thalweg::THALWEG_LEVEL
