// ADWIN: the longest window of recent numbers whose mean shows no change (A. Bifet & R. Gavaldà, "Learning from
// Time-Changing Data with Adaptive Windowing", SIAM International Conference on Data Mining 2007).
//
// The window is kept as buckets of 1, 2, 4, … rows, at most kOfASize of a size: O(log n) memory, O(1) amortised a row.
// Every kBetweenChecks rows each boundary between buckets is tried as the cut between an older and a newer part, in
// O(log n); while the means on its sides differ by more than chance allows, the oldest bucket is dropped.
//
//   paper     here
//   W         buckets               oldest first
//   M         kOfASize
//   δ, δ'     delta, delta / ln n   the practical choice: one test for each of some ln n cuts, not for each of n
//   n0, n1    rows before and after a cut
//   1 / m     per_m
//   σ²_W      variance              of the whole window
//   ε_cut     chance                the form with the variance
//
// Where we depart: 1. the paper tests after every row, we after every 32nd; 2. at an alarm the paper knows only that the
// window shrank, we also tell the cut that showed it most clearly, with the means on its sides; 3. rows may enter the buckets
// in blocks, which costs less where there are many windows.
#pragma once

#include <utility>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class Adwin {
 public:
  struct Bucket {
    int64_t rows = 0;
    double sum = 0, squares = 0;
    void join(const Bucket &other) {
      rows += other.rows;
      sum += other.sum;
      squares += other.squares;
    }
  };
  struct Change {
    int64_t rows = 0;              // since the clearest cut; 0 where nothing changed
    double before = 0, after = 0;  // the means on its sides
  };

  // `block`: rows of the smallest bucket.
  explicit Adwin(double delta, int64_t block = 1) : delta(delta), block(block) {}

  Change update(double value) {
    youngest.join({1, value, value * value});
    seen++;
    if (youngest.rows < block) return Change();
    buckets.push_back(std::exchange(youngest, Bucket()));
    compress();
    return seen % kBetweenChecks == 0 ? shrink() : Change();
  }

  void visit(State &state) {
    int64_t rows_seen = seen;
    std::vector<int64_t> rows;
    for (const Bucket &bucket : buckets) rows.push_back(bucket.rows);
    state.integer("seen", rows_seen);
    state.integers("rows", rows);
    Buffer sums(2 * rows.size());
    for (std::size_t i = 0; i < std::min(rows.size(), buckets.size()); i++) {
      sums[2 * i] = buckets[i].sum;
      sums[2 * i + 1] = buckets[i].squares;
    }
    state.matrix("sums", sums, rows.size(), 2, 2);
    int64_t left = rows_seen;
    for (std::size_t i = 0; i < rows.size(); i++) {
      if (rows[i] <= 0 || (left -= rows[i]) < 0) throw BadState("rows");
      for (const double sum : {sums[2 * i], sums[2 * i + 1]})
        if (!(sum >= 0 && sum <= double(rows[i]))) throw BadState("sums");
    }
    if (block > 1) {
      state.integer("block_rows", youngest.rows, within<int64_t>(0, block - 1));
      state.real("block_sum", youngest.sum, within(0.0, double(youngest.rows)));
      state.real("block_squares", youngest.squares, within(0.0, double(youngest.rows)));
    }
    seen = rows_seen;
    buckets.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); i++) buckets[i] = {rows[i], sums[2 * i], sums[2 * i + 1]};
  }

 private:
  static constexpr int64_t kOfASize = 5, kBetweenChecks = 32;
  double delta;
  int64_t block, seen = 0;
  Bucket youngest;  // not full yet
  std::vector<Bucket> buckets;

  // Where there is one bucket of a size too many, the two oldest of them become one of the next size.
  void compress() {
    std::size_t end = buckets.size();
    while (true) {
      std::size_t begin = end;
      while (begin > 0 && buckets[begin - 1].rows == buckets[end - 1].rows) begin--;
      if (int64_t(end - begin) <= kOfASize) return;
      buckets[begin].join(buckets[begin + 1]);
      buckets.erase(buckets.begin() + begin + 1);
      end = begin + 1;
    }
  }

  Change shrink() {
    const Change found = clearest_cut();
    for (bool again = found.rows; again; again = clearest_cut().rows) buckets.erase(buckets.begin());
    return found;
  }

  // Of the cuts whose sides differ by more than chance, the one where they do by the largest factor.
  Change clearest_cut() const {
    Bucket all, older;  // summed afresh: no rounding is carried along with the window
    for (const Bucket &bucket : buckets) all.join(bucket);
    const double n = double(all.rows), mean = all.sum / n, variance = std::max(all.squares / n - mean * mean, 0.0);
    const double doubt = std::log(2 * std::log(n) / delta);  // ln(2 / δ')
    Change clearest;
    double factor = 1;
    for (std::size_t cut = 0; cut + 1 < buckets.size(); cut++) {
      older.join(buckets[cut]);
      const double n0 = double(older.rows), n1 = n - n0, per_m = 1 / n0 + 1 / n1;  // 1 / m
      const double before = older.sum / n0, after = (all.sum - older.sum) / n1;
      const double chance = std::sqrt(2 * per_m * variance * doubt) + 2.0 / 3.0 * per_m * doubt;  // ε_cut
      if (std::abs(after - before) <= factor * chance) continue;
      factor = std::abs(after - before) / chance;
      clearest = {all.rows - older.rows, before, after};
    }
    return clearest;
  }
};

}  // namespace thalweg::THALWEG_LEVEL
