// What leaves know of classes, and what the trees of a grove make of it.
//
// A leaf has, of each class, a fading count of its rows, the distribution that it inherited, and a weight of the refinement with
// its squared gradients.
//
// Votes: distributions of the leaves, as the trees are weighted. Refinement: softmax regression on which leaves were reached and
// on the logarithm of the votes, with a step for each weight that shrinks with its squared gradients (AdaGrad). O(T c) a row.
#pragma once

#include "forest/class_cuts.hpp"
#include "forest/tree.hpp"
#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

class ClassLeaves {
 public:
  using Cuts = ClassCuts;
  using Number = float;
  using Numbers = Tree<float>::Numbers;

  // `step`: of the refinement, for all trees together.
  explicit ClassLeaves(double step) : step(step) {}

  int64_t width() const { return classes; }
  // What a leaf inherits that nobody knows anything of.
  std::vector<float> nothing() const { return std::vector<float>(classes, 1 / float(classes)); }
  void widen() {
    classes++;
    bias.push_back(0);
    bias_squares.push_back(0);
  }
  // A tree has one class more, too.
  void widen(Tree<float> &tree) const {
    tree.widen();
    for (int64_t l = 0; l < tree.leaves(); l++) {
      float *inherited = tree.numbers(l).inherited;
      for (int64_t k = 0; k < classes - 1; k++) inherited[k] *= float(classes - 1) / float(classes);
      inherited[classes - 1] = 1 / float(classes);
    }
  }

  // What trees make of a row.
  struct Opinion {
    std::vector<int32_t> node, said;       // of each tree: its leaf, and its own answer
    BufferOf<float> votes, logs, refined;  // of each class
  };
  // `leaf_of` gives the numbers of the leaf that the row reached in a tree.
  template <class LeafOf> void judge(const BufferOf<float> &vote, LeafOf leaf_of, Opinion &to) const {
    const int64_t T = int64_t(vote.size()), c = classes;
    to.said.resize(T);
    for (BufferOf<float> *each : {&to.votes, &to.logs, &to.refined}) each->assign(c, 0.0f);
    float *votes = to.votes.data(), *logs = to.logs.data(), *refined = to.refined.data();
    if (c == 2) add_up<2>(vote, leaf_of, to);
    else add_up<0>(vote, leaf_of, to);
    float whole = 0, top = -std::numeric_limits<float>::infinity(), all = 0;
    for (int64_t k = 0; k < c; k++) whole += votes[k];
    for (int64_t k = 0; k < c; k++) {
      votes[k] /= whole;
      logs[k] = float(logarithm(double((votes[k] + kDoubt) * float(c))));
      refined[k] += bias[k] + slope * logs[k];
      top = std::max(top, refined[k]);
    }
    for (int64_t k = 0; k < c; k++) all += refined[k] = float(exponential(double(refined[k] - top)));
    for (int64_t k = 0; k < c; k++) refined[k] /= all;
  }
  // C classes, or as many as there are.
  template <int C, class LeafOf>
  THALWEG_INLINE void add_up(const BufferOf<float> &vote, LeafOf leaf_of, Opinion &to) const {
    const int64_t T = int64_t(vote.size()), c = C ? C : classes;
    float *votes = to.votes.data(), *refined = to.refined.data();
    for (int64_t i = 0; i < T; i++) {
      const Numbers leaf = leaf_of(i);
      float whole = 0, top = -1;
      int32_t said = 0;
      for (int64_t k = 0; k < c; k++) {
        const float part = leaf.counts[k] + leaf.inherited[k];
        whole += part;
        said = part > top ? int32_t(k) : said;
        top = std::max(top, part);
        refined[k] += leaf.weights[k];
      }
      const float scale = vote[i] / std::max(whole, 1e-9f);
      for (int64_t k = 0; k < c; k++) votes[k] += (leaf.counts[k] + leaf.inherited[k]) * scale;
      to.said[i] = said;
    }
  }
  // Of a tree, from 0 to 1.
  double mistake(const Opinion &of, int64_t tree, double label) const { return of.said[tree] != int64_t(label); }
  void judged(const Opinion &, double) {}

  template <class LeafOf>
  void refine(double target, float weight, const Opinion &of, int64_t trees, LeafOf leaf_of) {
    if (step == 0) return;
    const float each = float(step / double(trees));
    const int64_t label = int64_t(target);
    pull.resize(classes);
    float along = 0;
    for (int64_t k = 0; k < classes; k++) {
      pull[k] = weight * (of.refined[k] - float(k == label));
      along += pull[k] * of.logs[k];
      descend(pull[k], kBiasStep, bias[k], bias_squares[k]);
    }
    descend(along, kBiasStep, slope, slope_squares);
    if (classes == 2) refine_leaves<2>(each, trees, leaf_of);
    else refine_leaves<0>(each, trees, leaf_of);
  }

  // A row that counts so often, after those before it have faded.
  void count(float *counts, double label, int64_t times, double fading) const {
    for (int64_t k = 0; k < classes; k++) counts[k] *= float(fading);
    counts[int64_t(label)] += float(times);
  }
  // Counts become what is inherited below them.
  void bequeath(float *counts, const float *inherited) const {
    float whole = 1;
    for (int64_t k = 0; k < classes; k++) whole += counts[k];
    for (int64_t k = 0; k < classes; k++) counts[k] = (counts[k] + inherited[k]) / whole;
  }
  bool sound(const Numbers &of) const {
    for (int64_t k = 0; k < classes; k++)
      if (of.counts[k] < 0 || of.inherited[k] < 0 || of.squares[k] < 0) return false;
    return true;
  }

  void visit(State &state) {
    constexpr auto moderate = [](float v) { return std::fabs(v) < 1e30f; };
    state.matrix("bias", bias, 1, classes, classes, moderate);
    state.matrix("bias_squares", bias_squares, 1, classes, classes, [](float v) { return v >= 0 && v < 1e30f; });
    BufferOf<float> slopes(2);
    slopes[0] = slope, slopes[1] = slope_squares;
    state.matrix("slope", slopes, 1, 2, 2, moderate);
    if (slopes[1] < 0) throw BadState("slope");
    slope = slopes[0], slope_squares = slopes[1];
  }

 private:
  template <int C, class LeafOf> THALWEG_INLINE void refine_leaves(float each, int64_t trees, LeafOf leaf_of) const {
    const int64_t c = C ? C : classes;
    for (int64_t i = 0; i < trees; i++) {
      const Numbers leaf = leaf_of(i);
      for (int64_t k = 0; k < c; k++) descend(pull[k], each, leaf.weights[k], leaf.squares[k]);
    }
  }

  static constexpr float kDoubt = 0.01f;  // added to votes, so that their logarithm is finite
  static constexpr float kBiasStep = 0.1f;

  static void descend(float gradient, float step, float &weight, float &squares) {
    squares += gradient * gradient;
    weight -= step * gradient / std::sqrt(squares + 1.0f);
  }

  double step;
  int64_t classes = 0;
  BufferOf<float> bias, bias_squares;
  float slope = 1, slope_squares = 0;
  std::vector<float> pull;  // room
};

}  // namespace thalweg::THALWEG_LEVEL
