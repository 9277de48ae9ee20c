// Random tilings with a table of numbers for the cells of each, of which those that matter least are replaced on line.
//
// Every so many rows the tilings that matter least, by a fading mean of the size of the weights they were met with, give way:
// half to fresh ones, half to variations of the best quarter (Mahmood & Sutton 2013). Chance depends on the seed and on the
// serial number of a tiling alone, so chunks do not matter and a saved model continues alike.
#pragma once

#include <numeric>

#include "tilings/grids.hpp"

namespace thalweg::THALWEG_LEVEL {

struct TilingOptions {
  int64_t tilings, depth;  // how many; features of one at the most, up to 3
  std::vector<double> steps,
      decays;            // a lane each; decay of the squares of a cell's gradients, 0: one step for all cells
  int64_t every, young;  // rows between replacements, 0 for none; rows before a tiling can be replaced
  double share;          // of the tilings that are replaced at a time
  uint64_t seed;
};

// T: the numbers of a cell. L: step sizes side by side, each with a use of its own.
template <class T, int L> class ReplacedGrids {
 public:
  ReplacedGrids(int64_t p, const TilingOptions &options)
      : grids(p, options.tilings, options.depth, options.seed, p > kWide), use(options.tilings * L),
        tables(options.tilings), every(options.every), young(options.young), share(options.share),
        born(options.tilings) {}

  int64_t count() const { return grids.count(); }
  void begin(int64_t cell_numbers) {
    std::fill(use.begin(), use.end(), T(0));
    std::fill(born.begin(), born.end(), 0);
    grids.begin();
    for (int64_t m = 0; m < count(); m++) clear(m, cell_numbers);
  }
  // The numbers of the cells that a row falls into, one of each tiling. Whoever only answers does not change them.
  THALWEG_INLINE void meet(const double *x, Grids::Room &room, int64_t cell_numbers, T **met) const {
    grids.locate(x, room);
    const int64_t M = count();
    int32_t *first = room.cell.data();
    for (int64_t m = 0; m < M; m++) first[m] *= int32_t(cell_numbers);
    for (int64_t m = 0; m < M; m++) met[m] = const_cast<T *>(tables[m].data()) + first[m];
  }
  THALWEG_INLINE void fetch(int64_t cell_numbers, T *const *met) const {
    for (int64_t i = 0; i < cell_numbers; i += kLine)
      for (int64_t m = 0; m < count(); m++) __builtin_prefetch(met[m] + i, 1);
  }
  // So many rows were learned.
  void replace_after(int64_t rows, int64_t cell_numbers) {
    if (every && rows % every == 0) replace(rows, cell_numbers);
  }

  void visit(State &state) {
    const int64_t M = count();
    Buffer worth(use.begin(), use.end());
    grids.visit(state);
    state.integers("tiling_births", born, M);
    state.matrix("tiling_use", worth, M, L, L);
    for (int64_t i = 0; i < M * L; i++) {
      if (!(worth[i] >= 0 && worth[i] < kMostUse)) throw BadState("tiling_use");
      use[i] = T(worth[i]);
    }
  }
  // Cells that were never met are not written. The i-th number that is saved of a cell has its place there.
  template <class Place, class Valid> void visit_cells(State &state, int64_t wide, Place place, Valid valid) {
    std::vector<int64_t> from(wide), places;
    for (int64_t i = 0; i < wide; i++) from[i] = place(i);
    BufferOf<T> values;
    for (int64_t m = 0; m < count() && !state.reads(); m++)
      for (int64_t i = 0; i < grids.size(m); i++) {
        const T *cell = tables[m].data() + i * wide;
        bool met = false;
        for (int64_t j = 0; j < wide; j++) met |= cell[j] != 0;
        if (!met) continue;
        places.push_back(m * kCells + i);
        values.resize(values.size() + wide);
        T *to = values.data() + values.size() - wide;
        for (int64_t j = 0; j < wide; j++) to[j] = cell[from[j]];
      }
    state.integers("cells", places);
    const int64_t n = int64_t(places.size());
    for (int64_t i : places)
      if (i < 0 || i >= count() * kCells || i % kCells >= grids.size(i / kCells)) throw BadState("cells");
    values.resize(n * wide);
    state.matrix("cell_weights", values, n, wide, wide);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < wide; j++)
        if (const T v = values[i * wide + j]; !std::isfinite(v) || !valid(from[j], v)) throw BadState("cell_weights");
    if (!state.reads()) return;
    for (int64_t m = 0; m < count(); m++) clear(m, wide);
    for (int64_t i = 0; i < n; i++) {
      T *cell = tables[places[i] / kCells].data() + places[i] % kCells * wide;
      for (int64_t j = 0; j < wide; j++) cell[from[j]] = values[i * wide + j];
    }
  }

  Grids grids;
  BufferOf<T> use;                  // tilings x lanes
  std::vector<BufferOf<T>> tables;  // of each tiling, the numbers of its cells

 private:
  static constexpr int64_t kCells = Grids::kCells;
  static constexpr int64_t kLine = 64 / sizeof(T);  // of the cache
  static constexpr int64_t kWide = 256;             // features beyond which each is tried once at first
  static constexpr double kMostUse = std::is_same_v<T, float> ? 1e30 : 1e300;

  // In memory of its own: with another number of classes the old one may have been far larger.
  void clear(int64_t m, int64_t cell_numbers) { tables[m] = BufferOf<T>(grids.size(m) * cell_numbers); }
  void replace(int64_t rows, int64_t cell_numbers) {
    const int64_t M = count();
    Buffer worth(M);  // lanes count alike, each relative to its own mean
    for (int64_t lane = 0; lane < L; lane++) {
      double mean = kLeastUse;
      for (int64_t m = 0; m < M; m++) mean += double(use[m * L + lane]) / double(M);
      for (int64_t m = 0; m < M; m++) worth[m] += double(use[m * L + lane]) / mean;
    }
    std::vector<int64_t> order(M);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int64_t a, int64_t b) { return worth[a] < worth[b] || (worth[a] == worth[b] && a < b); });
    T typical[L];
    std::copy_n(use.begin() + order[M / 2] * L, L, typical);
    int64_t left = std::max<int64_t>(1, int64_t(double(M) * share));
    for (int64_t i = 0; i < M && left > 0; i++) {
      const int64_t m = order[i];
      if (rows - born[m] < young) continue;
      born[m] = rows;
      std::copy_n(typical, L, use.begin() + m * L);
      grids.renew(m, std::max<int64_t>(1, M / 4), &order.back());
      clear(m, cell_numbers);
      left--;
    }
  }
  static constexpr double kLeastUse = std::is_same_v<T, float> ? 1e-30 : 1e-300;

  int64_t every, young;
  double share;
  std::vector<int64_t> born;
};

}  // namespace thalweg::THALWEG_LEVEL
