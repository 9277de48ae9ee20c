// The areas under the ROC and the precision-recall curve of recent scores (prequential AUC: D. Brzezinski & J. Stefanowski,
// "Prequential AUC: properties of the area under the ROC curve for data streams with concept drift", Knowledge and
// Information Systems 52, 2017): of the last rows, or with weights that fade.
//
// Where we depart: 1. the paper walks through the sorted window at every row, O(window); we keep the number of pairs that
// are in the right order, O(sqrt(window)) a row; 2. ties count one half, as in scikit-learn; 3. average precision, by one walk
// through all scores; 4. fading weights.
//
// Distinct scores lie sorted in blocks, none longer than 64 or than there are blocks, each with the weights of its positives and
// negatives. Sums are taken anew from what is there, so that nothing is left of rows that went. Weights of 1 add up exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg::THALWEG_LEVEL {

class SortedScores {
 public:
  struct Weights {
    double negative = 0, positive = 0;
    double &of(bool is_positive) { return is_positive ? positive : negative; }
    void add(const Weights &other) {
      negative += other.negative;
      positive += other.positive;
    }
    void scale(double by) {
      negative *= by;
      positive *= by;
    }
  };
  struct Place {
    Weights below, tied;
  };

  Weights all() const { return total(sums_.data(), sums_.size()); }

  // What lies below the score and beside it, before the row is there too.
  Place add(double score, bool positive, double weight) {
    const Place place = find(score);
    Block &block = blocks_[block_];
    if (!is_there(score)) {
      block.scores.insert(block.scores.begin() + at_, score);
      block.own.insert(block.own.begin() + at_, Weights());
      block.rows.insert(block.rows.begin() + at_, 0);
    }
    block.own[at_].of(positive) += weight;
    block.rows[at_]++;
    sums_[block_] = block.sum();
    if (block.scores.size() > std::max(kShortest, blocks_.size())) halve();
    return place;
  }

  // The same as the row goes.
  Place remove(double score, bool positive, double weight) {
    const Place place = find(score);
    Block &block = blocks_[block_];
    block.own[at_].of(positive) -= weight;
    if (--block.rows[at_] == 0) {
      block.scores.erase(block.scores.begin() + at_);
      block.own.erase(block.own.begin() + at_);
      block.rows.erase(block.rows.begin() + at_);
    }
    sums_[block_] = block.sum();
    if (block.scores.empty() && blocks_.size() > 1) {
      blocks_.erase(blocks_.begin() + block_);
      sums_.erase(sums_.begin() + block_);
    }
    return place;
  }

  void scale(double by) {
    for (Weights &sum : sums_) sum.scale(by);
    for (Block &block : blocks_)
      for (Weights &own : block.own) own.scale(by);
  }

  // The weights of distinct scores, the highest first.
  template <class Visit> void walk_down(Visit visit) const {
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block)
      std::for_each(block->own.rbegin(), block->own.rend(), visit);
  }

 private:
  static constexpr std::size_t kShortest = 64;

  struct Block {
    std::vector<double> scores;
    std::vector<Weights> own;
    std::vector<int32_t> rows;
    Weights sum() const { return total(own.data(), own.size()); }
  };

  // None is empty, but the only one while there is no score.
  std::vector<Block> blocks_ = std::vector<Block>(1);
  std::vector<Weights> sums_ = std::vector<Weights>(1);
  std::ptrdiff_t block_ = 0, at_ = 0;

  // In four lanes, since each addition would else wait for the one before.
  static Weights total(const Weights *weights, std::size_t count) {
    Weights lanes[4];
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4)
      for (std::size_t lane = 0; lane < 4; lane++) lanes[lane].add(weights[i + lane]);
    for (; i < count; i++) lanes[0].add(weights[i]);
    lanes[0].add(lanes[1]);
    lanes[2].add(lanes[3]);
    lanes[0].add(lanes[2]);
    return lanes[0];
  }

  bool is_there(double score) const {
    const auto &scores = blocks_[block_].scores;
    return at_ < std::ptrdiff_t(scores.size()) && scores[at_] == score;
  }

  // Where the score is, or belongs: the place at_ of the block block_.
  Place find(double score) {
    const auto next = std::partition_point(blocks_.begin() + 1, blocks_.end(),
                                           [score](const Block &block) { return block.scores.front() <= score; });
    block_ = next - blocks_.begin() - 1;
    const Block &block = blocks_[block_];
    at_ = std::lower_bound(block.scores.begin(), block.scores.end(), score) - block.scores.begin();
    Place place{total(sums_.data(), block_), {}};
    place.below.add(total(block.own.data(), at_));
    if (is_there(score)) place.tied = block.own[at_];
    return place;
  }

  // Moves the upper half of the block to one of its own.
  void halve() {
    const auto upper = [](auto &values) {
      const auto middle = values.begin() + values.size() / 2;
      std::decay_t<decltype(values)> moved(middle, values.end());
      values.erase(middle, values.end());
      return moved;
    };
    Block &block = blocks_[block_];
    Block high{upper(block.scores), upper(block.own), upper(block.rows)};
    sums_[block_] = block.sum();
    sums_.insert(sums_.begin() + block_ + 1, high.sum());
    blocks_.insert(blocks_.begin() + block_ + 1, std::move(high));
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
      scores_.scale(by);
      pairs_ *= by * by;
      for (ScoredRow &each : rows_) each.weight *= by;
      weight_ = 1;
    }
    while (!rows_.empty() && is_forgotten(rows_.front())) {
      const auto &last = rows_.front();
      pairs_ -= last.weight * partners(scores_.remove(last.score, last.positive, last.weight), last.positive);
      rows_.pop_front();
    }
    rows_.push_back({score, positive, weight_});
    pairs_ += weight_ * partners(scores_.add(score, positive, weight_), positive);
  }

  // NaN without a positive or without a negative.
  double roc_auc() const {
    const auto all = scores_.all();
    if (!(all.positive > 0 && all.negative > 0)) return std::numeric_limits<double>::quiet_NaN();
    return pairs_ / (2 * all.positive * all.negative);
  }

  // The mean precision over the positives, each at its own score (scikit-learn's average_precision_score).
  double average_precision() const {
    const double positives = scores_.all().positive;
    if (!(positives > 0)) return std::numeric_limits<double>::quiet_NaN();
    double found = 0, alarms = 0, sum = 0;
    scores_.walk_down([&](const auto &own) {
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
  SortedScores scores_;
  // Twice the weight of pairs of a positive and a negative that are in the right order, ties once.
  double pairs_ = 0;

  bool is_forgotten(const ScoredRow &row) const {
    return int64_t(rows_.size()) >= most_ || row.weight < kNegligible * weight_;
  }

  // A positive is in the right order with the negatives below it, a negative with the positives above it.
  double partners(const SortedScores::Place &place, bool positive) const {
    if (positive) return 2 * place.below.negative + place.tied.negative;
    return 2 * (scores_.all().positive - place.below.positive) - place.tied.positive;
  }
};

}  // namespace thalweg::THALWEG_LEVEL
