// A tree of a forest: cuts, and leaves that hold what was learned there.
//
// A leaf holds, of each class, a fading count of its rows, the distribution that it inherited, and the weight and the squared
// gradients of the forest's refinement (grove.hpp); and which of the window's rows came last, from which its cut is sought.
// A leaf of the tree is a node that leads to itself, so that a row finds its way without a branch.
#pragma once

#include <limits>

#include "forest/row_window.hpp"

namespace thalweg::THALWEG_LEVEL {

// The numbers of several trees, as they are saved: one tree after the other.
struct SavedTrees {
  std::vector<int64_t> leaves, features, targets, seen, due, held, rows;
  BufferOf<float> thresholds, numbers;

  void visit(State &state, int64_t count, int64_t per_leaf) {
    state.integers("tree_leaves", leaves, count);
    int64_t all = 0, ring = 0;
    for (int64_t n : leaves) {
      if (n < 1 || n > kMostLeaves) throw BadState("tree_leaves");
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
      if (n < 0 || n > kMostHeld) throw BadState("leaf_held");
      ring += n;
    }
    state.integers("leaf_rows", rows, ring);
    state.matrix("leaf_numbers", numbers, all, per_leaf, per_leaf, [](float v) { return std::fabs(v) < 1e30f; });
  }

  static constexpr int64_t kMostLeaves = 1 << 16, kMostHeld = 1 << 10;
};

// Where the next tree begins.
struct PlaceInSaved {
  std::size_t tree = 0, node = 0, leaf = 0, row = 0;
};

class Tree {
 public:
  struct Node {
    float threshold;  // x[feature] <= threshold goes to `child`, others to the node behind it
    int32_t feature, child, leaf;
  };
  struct Leaf {
    int64_t seen = 0, due = 0;  // rows, and how many there will be when a cut is sought again
    int32_t next = 0, held = 0;
  };
  // Of a leaf, a number for each class.
  struct Numbers {
    float *counts, *inherited, *weights, *squares;
  };

  explicit Tree(int64_t ring) : ring(ring) { begin(); }

  int64_t leaves() const { return int64_t(leaf.size()); }
  int64_t leaf_of(int64_t node) const { return nodes[node].leaf; }
  Leaf &operator[](int64_t l) { return leaf[l]; }
  THALWEG_INLINE Numbers numbers(int64_t l) const {
    float *at = const_cast<float *>(all.data()) + l * 4 * room;
    return {at, at + room, at + 2 * room, at + 3 * room};
  }
  // One leaf that knows nothing.
  void begin() {
    nodes.assign(1, Node{kEnd, 0, 0, 0});
    leaf.assign(1, Leaf());
    all.assign(4 * room, 0.0f);
    rows.assign(ring, HeldRow());
    for (int64_t c = 0; c < classes; c++) numbers(0).inherited[c] = 1 / float(classes);
  }
  // One more class.
  void widen() {
    const int64_t before = room;
    while (room < classes + 1) room *= 2;
    if (room != before) {
      BufferOf<float> wider(leaves() * 4 * room);
      for (int64_t i = 0; i < 4 * leaves(); i++) std::copy_n(all.data() + i * before, classes, wider.data() + i * room);
      all = std::move(wider);
    }
    classes++;
    for (int64_t l = 0; l < leaves(); l++) {
      float *inherited = numbers(l).inherited;
      for (int64_t c = 0; c < classes - 1; c++) inherited[c] *= float(classes - 1) / float(classes);
      inherited[classes - 1] = 1 / float(classes);
    }
  }

  // Of some trees, each from its first node on; they wait for memory together.
  template <int Count> static THALWEG_INLINE void find(const Tree *const *trees, const float *x, int32_t *found) {
    const Node *nodes[Count];
    int32_t at[Count] = {};
    for (int i = 0; i < Count; i++) nodes[i] = trees[i]->nodes.data();
    for (bool moved = true; moved;) {
      moved = false;
      for (int i = 0; i < Count; i++) {
        const Node &node = nodes[i][at[i]];
        const int32_t next = node.child + !(x[node.feature] <= node.threshold);
        moved |= next != at[i];
        at[i] = next;
      }
    }
    std::copy_n(at, Count, found);
  }

  // The node becomes a cut; its left child, which has its leaf from now on, is returned, and the right one is behind it.
  int64_t cut(int64_t node, int64_t feature, float threshold, const float *distribution) {
    const int32_t child = int32_t(nodes.size()), left = nodes[node].leaf, right = int32_t(leaves());
    nodes[node] = {threshold, int32_t(feature), child, -1};
    nodes.push_back({kEnd, 0, child, left});
    nodes.push_back({kEnd, 0, child + 1, right});
    leaf.emplace_back();
    all.resize(all.size() + 4 * room);
    rows.resize(rows.size() + ring);
    const Numbers from = numbers(left), to = numbers(right);
    std::copy_n(from.weights, 2 * room, to.weights);  // and the squares
    for (float *inherited : {from.inherited, to.inherited}) std::copy_n(distribution, classes, inherited);
    for (float *counts : {from.counts, to.counts}) std::fill_n(counts, classes, 0.0f);
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

  void write(SavedTrees &to) const {
    to.leaves.push_back(leaves());
    for (const Node &node : nodes) {
      to.features.push_back(node.leaf < 0 ? node.feature : -1);
      to.targets.push_back(node.leaf < 0 ? node.child : node.leaf);
      to.thresholds.push_back(node.leaf < 0 ? node.threshold : 0.0f);
    }
    for (int64_t l = 0; l < leaves(); l++) {
      to.seen.push_back(leaf[l].seen);
      to.due.push_back(leaf[l].due);
      to.held.push_back(leaf[l].held);
      each_row(l, [&](HeldRow row) { to.rows.push_back(row.bits()); });
      for (int64_t i = 0; i < 4; i++) {
        const float *from = all.data() + (4 * l + i) * room;
        to.numbers.insert(to.numbers.end(), from, from + classes);
      }
    }
  }
  void read(const SavedTrees &from, PlaceInSaved &at, int64_t features) {
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
        nodes.push_back({kEnd, 0, int32_t(i), int32_t(target)});
      } else {
        has_parent[target] = has_parent[target + 1] = true;
        nodes.push_back({from.thresholds[at.node], int32_t(feature), int32_t(target), -1});
      }
    }
    leaf.assign(n, Leaf());
    all.assign(n * 4 * room, 0.0f);
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
      const float *own = from.numbers.data() + at.leaf * 4 * classes;
      for (int64_t i = 0; i < 4; i++) {
        std::copy_n(own + i * classes, classes, all.data() + (4 * l + i) * room);
        for (int64_t c = 0; i != 2 && c < classes; c++)
          if (own[i * classes + c] < 0) throw BadState("leaf_numbers");
      }
    }
  }

 private:
  static constexpr float kEnd = std::numeric_limits<float>::infinity();
  int64_t ring, classes = 0, room = 2;
  std::vector<Node> nodes;
  std::vector<Leaf> leaf;
  BufferOf<float> all;        // leaves x (counts, inherited, weights, squares) x room
  std::vector<HeldRow> rows;  // leaves x ring
};

}  // namespace thalweg::THALWEG_LEVEL
