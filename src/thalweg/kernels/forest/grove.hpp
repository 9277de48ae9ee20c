// Trees that learn and forget alike, over the rows of one window.
//
// Learning. A leaf keeps which rows reached it last; when half as many again have come, the cut that gains most is sought and
// taken if it gains enough (cut_search.hpp). Both sides inherit their rows, what was known above them and the weights of the
// refinement. Each tree sees a row a random number of times (online bagging).
//
// Forgetting. Counts in a leaf fade. Every `regrow_every` rows, or up to four times as many while new trees are no better, the
// tree with most mistakes is grown anew, at once, from the last rows, between `shortest` and `longest` of them; so is a tree
// whose mistakes rise (ADWIN), from the rows since the change. Growing is spread over rows by a budget of work for each, and the
// old tree goes on meanwhile.
//
// What a leaf knows, and what follows from the leaves that a row reached, is said by class_leaves.hpp and number_leaves.hpp. Trees
// are weighted by exp(-10 e), where e is their recent error.
//
// O(T (depth + c)) a row, and amortised O(T m) for cuts of m features.
#pragma once

#include "adwin.hpp"
#include "forest/chance.hpp"
#include "forest/cut_search.hpp"
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

template <class Leaves> class Grove {
 public:
  using Opinion = typename Leaves::Opinion;

  Grove(int64_t features, const GroveOptions &given)
      : options(given), p(features), leaves(given.step), cuts(features, given.feature_share, given.least_gain),
        bagging(given.bagging), young(given.leaf_rows, leaves.nothing()) {
    for (int64_t i = 0; i < given.trees; i++) grown.emplace_back(given, leaves.nothing());
    vote.assign(given.trees, 1.0f);
  }

  void judge(const float *x, Opinion &to) const {
    to.node.resize(grown.size());
    find_leaves(x, to.node.data());
    for (std::size_t i = 0; i < grown.size(); i++) grown[i].tree.fetch(to.node[i]);
    leaves.judge(vote, reached(to), to);
  }

  // The newest row of the window, of which this was made.
  void learn(const RowWindow &window, double target, double weight, const Opinion &of, Chance &chance) {
    const int64_t T = int64_t(grown.size());
    for (int64_t i = 0; i < T; i++) {
      Grown &own = grown[i];
      own.tree.fetch_ring(of.node[i]);
      const double wrong = leaves.mistake(of, i, target);
      own.mistakes = kErrorsFading * own.mistakes + weight * wrong;
      own.judged = kErrorsFading * own.judged + weight;
      if (options.change_level > 0) {
        const Adwin::Change change = own.changes.update(wrong);
        if (change.rows && change.after > change.before) {
          own.wanted = std::max(change.rows, kFewest);
          patience = 1;
          due = std::min(due, window.seen() + options.regrow_every);
        }
      }
    }
    leaves.judged(of, target);
    leaves.refine(target, float(std::min(weight, double(Bagging::kMost))), of, T, reached(of));
    Bagging::Draws draws(bagging, chance);
    for (int64_t i = 0; i < T; i++)
      if (const int64_t times = draws.next(weight))
        put(grown[i].tree, of.node[i], target, HeldRow(window.seen() - 1, times), window, chance);
    if (options.regrow_every && window.seen() >= std::max(due, kYoung)) {
      consider_patience();
      give_up_worst(window.seen(), chance);
      due = window.seen() + std::max(int64_t(patience * double(options.regrow_every)),
                                     int64_t(options.regrow_share * double(window.held())));
    }
    grow_on(window, chance);
    if (window.seen() % kBetweenVotes == 0) count_votes();
  }

  // One class more.
  void widen() {
    leaves.widen();
    for (Grown &own : grown) leaves.widen(own.tree);
    leaves.widen(young);
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
    leaves.visit(state);

    state.integer("regrow_due", due, not_negative);
    state.real("regrow_patience", patience, within<double>(1, kMostPatience));
    state.integer("growing", growing, within<int64_t>(-1, T - 1));
    state.integer("growing_budget", budget);
    SavedTrees<typename Leaves::Number> saved;
    for (const Grown &own : grown) own.tree.write(saved);
    if (growing >= 0) young.write(saved);
    saved.visit(state, T + (growing >= 0), 4 * leaves.width());
    PlaceInSaved at;
    const auto sound = [this](const auto &numbers) { return leaves.sound(numbers); };
    for (Grown &own : grown) own.tree.read(saved, at, p, sound);
    if (growing >= 0) young.read(saved, at, p, sound);
    for (const Segment &each : open)
      for (int64_t number : {each.node, each.begin, each.end}) segments.push_back(number);
    for (const HeldRow &row : growing_rows) rows.push_back(row.bits());
    state.integers("growing_segments", segments);
    state.integers("growing_rows", rows);
    read_growth(segments, rows);
  }

 private:
  using OwnTree = Tree<typename Leaves::Number>;

  static constexpr double kErrorsFading = 0.998, kSharpness = 10, kFewJudged = 20;
  static constexpr int64_t kBetweenVotes = 16, kYoung = 128, kSettled = 100, kFewest = 64;
  static constexpr int64_t kLeast = 8;  // rows of a cut
  static constexpr int64_t kLeaves = 4;
  static constexpr double kMostPatience = 4;
  static constexpr int64_t kBlock = 32;     // rows that ADWIN takes at once
  static constexpr int64_t kWork = 1 << 9;  // numbers that growing may look at in a row, for each tree

  struct Grown {
    Grown(const GroveOptions &options, const std::vector<typename Leaves::Number> &nothing)
        : tree(options.leaf_rows, nothing), changes(options.change_level, kBlock) {}
    double error() const { return judged > 0 ? mistakes / judged : 0.5; }
    OwnTree tree;
    Adwin changes;
    double mistakes = 0, judged = 0;
    int64_t born = 0, wanted = 0;  // in rows; those that it is to be grown from, if any
  };
  // Rows that belong to a node whose cut has not been sought yet.
  struct Segment {
    int64_t node, begin, end;
  };

  // Of a tree, the numbers of the leaf that a row reached.
  auto reached(const Opinion &of) const {
    return [this, &of](int64_t i) THALWEG_LAMBDA {
      const OwnTree &tree = grown[i].tree;
      return tree.numbers(tree.leaf_of(of.node[i]));
    };
  }
  void find_leaves(const float *x, int32_t *found) const {
    find_leaves<1>(x, find_leaves<5>(x, find_leaves<10>(x, 0, found), found), found);
  }
  // From tree i on, so many at a time; returns the first that is left.
  template <int Count> int64_t find_leaves(const float *x, int64_t i, int32_t *found) const {
    const OwnTree *some[Count];
    for (; i + Count <= int64_t(grown.size()); i += Count) {
      for (int64_t k = 0; k < Count; k++) some[k] = &grown[i + k].tree;
      OwnTree::template find<Count>(some, x, found + i);
    }
    return i;
  }
  void count_votes() {
    double least = 1;
    for (const Grown &own : grown) least = std::min(least, own.error());
    for (std::size_t i = 0; i < grown.size(); i++)
      vote[i] = float(exponential(-kSharpness * (grown[i].error() - least)));
  }

  // A row reaches a leaf, which may become a cut.
  void put(OwnTree &tree, int64_t node, double target, HeldRow row, const RowWindow &window, Chance &chance) {
    const int64_t l = tree.leaf_of(node);
    const auto numbers = tree.numbers(l);
    leaves.count(numbers.counts, target, row.times(), options.fading);
    tree.hold(l, row);
    typename OwnTree::Leaf &leaf = tree[l];
    if (++leaf.seen < leaf.due) return;
    leaf.due = leaf.seen + std::max(kLeast, rows_until_next(leaf.seen));
    leaf_rows.clear();
    tree.each_row(l, [&](HeldRow each) {
      if (window.holds(each)) leaf_rows.push_back(each);
    });
    Cut cut;
    if (!find_cut(tree, leaf_rows.data(), int64_t(leaf_rows.size()), window, chance, cut)) return;
    known.assign(numbers.counts, numbers.counts + leaves.width());
    split(tree, {node, 0, int64_t(leaf_rows.size())}, cut, leaf_rows, leaf_open, window);
    while (!leaf_open.empty()) grow(tree, leaf_rows, leaf_open, window, chance);
  }
  // A cut is sought again when half as many have come, at the most half of what four leaves hold.
  int64_t rows_until_next(int64_t seen) const { return std::min(seen, kLeaves * options.leaf_rows) / 2; }
  bool find_cut(const OwnTree &tree, const HeldRow *rows, int64_t n, const RowWindow &window, Chance &chance,
                Cut &cut) {
    cut.work = n;
    return n >= kLeast && tree.leaves() < options.max_leaves && cuts.find(window, rows, n, leaves.width(), chance, cut);
  }
  // What is known of the rows is, at first, what they count for.
  void split(OwnTree &tree, const Segment &of, const Cut &cut, std::vector<HeldRow> &rows, std::vector<Segment> &to,
             const RowWindow &window) {
    leaves.bequeath(known.data(), tree.numbers(tree.leaf_of(of.node)).inherited);
    int64_t middle = of.begin, right = 0;
    const uint8_t *codes = window.column(cut.feature);
    right_rows.resize(of.end - of.begin);
    for (int64_t i = of.begin; i < of.end; i++) {  // without a branch
      const HeldRow row = rows[i];
      const bool goes_left = codes[window.place(row)] <= cut.code;
      rows[middle] = right_rows[right] = row;
      middle += goes_left;
      right += !goes_left;
    }
    std::copy_n(right_rows.begin(), right, rows.begin() + middle);
    const int64_t child = tree.cut(of.node, cut.feature, cut.threshold, known.data());
    to.push_back({child + 1, middle, of.end});
    to.push_back({child, of.begin, middle});
  }
  // The last of the segments becomes a cut or a leaf; how many numbers were looked at.
  int64_t grow(OwnTree &tree, std::vector<HeldRow> &rows, std::vector<Segment> &segments, const RowWindow &window,
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
    known.assign(leaves.width(), 0);
    for (int64_t i = own.begin; i < own.end; i++)
      leaves.count(known.data(), window.target(window.place(rows[i])), rows[i].times(), 1);
    split(tree, own, cut, rows, segments, window);
    return cut.work + n;
  }
  void settle(OwnTree &tree, int64_t l, const HeldRow *rows, int64_t n, const RowWindow &window) {
    constexpr double kForgotten = 1e-3;
    int64_t from = n;
    for (double share = 1; from > 0 && share > kForgotten; share *= options.fading) from--;
    auto *counts = tree.numbers(l).counts;
    std::fill_n(counts, leaves.width(), 0);
    for (int64_t i = from; i < n; i++)
      leaves.count(counts, window.target(window.place(rows[i])), rows[i].times(), options.fading);
    for (int64_t i = std::max<int64_t>(0, n - options.leaf_rows); i < n; i++) tree.hold(l, rows[i]);
    tree[l].seen = n;
    tree[l].due = n + std::max(kLeast / 2, rows_until_next(n));
  }

  double mean_error() const {
    double mean = 0;
    for (const Grown &own : grown) mean += own.error() / double(grown.size());
    return mean;
  }
  // While the tree that was grown last is no better than the others, the next one may wait longer.
  void consider_patience() {
    const Grown &newest =
        *std::max_element(grown.begin(), grown.end(), [](const Grown &a, const Grown &b) { return a.born < b.born; });
    if (newest.born == 0 || options.regrow_share > 0) return;
    patience = newest.error() < mean_error() ? std::max(1.0, patience / 2) : std::min(kMostPatience, 1.5 * patience);
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
  void grow_on(const RowWindow &window, Chance &chance) {
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
      if (open.empty()) end_growth(window);
    }
  }
  void end_growth(const RowWindow &window) {
    Grown &old = grown[growing];
    const double mean = mean_error();
    std::swap(old.tree, young);
    old.changes = Adwin(options.change_level, kBlock);
    old.judged = kFewJudged;
    old.mistakes = kFewJudged * mean;
    old.born = window.seen();
    old.wanted = 0;
    growing = -1;
    growing_rows.clear();
  }
  void begin_growth(const RowWindow &window, Chance &chance) {
    const int64_t rows = std::min(grown[growing].wanted, window.held());
    Bagging::Draws draws(bagging, chance);
    young.begin(leaves.nothing());
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
  int64_t p;
  Leaves leaves;
  typename Leaves::Cuts cuts;
  Bagging bagging;
  std::vector<Grown> grown;
  BufferOf<float> vote;

  int64_t due = 0;                   // rows until the worst tree is grown anew
  double patience = 1;               // times `regrow_every` between two of them
  int64_t growing = -1, budget = 0;  // which tree gives way, and what may be looked at
  OwnTree young;
  std::vector<HeldRow> growing_rows;
  std::vector<Segment> open;

  std::vector<HeldRow> leaf_rows, right_rows;  // room
  std::vector<Segment> leaf_open;
  std::vector<typename Leaves::Number> known;
};

}  // namespace thalweg::THALWEG_LEVEL
