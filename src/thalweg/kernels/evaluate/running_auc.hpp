// The areas under the ROC and the precision-recall curve of recent scores (prequential AUC: D. Brzezinski & J. Stefanowski,
// "Prequential AUC: properties of the area under the ROC curve for data streams with concept drift", Knowledge and
// Information Systems 52, 2017): of the last rows, or with weights that fade.
//
// Where we depart: 1. the paper walks through the sorted window at every row, O(window); we keep the number of pairs that
// are in the right order, O(log window) a row; 2. ties count one half, as in scikit-learn; 3. average precision, by one walk
// through the tree; 4. fading weights.
//
// Scores lie in a treap whose priorities are hashes of the scores, so its shape depends on the scores in it alone. A node is
// a distinct score with the weights of its positives and negatives, and those of its subtree. Weights of 1 add up exactly.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <vector>

namespace thalweg::THALWEG_LEVEL {

class ScoreTree {
 public:
  struct Weights {
    double negative = 0, positive = 0;
    double &of(bool is_positive) { return is_positive ? positive : negative; }
    void add(const Weights &other) {
      negative += other.negative;
      positive += other.positive;
    }
  };
  struct Place {
    Weights below, tied;
  };

  const Weights &all() const { return nodes_[root_].sum; }

  // What lies below the score and beside it, before the row is there too.
  Place add(double score, bool positive, double weight) {
    const Place place = find(score);
    int32_t at = end_;
    if (at) {
      nodes_[at].rows++;
    } else {
      at = new_node(score);
      while (!path_.empty() && nodes_[path_.back()].priority < nodes_[at].priority) path_.pop_back();
      int32_t &link = link_to(score);
      int32_t low, high;
      split(link, score, low, high);
      nodes_[at].left = low;
      nodes_[at].right = high;
      link = at;
    }
    nodes_[at].own.of(positive) += weight;
    sum_up(at);
    return place;
  }

  // The same as the row goes.
  Place remove(double score, bool positive, double weight) {
    const Place place = find(score);
    Node &node = nodes_[end_];
    node.own.of(positive) -= weight;
    if (--node.rows == 0) {
      int32_t &link = link_to(score);
      free_.push_back(end_);
      link = merge(node.left, node.right);
      sum_up(0);
    } else {
      sum_up(end_);
    }
    return place;
  }

  void scale(double by) {
    for (Node &node : nodes_)
      for (Weights *weights : {&node.own, &node.sum}) {
        weights->negative *= by;
        weights->positive *= by;
      }
  }

  // Distinct scores, the highest first.
  template <class Visit> void walk_down(Visit visit) const {
    std::vector<int32_t> above;
    for (int32_t at = root_; at || !above.empty();) {
      for (; at; at = nodes_[at].right) above.push_back(at);
      at = above.back();
      above.pop_back();
      visit(nodes_[at].own);
      at = nodes_[at].left;
    }
  }

 private:
  struct Node {
    double score = 0;
    Weights own, sum;
    int32_t left = 0, right = 0, rows = 0;
    uint32_t priority = 0;
  };

  std::vector<Node> nodes_ = std::vector<Node>(1);  // 0 is no node, of no weight
  std::vector<int32_t> free_, path_;
  int32_t root_ = 0, end_ = 0;

  // From the root towards the score: path_ are the nodes above end_, which is the score's own, or none.
  Place find(double score) {
    Place place;
    path_.clear();
    for (end_ = root_; end_;) {
      const Node &node = nodes_[end_];
      if (score < node.score) {
        path_.push_back(end_);
        end_ = node.left;
        continue;
      }
      place.below.add(nodes_[node.left].sum);
      if (score == node.score) {
        place.tied = node.own;
        break;
      }
      place.below.add(node.own);
      path_.push_back(end_);
      end_ = node.right;
    }
    return place;
  }

  // Where the last node of the path holds its child towards the score.
  int32_t &link_to(double score) {
    if (path_.empty()) return root_;
    Node &above = nodes_[path_.back()];
    return score < above.score ? above.left : above.right;
  }

  void sum_up(int32_t at) {
    if (at) sum(at);
    for (; !path_.empty(); path_.pop_back()) sum(path_.back());
  }

  void sum(int32_t at) {
    Node &node = nodes_[at];
    node.sum = nodes_[node.left].sum;
    node.sum.add(node.own);
    node.sum.add(nodes_[node.right].sum);
  }

  int32_t new_node(double score) {
    int32_t at = int32_t(nodes_.size());
    if (free_.empty()) {
      nodes_.emplace_back();
    } else {
      at = free_.back();
      free_.pop_back();
    }
    uint64_t bits;
    score += 0.0;  // -0 is 0
    std::memcpy(&bits, &score, sizeof bits);
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;  // the finaliser of SplitMix64
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    nodes_[at] = Node();
    nodes_[at].score = score;
    nodes_[at].rows = 1;
    nodes_[at].priority = uint32_t(bits >> 32);
    return at;
  }

  void split(int32_t at, double score, int32_t &low, int32_t &high) {
    if (!at) {
      low = high = 0;
      return;
    }
    Node &node = nodes_[at];
    if (node.score < score) {
      split(node.right, score, node.right, high);
      low = at;
    } else {
      split(node.left, score, low, node.left);
      high = at;
    }
    sum(at);
  }

  int32_t merge(int32_t low, int32_t high) {
    if (!low || !high) return low + high;
    const bool low_above = nodes_[low].priority >= nodes_[high].priority;
    const int32_t top = low_above ? low : high;
    if (low_above) nodes_[low].right = merge(nodes_[low].right, high);
    else nodes_[high].left = merge(low, nodes_[high].left);
    sum(top);
    return top;
  }
};

struct ScoredRow {
  double score;
  bool positive;
  double weight;
};

// Both areas over the last rows, all of them while there are fewer, with weights that fade by a factor at every further row
// unless it is 1, those below kNegligible being dropped. Instead of making all old weights smaller, a new row gets a larger one, until it is
// large enough to scale all of them back.
class RecentAuc {
 public:
  RecentAuc(int64_t rows, double factor) : most_(rows), factor_(factor) {}

  void push(double score, bool positive) {
    weight_ /= factor_;
    if (weight_ > kLargest) {
      const double by = 1 / weight_;
      tree_.scale(by);
      pairs_ *= by * by;
      for (ScoredRow &each : rows_) each.weight *= by;
      weight_ = 1;
    }
    while (!rows_.empty() && is_forgotten(rows_.front())) {
      const auto &last = rows_.front();
      pairs_ -= last.weight * partners(tree_.remove(last.score, last.positive, last.weight), last.positive);
      rows_.pop_front();
    }
    rows_.push_back({score, positive, weight_});
    pairs_ += weight_ * partners(tree_.add(score, positive, weight_), positive);
  }

  // NaN without a positive or without a negative.
  double roc_auc() const {
    const auto &all = tree_.all();
    if (!(all.positive > 0 && all.negative > 0)) return std::numeric_limits<double>::quiet_NaN();
    return pairs_ / (2 * all.positive * all.negative);
  }

  // The mean precision over the positives, each at its own score (scikit-learn's average_precision_score).
  double average_precision() const {
    const double positives = tree_.all().positive;
    if (!(positives > 0)) return std::numeric_limits<double>::quiet_NaN();
    double found = 0, alarms = 0, sum = 0;
    tree_.walk_down([&](const auto &own) {
      found += own.positive;
      alarms += own.positive + own.negative;
      if (own.positive != 0) sum += own.positive * (found / alarms);
    });
    return sum / positives;
  }

  const std::deque<ScoredRow> &rows() const { return rows_; }

 private:
  static constexpr double kNegligible = 1e-12, kLargest = 1e60;
  int64_t most_;
  double factor_, weight_ = 1;
  std::deque<ScoredRow> rows_;
  ScoreTree tree_;
  // Twice the weight of pairs of a positive and a negative that are in the right order, ties once.
  double pairs_ = 0;

  bool is_forgotten(const ScoredRow &row) const {
    return int64_t(rows_.size()) >= most_ || row.weight < kNegligible * weight_;
  }

  // A positive is in the right order with the negatives below it, a negative with the positives above it.
  double partners(const ScoreTree::Place &place, bool positive) const {
    if (positive) return 2 * place.below.negative + place.tied.negative;
    return 2 * (tree_.all().positive - place.below.positive) - place.tied.positive;
  }
};

}  // namespace thalweg::THALWEG_LEVEL
