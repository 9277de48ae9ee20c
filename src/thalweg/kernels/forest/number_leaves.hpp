// What leaves know of numbers, and what the trees of a grove make of it.
//
// A leaf has fading sums of its rows and of their targets, the mean that it inherited, which counts as one row, and weights of the
// refinement with how often they were moved.
//
// Votes: means of the leaves, as the trees are weighted. Refinement: what the votes leave of the target, r, is answered by the sum
// of a weight for each leaf that was reached, W_i += step r g_i / sum g, where g_i = 1 / sqrt(moves of the leaf) lets new leaves
// learn fast and old ones little. Two step sizes go side by side. O(T) a row.
#pragma once

#include "forest/number_cuts.hpp"
#include "forest/tree.hpp"

namespace thalweg::THALWEG_LEVEL {

class NumberLeaves {
 public:
  using Cuts = NumberCuts;
  using Number = double;
  using Numbers = Tree<double>::Numbers;
  static constexpr int64_t kAnswers = 3;  // votes, and their refinement with a large and a small step

  explicit NumberLeaves(double step) : step(step) {}

  int64_t width() const { return kWidth; }
  std::vector<double> nothing() const { return {1.0, 0.0}; }

  // What trees make of a row.
  struct Opinion {
    std::vector<int32_t> node;  // of each tree, its leaf
    Buffer said;                // of each tree, its own answer
    double answers[kAnswers];
  };
  template <class LeafOf> void judge(const BufferOf<float> &vote, LeafOf leaf_of, Opinion &to) const {
    const int64_t T = int64_t(vote.size());
    double sum = 0, whole = 0, more[kWidth] = {};
    to.said.resize(T);
    for (int64_t i = 0; i < T; i++) {
      const Numbers leaf = leaf_of(i);
      const double said = (leaf.counts[kSum] + leaf.inherited[kSum]) / (leaf.counts[kRows] + leaf.inherited[kRows]);
      sum += double(vote[i]) * (to.said[i] = said);
      whole += double(vote[i]);
      for (int64_t s = 0; s < kWidth; s++) more[s] += leaf.weights[s];
    }
    to.answers[0] = sum / whole;
    for (int64_t s = 0; s < kWidth; s++) to.answers[1 + s] = to.answers[0] + more[s];
  }
  // Of a tree, from 0 to 1: its error beside four mean ones.
  double mistake(const Opinion &of, int64_t tree, double target) const {
    const double error = std::fabs(of.said[tree] - target);
    return error < kMostErrors * size ? error / (kMostErrors * size) : error > 0;
  }
  // The trees have answered a row; their mean error is followed.
  void judged(const Opinion &of, double target) {
    double mean = 0;
    for (double said : of.said) mean += std::fabs(said - target) / double(of.said.size());
    rows = std::min(rows + 1, kSizeRows);
    size += (std::min(mean, rows > kFew ? kMostErrors * size : mean) - size) / rows;
  }

  template <class LeafOf>
  void refine(double target, float weight, const Opinion &of, int64_t trees, LeafOf leaf_of) {
    if (step == 0) return;
    gain.resize(trees);
    double whole = 0;
    for (int64_t i = 0; i < trees; i++) {
      double &moves = leaf_of(i).squares[0];
      moves = kMovesFading * moves + double(weight);
      whole += gain[i] = 1 / std::sqrt(std::max(moves, kFewest));
    }
    double move[kWidth];
    for (int64_t s = 0; s < kWidth; s++)
      move[s] = repeated(step * kSteps[s], double(weight)) * (target - of.answers[1 + s]) / whole;
    for (int64_t i = 0; i < trees; i++)
      for (int64_t s = 0; s < kWidth; s++) leaf_of(i).weights[s] += gain[i] * move[s];
  }

  // A row that counts so often, after those before it have faded.
  void count(double *counts, double target, int64_t times, double fading) const {
    counts[kRows] = counts[kRows] * fading + double(times);
    counts[kSum] = counts[kSum] * fading + double(times) * target;
  }
  // Counts become what is inherited below them.
  void bequeath(double *counts, const double *inherited) const {
    counts[kSum] = (counts[kSum] + inherited[kSum]) / (counts[kRows] + inherited[kRows]);
    counts[kRows] = 1;
  }
  bool sound(const Numbers &of) const {
    return of.counts[kRows] >= 0 && of.inherited[kRows] == 1 && of.squares[0] >= 0;
  }

  void visit(State &state) {
    state.real("error_rows", rows, not_negative);
    state.real("error_size", size, not_negative);
  }

 private:
  static constexpr int64_t kRows = 0, kSum = 1, kWidth = 2;
  static constexpr double kSteps[kWidth] = {1.0, 0.2};
  static constexpr double kMostErrors = 4, kSizeRows = 2000, kFew = 100;
  static constexpr double kMovesFading = 0.999, kFewest = 1e-200;

  double step;
  double rows = 0, size = 0;  // the mean absolute error of the trees, over so many rows
  Buffer gain;                // room
};

}  // namespace thalweg::THALWEG_LEVEL
