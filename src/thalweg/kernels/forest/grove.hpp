// Trees that learn and forget alike, over the rows of one window.
//
// Learning. A leaf keeps which rows reached it last; when half as many again have come, the cut that gains most is sought and
// taken if it gains enough (class_cuts.hpp). Both sides inherit their rows, the distribution above them and the weights of
// the refinement. Each tree sees a row a random number of times (online bagging).
//
// Forgetting. Counts in a leaf fade. Every `regrow_every` rows the tree with most mistakes is grown anew, at once, from the
// last rows, between `shortest` and `longest` of them; so is a tree whose mistakes rise (ADWIN), from the rows since the
// change. Growing is spread over rows by a budget of work for each, and the old tree goes on meanwhile.
//
// Answers. Votes: distributions of the leaves, trees weighted by exp(-10 e), where e is their recent error. Refinement:
// softmax regression on which leaves were reached and on the logarithm of the votes, with a step for each weight that
// shrinks with its squared gradients (AdaGrad).
//
// O(T (depth + c)) a row, and amortised O(T m) for cuts of m features.
#pragma once

#include "adwin.hpp"
#include "forest/class_cuts.hpp"
#include "forest/tree.hpp"
#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

struct GroveOptions {
  int64_t trees;
  double feature_share;  // of the features that are tried for a cut
  int64_t leaf_rows;     // that a leaf holds at the most
  double least_gain;     // of a cut, in nats
  double bagging;        // mean of the times that a tree sees a row
  double fading;         // of the counts in a leaf, at each of its rows
  double change_level;   // of ADWIN; 0: none
  int64_t regrow_every;  // rows; 0: never
  double regrow_share;   // of the rows held, where that is more
  int64_t shortest, longest;
  int64_t max_leaves;
  double step;  // of the refinement, for all trees together
};

class Grove {
 public:
  Grove(int64_t features, const GroveOptions &given)
      : options(given), p(features), cuts(features, given.feature_share, given.least_gain), bagging(given.bagging),
        young(given.leaf_rows) {
    for (int64_t i = 0; i < given.trees; i++) grown.emplace_back(given);
    vote.assign(given.trees, 1.0f);
  }

  // What trees make of a row.
  struct Opinion {
    std::vector<int32_t> node, said;       // of each tree: its leaf, and its own answer
    BufferOf<float> votes, logs, refined;  // of each class
  };
  void judge(const float *x, Opinion &to) const {
    const int64_t T = int64_t(grown.size()), c = classes;
    to.node.resize(T);
    to.said.resize(T);
    for (BufferOf<float> *each : {&to.votes, &to.logs, &to.refined}) each->assign(c, 0.0f);
    float *votes = to.votes.data(), *logs = to.logs.data(), *refined = to.refined.data();
    find_leaves(x, to.node.data());
    for (int64_t i = 0; i < T; i++) {
      const Tree &tree = grown[i].tree;
      const Tree::Numbers leaf = tree.numbers(tree.leaf_of(to.node[i]));
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

  // The newest row of the window, of which this was made.
  void learn(const RowWindow &window, int64_t label, double weight, const Opinion &of, Chance &chance) {
    const int64_t T = int64_t(grown.size());
    double mean = 0;
    for (int64_t i = 0; i < T; i++) {
      Grown &own = grown[i];
      const bool wrong = of.said[i] != label;
      own.mistakes = kErrorsFading * own.mistakes + weight * wrong;
      own.judged = kErrorsFading * own.judged + weight;
      mean += own.error() / double(T);
      if (options.change_level > 0) {
        const Adwin::Change change = own.changes.update(wrong);
        if (change.rows && change.after > change.before) own.wanted = std::max(change.rows, kFewest);
      }
    }
    refine(label, float(std::min(weight, double(Bagging::kMost))), of);
    Bagging::Draws draws(bagging, chance);
    for (int64_t i = 0; i < T; i++)
      if (const int64_t times = draws.next(weight))
        put(grown[i].tree, of.node[i], label, HeldRow(window.seen() - 1, times), window, chance);
    if (options.regrow_every && window.seen() >= std::max(due, kYoung)) {
      give_up_worst(window.seen(), chance);
      due = window.seen() + std::max(options.regrow_every, int64_t(options.regrow_share * double(window.held())));
    }
    grow_on(window, mean, chance);
    if (window.seen() % kBetweenVotes == 0) count_votes();
  }

  void widen() {
    classes++;
    for (Grown &own : grown) own.tree.widen();
    young.widen();
    bias.push_back(0);
    bias_squares.push_back(0);
  }
  void forget() { *this = Grove(p, options); }

  void visit(State &state) {
    const int64_t T = int64_t(grown.size());
    std::vector<int64_t> born, wanted, segments, rows;
    Buffer errors;
    for (const Grown &own : grown) {
      born.push_back(own.born);
      wanted.push_back(own.wanted);
      for (double number : {own.mistakes, own.judged}) errors.push_back(number);
    }
    state.integers("tree_born", born, T);
    state.integers("tree_wanted", wanted, T);
    state.matrix("tree_errors", errors, T, 2, 2, amount);
    for (int64_t i = 0; i < T; i++) {
      if (born[i] < 0) throw BadState("tree_born");
      if (wanted[i] < 0) throw BadState("tree_wanted");
      grown[i].born = born[i];
      grown[i].wanted = wanted[i];
      grown[i].mistakes = errors[2 * i];
      grown[i].judged = errors[2 * i + 1];
      if (options.change_level > 0) state.part("change" + std::to_string(i) + "_", grown[i].changes);
    }
    state.matrix("tree_votes", vote, 1, T, T, [](float v) { return v >= 0 && v <= 1; });
    if (*std::max_element(vote.begin(), vote.end()) == 0) throw BadState("tree_votes");
    constexpr auto moderate = [](float v) { return std::fabs(v) < 1e30f; };
    state.matrix("bias", bias, 1, classes, classes, moderate);
    state.matrix("bias_squares", bias_squares, 1, classes, classes, [](float v) { return v >= 0 && v < 1e30f; });
    BufferOf<float> slopes(2);
    slopes[0] = slope, slopes[1] = slope_squares;
    state.matrix("slope", slopes, 1, 2, 2, moderate);
    if (slopes[1] < 0) throw BadState("slope");
    slope = slopes[0], slope_squares = slopes[1];

    state.integer("regrow_due", due, not_negative);
    state.integer("growing", growing, within<int64_t>(-1, T - 1));
    state.integer("growing_budget", budget);
    SavedTrees saved;
    for (const Grown &own : grown) own.tree.write(saved);
    if (growing >= 0) young.write(saved);
    saved.visit(state, T + (growing >= 0), 4 * classes);
    PlaceInSaved at;
    for (Grown &own : grown) own.tree.read(saved, at, p);
    if (growing >= 0) young.read(saved, at, p);
    for (const Segment &each : open)
      for (int64_t number : {each.node, each.begin, each.end}) segments.push_back(number);
    for (const HeldRow &row : growing_rows) rows.push_back(row.bits());
    state.integers("growing_segments", segments);
    state.integers("growing_rows", rows);
    read_growth(segments, rows);
  }

 private:
  static constexpr double kErrorsFading = 0.998, kSharpness = 10, kFewJudged = 20;
  static constexpr int64_t kBetweenVotes = 16, kYoung = 128, kSettled = 100, kFewest = 64;
  static constexpr int64_t kLeast = 8;  // rows of a cut
  static constexpr int64_t kPatience =
      4;                                 // times a leaf's room, of which half have to come before a cut is sought again
  static constexpr int64_t kBlock = 32;  // rows that ADWIN takes at once
  static constexpr int64_t kWork = 1 << 9;  // numbers that growing may look at in a row, for each tree
  static constexpr float kDoubt = 0.01f;    // added to votes, so that their logarithm is finite
  static constexpr float kBiasStep = 0.1f;

  struct Grown {
    explicit Grown(const GroveOptions &options) : tree(options.leaf_rows), changes(options.change_level, kBlock) {}
    double error() const { return judged > 0 ? mistakes / judged : 0.5; }
    Tree tree;
    Adwin changes;
    double mistakes = 0, judged = 0;
    int64_t born = 0, wanted = 0;  // in rows; those that it is to be grown from, if any
  };
  // Rows that belong to a node whose cut has not been sought yet.
  struct Segment {
    int64_t node, begin, end;
  };

  void find_leaves(const float *x, int32_t *found) const {
    constexpr int64_t kTogether = 5;
    const int64_t T = int64_t(grown.size());
    const Tree *some[kTogether];
    int64_t i = 0;
    for (; i + kTogether <= T; i += kTogether) {
      for (int64_t k = 0; k < kTogether; k++) some[k] = &grown[i + k].tree;
      Tree::find<kTogether>(some, x, found + i);
    }
    for (; i < T; i++) {
      some[0] = &grown[i].tree;
      Tree::find<1>(some, x, found + i);
    }
  }
  void count_votes() {
    double least = 1;
    for (const Grown &own : grown) least = std::min(least, own.error());
    for (std::size_t i = 0; i < grown.size(); i++)
      vote[i] = float(exponential(-kSharpness * (grown[i].error() - least)));
  }

  static void descend(float gradient, float step, float &weight, float &squares) {
    squares += gradient * gradient;
    weight -= step * gradient / std::sqrt(squares + 1.0f);
  }
  void refine(int64_t label, float weight, const Opinion &of) {
    if (options.step == 0) return;
    const float step = float(options.step / double(grown.size()));
    pull.resize(classes);
    float along = 0;
    for (int64_t k = 0; k < classes; k++) {
      pull[k] = weight * (of.refined[k] - float(k == label));
      along += pull[k] * of.logs[k];
      descend(pull[k], kBiasStep, bias[k], bias_squares[k]);
    }
    descend(along, kBiasStep, slope, slope_squares);
    for (std::size_t i = 0; i < grown.size(); i++) {
      const Tree &tree = grown[i].tree;
      const Tree::Numbers leaf = tree.numbers(tree.leaf_of(of.node[i]));
      for (int64_t k = 0; k < classes; k++) descend(pull[k], step, leaf.weights[k], leaf.squares[k]);
    }
  }

  // A row reaches a leaf, which may become a cut.
  void put(Tree &tree, int64_t node, int64_t label, HeldRow row, const RowWindow &window, Chance &chance) {
    const int64_t l = tree.leaf_of(node);
    const Tree::Numbers numbers = tree.numbers(l);
    for (int64_t k = 0; k < classes; k++) numbers.counts[k] *= float(options.fading);
    numbers.counts[label] += float(row.times());
    tree.hold(l, row);
    Tree::Leaf &leaf = tree[l];
    if (++leaf.seen < leaf.due) return;
    leaf.due = leaf.seen + std::max(kLeast, std::min(leaf.seen, kPatience * options.leaf_rows) / 2);
    leaf_rows.clear();
    tree.each_row(l, [&](HeldRow each) {
      if (window.holds(each)) leaf_rows.push_back(each);
    });
    Cut cut;
    if (!find_cut(tree, leaf_rows.data(), int64_t(leaf_rows.size()), window, chance, cut)) return;
    distribution.assign(numbers.counts, numbers.counts + classes);
    split(tree, {node, 0, int64_t(leaf_rows.size())}, cut, leaf_rows, leaf_open, window);
    while (!leaf_open.empty()) grow(tree, leaf_rows, leaf_open, window, chance);
  }
  bool find_cut(const Tree &tree, const HeldRow *rows, int64_t n, const RowWindow &window, Chance &chance, Cut &cut) {
    cut.work = n;
    return n >= kLeast && tree.leaves() < options.max_leaves && cuts.find(window, rows, n, classes, chance, cut);
  }
  // The distribution is, at first, how often each class counted.
  void split(Tree &tree, const Segment &of, const Cut &cut, std::vector<HeldRow> &rows, std::vector<Segment> &to,
             const RowWindow &window) {
    float whole = 1;
    const float *inherited = tree.numbers(tree.leaf_of(of.node)).inherited;
    for (float count : distribution) whole += count;
    for (int64_t k = 0; k < classes; k++) distribution[k] = (distribution[k] + inherited[k]) / whole;
    int64_t middle = of.begin;
    right_rows.clear();
    for (int64_t i = of.begin; i < of.end; i++) {
      const HeldRow row = rows[i];
      if (window.codes(window.place(row))[cut.feature] <= cut.code) rows[middle++] = row;
      else right_rows.push_back(row);
    }
    std::copy(right_rows.begin(), right_rows.end(), rows.begin() + middle);
    const int64_t child = tree.cut(of.node, cut.feature, cut.threshold, distribution.data());
    to.push_back({child + 1, middle, of.end});
    to.push_back({child, of.begin, middle});
  }
  // The last of the segments becomes a cut or a leaf; how many numbers were looked at.
  int64_t grow(Tree &tree, std::vector<HeldRow> &rows, std::vector<Segment> &segments, const RowWindow &window,
               Chance &chance) {
    Segment own = segments.back();
    segments.pop_back();
    while (own.begin < own.end && !window.holds(rows[own.begin])) own.begin++;  // the oldest come first
    const int64_t n = own.end - own.begin;
    Cut cut;
    if (!find_cut(tree, rows.data() + own.begin, n, window, chance, cut)) {
      settle(tree, tree.leaf_of(own.node), rows.data() + own.begin, n, window);
      return cut.work;
    }
    distribution.assign(classes, 0.0f);
    for (int64_t i = own.begin; i < own.end; i++)
      distribution[window.label(window.place(rows[i]))] += float(rows[i].times());
    split(tree, own, cut, rows, segments, window);
    return cut.work + n;
  }
  void settle(Tree &tree, int64_t l, const HeldRow *rows, int64_t n, const RowWindow &window) {
    constexpr float kForgotten = 1e-3f;
    float *counts = tree.numbers(l).counts, share = 1;
    std::fill_n(counts, classes, 0.0f);
    for (int64_t i = n - 1; i >= 0 && share > kForgotten; i--, share *= float(options.fading))
      counts[window.label(window.place(rows[i]))] += share * float(rows[i].times());
    for (int64_t i = std::max<int64_t>(0, n - options.leaf_rows); i < n; i++) tree.hold(l, rows[i]);
    tree[l].seen = n;
    tree[l].due = n + std::max(kLeast / 2, n / 2);
  }

  void give_up_worst(int64_t now, Chance &chance) {
    Grown *worst = nullptr;
    for (Grown &own : grown)
      if (now - own.born >= kSettled && !own.wanted && (!worst || own.error() > worst->error())) worst = &own;
    int64_t choices = 1;
    while (options.shortest << choices <= options.longest) choices++;
    if (worst) worst->wanted = options.shortest << chance.below(choices);
  }
  // Trees are grown as far as there is a budget: those with most mistakes first, each in the place of an old one.
  void grow_on(const RowWindow &window, double mean_error, Chance &chance) {
    const auto is_worse = [](const Grown &a, const Grown &b) {
      return (a.wanted > 0 ? a.error() : -1) < (b.wanted > 0 ? b.error() : -1);
    };
    for (budget += kWork * int64_t(grown.size()); budget > 0;) {
      if (growing < 0) {
        const auto worst = std::max_element(grown.begin(), grown.end(), is_worse);
        if (!worst->wanted) {
          budget = 0;
          return;
        }
        growing = worst - grown.begin();
        begin_growth(window, chance);
      }
      while (budget > 0 && !open.empty()) budget -= grow(young, growing_rows, open, window, chance);
      if (open.empty()) end_growth(window, mean_error);
    }
  }
  void end_growth(const RowWindow &window, double mean_error) {
    Grown &old = grown[growing];
    std::swap(old.tree, young);
    old.changes = Adwin(options.change_level, kBlock);
    old.judged = kFewJudged;
    old.mistakes = kFewJudged * mean_error;
    old.born = window.seen();
    old.wanted = 0;
    growing = -1;
    growing_rows.clear();
  }
  void begin_growth(const RowWindow &window, Chance &chance) {
    const int64_t rows = std::min(grown[growing].wanted, window.held());
    Bagging::Draws draws(bagging, chance);
    young.begin();
    growing_rows.clear();
    for (int64_t number = window.seen() - rows; number < window.seen(); number++)
      if (const int64_t times = draws.next(window.weight(window.place(HeldRow(number, 0)))))
        growing_rows.emplace_back(number, times);
    open.assign(1, Segment{0, 0, int64_t(growing_rows.size())});
    budget -= rows;
  }
  void read_growth(const std::vector<int64_t> &segments, const std::vector<int64_t> &rows) {
    if (growing < 0 && !rows.empty()) throw BadState("growing_rows");
    if (segments.size() % 3 || (growing < 0) != segments.empty()) throw BadState("growing_segments");
    open.clear();
    growing_rows.clear();
    for (int64_t row : rows) {
      if (row < 0 || row > std::numeric_limits<uint32_t>::max()) throw BadState("growing_rows");
      growing_rows.emplace_back(uint32_t(row));
    }
    std::vector<bool> met;
    for (std::size_t i = 0; i < segments.size(); i += 3) {
      const Segment own{segments[i], segments[i + 1], segments[i + 2]};
      if (own.node < 0 || own.node > 2 * young.leaves() - 2 || young.leaf_of(own.node) < 0 || own.begin < 0 ||
          own.begin > own.end || own.end > int64_t(rows.size()))
        throw BadState("growing_segments");
      met.resize(2 * young.leaves() - 1);
      if (met[own.node]) throw BadState("growing_segments");
      met[own.node] = true;
      open.push_back(own);
    }
  }

  GroveOptions options;
  int64_t p, classes = 0;
  ClassCuts cuts;
  Bagging bagging;
  std::vector<Grown> grown;
  BufferOf<float> vote, bias, bias_squares;
  float slope = 1, slope_squares = 0;

  int64_t due = 0;                   // rows until the worst tree is grown anew
  int64_t growing = -1, budget = 0;  // which tree gives way, and what may be looked at
  Tree young;
  std::vector<HeldRow> growing_rows;
  std::vector<Segment> open;

  std::vector<HeldRow> leaf_rows, right_rows;  // room
  std::vector<Segment> leaf_open;
  std::vector<float> distribution, pull;
};

}  // namespace thalweg::THALWEG_LEVEL
