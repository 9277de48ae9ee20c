// Where the cells of random tilings lie: each tiling looks at up to three features, squashed into [0, 1], and cuts each into
// equal cells at a random offset. All chance is a function of the seed and of the serial number of a tiling.
//
// Cells have exact places, at most 729 to a tiling, so there are no collisions.
#pragma once

#include <numeric>

#include "linear/linear.hpp"
#include "linear_algebra/float_lanes.hpp"
#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

class Grids {
 public:
  static constexpr int64_t kDepth = 3;
  static constexpr int64_t kCells = 729;  // of a tiling at the most: eight cuts of three features

  // With `each_first` every feature gets a tiling of its own before any other is drawn: of more features than tilings many
  // would not be tried for a long time.
  Grids(int64_t features, int64_t tilings, int64_t depth, uint64_t seed, bool each_first)
      : serial(tilings), p(features), M(tilings), padded(whole_vectors(M)), depth(depth), seed(seed),
        each_first(each_first), sizes(M), feature(kDepth * padded), stride(kDepth * padded), cuts(kDepth * padded),
        offset(kDepth * padded) {
    begin();
  }

  int64_t features() const { return p; }
  int64_t count() const { return M; }
  int64_t size(int64_t m) const { return sizes[m]; }  // cells of a tiling
  int64_t cells() const { return std::accumulate(sizes.begin(), sizes.end(), int64_t(0)); }
  void begin() {
    for (next = 0; next < M; next++) {
      serial[next] = next;
      draw(next, 1 + next % depth);
    }
  }
  // A new tiling in place of one: fresh, or a variation of a good one.
  void renew(int64_t m, int64_t good_ones, const int64_t *best_last) {
    const int64_t own = serial[m] = next++;
    if (!is_in_turn(own) && chance(own, 0) < 0.5) vary(m, *(best_last - choice(own, 1, good_ones)));
    else draw(m, 1 + choice(own, 2, depth));
  }

  struct Room {
    Room(int64_t features, int64_t tilings)
        : squashed(std::max(ShortTable::kShort, whole_vectors(features))), cell(whole_vectors(tilings)) {}
    BufferOf<float> squashed;
    std::vector<int32_t> cell;  // of every tiling, in whole vectors
  };
  // The cell of every tiling, for a row at unit scale.
  THALWEG_INLINE void locate(const double *x, Room &room) const {
    float *squashed = room.squashed.data();
    for (int64_t j = 0; j < p; j++)  // in this order NaN becomes a bound, lest it become a place
      squashed[j] = float(std::max(-kFarthest, std::min(kFarthest, kSlope * x[j])));
    for (int64_t j = 0; j < p; j += kFloatLanes)
      store<Floats>(squashed + j, 1 / (1 + power_of_two(load<Floats>(squashed + j))));
    if (p <= ShortTable::kShort) locate_in(ShortTable(squashed), room.cell.data());
    else locate_in(LongTable(squashed), room.cell.data());
  }

  // A tiling is its features and cuts; its offsets are drawn again from its serial number.
  void visit(State &state) {
    std::vector<int64_t> chosen, fine;
    for (int64_t d = 0; d < kDepth; d++) {
      chosen.insert(chosen.end(), feature.begin() + place(d, 0), feature.begin() + place(d, M));
      fine.insert(fine.end(), cuts.begin() + place(d, 0), cuts.begin() + place(d, M));
    }
    state.integer("next_serial", next);
    state.integers("tiling_features", chosen, kDepth * M);
    state.integers("tiling_cuts", fine, kDepth * M);
    state.integers("tiling_serials", serial, M);
    if (next < M) throw BadState("next_serial");
    for (int64_t m = 0; m < M; m++) {
      int64_t k = 0, all = 1;
      for (int64_t d = 0; d < kDepth; d++) {
        const int64_t f = chosen[d * M + m], cut = fine[d * M + m];
        if (f < 0 || f >= p) throw BadState("tiling_features");
        if (cut && (k != d || d >= depth || cut < 2 || cut > 32 || (cut & (cut - 1)))) throw BadState("tiling_cuts");
        k += cut > 0;
        all *= cut + 1;
        feature[place(d, m)] = int32_t(f);
        cuts[place(d, m)] = float(cut);
      }
      if (k == 0 || all > kCells) throw BadState("tiling_cuts");
      settle(m, k);
    }
  }

 private:
  static constexpr double kSlope =
      -1.702 * 1.4426950408889634;          // of the logistic function that is nearly the normal one
  static constexpr double kFarthest = 126;  // that a power of two may be
  static int64_t whole_vectors(int64_t count) { return (count + kFloatLanes - 1) / kFloatLanes * kFloatLanes; }
  int64_t place(int64_t d, int64_t m) const { return d * padded + m; }
  template <class Table> THALWEG_INLINE void locate_in(const Table &squashed, int32_t *cell) const {
    const auto places = [](const int32_t *from) THALWEG_LAMBDA {
      Places v;
      std::memcpy(&v, from, sizeof v);
      return v;
    };
    for (int64_t m = 0; m < padded; m += kFloatLanes) {
      Places all{};
      for (int64_t d = 0; d < depth; d++) {
        const int64_t at = place(d, m);
        const Floats cut = squashed.at(places(feature.data() + at)) * load<Floats>(cuts.data() + at);
        all += __builtin_convertvector(cut + load<Floats>(offset.data() + at), Places) * places(stride.data() + at);
      }
      std::memcpy(cell + m, &all, sizeof all);
    }
  }

  // Whether the tiling of this number is that of one feature, the one of the same number.
  bool is_in_turn(int64_t own) const { return each_first && own < p; }
  double chance(int64_t of, int64_t position) const { return uniform(seed, of, position); }
  int64_t choice(int64_t of, int64_t position, int64_t among) const { return int64_t(chance(of, position) * among); }

  // A fresh tiling of so many features: an offset for each and 2 to 32 cells, 2 to 8 where there are several features.
  void draw(int64_t m, int64_t wanted) {
    const int64_t own = serial[m], k = is_in_turn(own) ? 1 : std::min(wanted, p);
    int64_t chosen[kDepth];
    for (int64_t d = 0; d < k; d++) {
      int64_t f = is_in_turn(own) ? own : choice(own, 16 + d, p - d);  // without replacement
      std::sort(chosen, chosen + d);
      for (int64_t e = 0; e < d; e++) f += f >= chosen[e];
      chosen[d] = f;
      feature[place(d, m)] = int32_t(f);
      cuts[place(d, m)] = float(int64_t(1) << (1 + choice(own, 20 + d, 5)));
      if (k > 1) cuts[place(d, m)] = std::min(cuts[place(d, m)], 8.0f);
    }
    settle(m, k);
  }
  // The same features as a tiling that proved useful, finer or coarser, at times with one feature more.
  void vary(int64_t m, int64_t good) {
    const int64_t own = serial[m];
    int64_t k = depth_of(good);
    for (int64_t d = 0; d < k; d++) {
      feature[place(d, m)] = feature[place(d, good)];
      cuts[place(d, m)] =
          std::clamp(cuts[place(d, good)] * float(0.5 * double(1 << choice(own, 24 + d, 3))), 2.0f, 32.0f);
    }
    if (k < depth && k < p && chance(own, 28) < 0.3) {
      const int32_t f = int32_t(choice(own, 29, p));
      bool fresh = true;
      for (int64_t d = 0; d < k; d++) fresh &= feature[place(d, m)] != f;
      if (fresh) {
        feature[place(k, m)] = f;
        cuts[place(k, m)] = float(int64_t(1) << (1 + choice(own, 30, 3)));
        k++;
      }
    }
    settle(m, k);
  }
  int64_t depth_of(int64_t m) const { return 1 + (stride[place(1, m)] > 0) + (stride[place(2, m)] > 0); }
  // Offsets, strides and the number of cells; the finest cuts are halved until the cells have room.
  void settle(int64_t m, int64_t k) {
    const auto count = [&] {
      int64_t all = 1;
      for (int64_t d = 0; d < k; d++) all *= int64_t(cuts[place(d, m)]) + 1;
      return all;
    };
    while (count() > kCells) {
      int64_t finest = 0;
      for (int64_t d = 1; d < k; d++)
        if (cuts[place(d, m)] > cuts[place(finest, m)]) finest = d;
      cuts[place(finest, m)] /= 2;
    }
    sizes[m] = 1;
    for (int64_t d = 0; d < kDepth; d++) {
      const bool used = d < k;
      if (!used) feature[place(d, m)] = 0, cuts[place(d, m)] = 0;
      offset[place(d, m)] = used ? float(choice(serial[m], 32 + d, 1024)) / 1024 : 0;
      stride[place(d, m)] = used ? int32_t(sizes[m]) : 0;
      if (used) sizes[m] *= int64_t(cuts[place(d, m)]) + 1;
    }
  }

  std::vector<int64_t> serial;
  int64_t p, M, padded, depth;
  uint64_t seed;
  bool each_first;
  int64_t next = 0;
  std::vector<int64_t> sizes;
  std::vector<int32_t> feature, stride;  // depth x tilings, in whole vectors
  BufferOf<float> cuts, offset;
};

}  // namespace thalweg::THALWEG_LEVEL
