// A tree of a forest: cuts, and leaves that hold what was learned there.
//
// A leaf holds four sets of numbers, what its rows say, what it inherited, and weights of the forest's refinement with what their
// steps depend on (class_leaves.hpp, number_leaves.hpp); and which of the window's rows came last, from which its cut is sought.
// A leaf of the tree is a node that leads to itself, so that a row finds its way without a branch.
#pragma once

#include <limits>

#include "forest/row_window.hpp"

namespace thalweg::THALWEG_LEVEL {

struct TreeLimits {
  static constexpr int64_t kMostLeaves = 1 << 16, kMostHeld = 1 << 10;
  // Of a leaf's number.
  template <class Number> static constexpr Number kMost = std::is_same_v<Number, float> ? Number(1e30) : Number(1e300);
};

// The numbers of several trees, as they are saved: one tree after the other.
template <class Number> struct SavedTrees {
  std::vector<int64_t> leaves, features, targets, seen, due, held, rows;
  BufferOf<float> thresholds;
  BufferOf<Number> numbers;

  void visit(State &state, int64_t count, int64_t per_leaf) {
    state.integers("tree_leaves", leaves, count);
    int64_t all = 0, ring = 0;
    for (int64_t n : leaves) {
      if (n < 1 || n > TreeLimits::kMostLeaves) throw BadState("tree_leaves");
      all += n;
    }
    const int64_t nodes = 2 * all - count;
    thresholds.resize(nodes);
    numbers.resize(all * per_leaf);
    state.integers("node_features", features, nodes);
    state.integers("node_targets", targets, nodes);
    state.matrix("node_thresholds", thresholds, 1, nodes, nodes, finite);
    state.integers("leaf_seen", seen, all);
    state.integers("leaf_due", due, all);
    state.integers("leaf_held", held, all);
    for (int64_t n : held) {
      if (n < 0 || n > TreeLimits::kMostHeld) throw BadState("leaf_held");
      ring += n;
    }
    state.integers("leaf_rows", rows, ring);
    state.matrix("leaf_numbers", numbers, all, per_leaf, per_leaf,
                 [](Number v) { return std::fabs(v) < TreeLimits::kMost<Number>; });
  }
};

// Where the next tree begins.
struct PlaceInSaved {
  std::size_t tree = 0, node = 0, leaf = 0, row = 0;
};

template <class Number> class Tree {
 public:
  struct Node {
    float threshold;  // x[feature] <= threshold goes to the node `child` places on, others to the one behind it
    int32_t feature, child, leaf;
  };
  struct Leaf {
    int64_t seen = 0, due = 0;  // rows, and how many there will be when a cut is sought again
    int32_t next = 0, held = 0;
  };
  // Of a leaf, as many numbers each as the width.
  struct Numbers {
    Number *counts, *inherited, *weights, *squares;
  };

  Tree(int64_t ring, const std::vector<Number> &nothing) : ring(ring), width(int64_t(nothing.size())) {
    while (room < width) room *= 2;
    begin(nothing);
  }

  int64_t leaves() const { return int64_t(leaf.size()); }
  int64_t leaf_of(int64_t node) const { return nodes[node].leaf; }
  Leaf &operator[](int64_t l) { return leaf[l]; }
  THALWEG_INLINE Numbers numbers(int64_t l) const {
    Number *at = const_cast<Number *>(all.data()) + l * 4 * room;
    return {at, at + room, at + 2 * room, at + 3 * room};
  }
  // Leaves of several trees wait for memory together.
  THALWEG_INLINE void fetch(int64_t node) const {
    __builtin_prefetch(numbers(leaf_of(node)).counts, 1);
    __builtin_prefetch(leaf.data() + leaf_of(node), 1);
  }
  THALWEG_INLINE void fetch_ring(int64_t node) const {
    const int64_t l = leaf_of(node);
    __builtin_prefetch(rows.data() + l * ring + leaf[l].next, 1);
  }
  // One leaf that knows nothing but what it is given.
  void begin(const std::vector<Number> &inherited) {
    nodes.assign(1, Node{kEnd, 0, 0, 0});
    leaf.assign(1, Leaf());
    all.assign(4 * room, Number(0));
    rows.assign(ring, HeldRow());
    std::copy(inherited.begin(), inherited.end(), numbers(0).inherited);
  }
  // Room for one more, in each set of each leaf.
  void widen() {
    const int64_t before = room;
    while (room < width + 1) room *= 2;
    if (room != before) {
      BufferOf<Number> wider(leaves() * 4 * room);
      for (int64_t i = 0; i < 4 * leaves(); i++) std::copy_n(all.data() + i * before, width, wider.data() + i * room);
      all = std::move(wider);
    }
    width++;
  }

  // Of some trees, each from its first node on; they wait for memory together.
  template <int Count> static THALWEG_INLINE void find(const Tree *const *trees, const float *x, int32_t *found) {
    const Node *at[Count];
    for (int i = 0; i < Count; i++) at[i] = trees[i]->nodes.data();
    for (int64_t moved = 1; moved;) {
      moved = 0;
      for (int i = 0; i < Count; i++) {
        const int64_t by = at[i]->child + int64_t(!(x[at[i]->feature] <= at[i]->threshold));
        moved |= by;
        at[i] += by;
      }
    }
    for (int i = 0; i < Count; i++) found[i] = int32_t(at[i] - trees[i]->nodes.data());
  }

  // The node becomes a cut; its left child, which has its leaf from now on, is returned, and the right one is behind it.
  int64_t cut(int64_t node, int64_t feature, float threshold, const Number *given) {
    const int32_t child = int32_t(nodes.size()), left = nodes[node].leaf, right = int32_t(leaves());
    nodes[node] = {threshold, int32_t(feature), child - int32_t(node), -1};
    nodes.push_back({kEnd, 0, 0, left});
    nodes.push_back({kEnd, 0, 0, right});
    leaf.emplace_back();
    all.resize(all.size() + 4 * room);
    rows.resize(rows.size() + ring);
    const Numbers from = numbers(left), to = numbers(right);
    std::copy_n(from.weights, 2 * room, to.weights);  // and the squares
    for (Number *inherited : {from.inherited, to.inherited}) std::copy_n(given, width, inherited);
    for (Number *counts : {from.counts, to.counts}) std::fill_n(counts, width, Number(0));
    leaf[left] = Leaf();
    return child;
  }

  void hold(int64_t l, HeldRow row) {
    Leaf &own = leaf[l];
    rows[l * ring + own.next] = row;
    own.next = own.next + 1 == ring ? 0 : own.next + 1;
    own.held = std::min<int32_t>(own.held + 1, int32_t(ring));
  }
  // The rows that a leaf holds, oldest first.
  template <class Act> void each_row(int64_t l, Act act) const {
    const Leaf &own = leaf[l];
    for (int64_t i = 0, at = (own.next - own.held + ring) % ring; i < own.held; i++, at = at + 1 == ring ? 0 : at + 1)
      act(rows[l * ring + at]);
  }

  void write(SavedTrees<Number> &to) const {
    to.leaves.push_back(leaves());
    for (const Node &node : nodes) {
      to.features.push_back(node.leaf < 0 ? node.feature : -1);
      to.targets.push_back(node.leaf < 0 ? &node - nodes.data() + node.child : node.leaf);
      to.thresholds.push_back(node.leaf < 0 ? node.threshold : 0.0f);
    }
    for (int64_t l = 0; l < leaves(); l++) {
      to.seen.push_back(leaf[l].seen);
      to.due.push_back(leaf[l].due);
      to.held.push_back(leaf[l].held);
      each_row(l, [&](HeldRow row) { to.rows.push_back(row.bits()); });
      for (int64_t i = 0; i < 4; i++) {
        const Number *from = all.data() + (4 * l + i) * room;
        to.numbers.insert(to.numbers.end(), from, from + width);
      }
    }
  }
  template <class Sound>
  void read(const SavedTrees<Number> &from, PlaceInSaved &at, int64_t features, Sound sound) {
    const int64_t n = from.leaves[at.tree++], count = 2 * n - 1;
    std::vector<bool> has_parent(count), met(n);
    nodes.clear();
    for (int64_t i = 0; i < count; i++, at.node++) {
      const int64_t feature = from.features[at.node], target = from.targets[at.node];
      const bool is_leaf = feature == -1;
      if (feature < -1 || feature >= features) throw BadState("node_features");
      if (is_leaf ? target < 0 || target >= n || met[target]
                  : target <= i || target + 1 >= count || has_parent[target] || has_parent[target + 1])
        throw BadState("node_targets");
      if (i > 0 && !has_parent[i]) throw BadState("node_targets");
      if (is_leaf) {
        met[target] = true;
        nodes.push_back({kEnd, 0, 0, int32_t(target)});
      } else {
        has_parent[target] = has_parent[target + 1] = true;
        nodes.push_back({from.thresholds[at.node], int32_t(feature), int32_t(target - i), -1});
      }
    }
    leaf.assign(n, Leaf());
    all.assign(n * 4 * room, Number(0));
    rows.assign(n * ring, HeldRow());
    for (int64_t l = 0; l < n; l++, at.leaf++) {
      if (from.seen[at.leaf] < 0) throw BadState("leaf_seen");
      if (from.due[at.leaf] < 0) throw BadState("leaf_due");
      if (from.held[at.leaf] > ring) throw BadState("leaf_held");
      leaf[l] = {from.seen[at.leaf], from.due[at.leaf]};
      for (int64_t i = 0; i < from.held[at.leaf]; i++, at.row++) {
        const int64_t row = from.rows[at.row];
        if (row < 0 || row > std::numeric_limits<uint32_t>::max()) throw BadState("leaf_rows");
        hold(l, HeldRow(uint32_t(row)));
      }
      const Number *own = from.numbers.data() + at.leaf * 4 * width;
      for (int64_t i = 0; i < 4; i++) std::copy_n(own + i * width, width, all.data() + (4 * l + i) * room);
      if (!sound(numbers(l))) throw BadState("leaf_numbers");
    }
  }

 private:
  static constexpr float kEnd = std::numeric_limits<float>::infinity();
  int64_t ring, width, room = 2;
  std::vector<Node> nodes;
  std::vector<Leaf> leaf;
  BufferOf<Number> all;       // leaves x (counts, inherited, weights, squares) x room
  std::vector<HeldRow> rows;  // leaves x ring
};

}  // namespace thalweg::THALWEG_LEVEL
