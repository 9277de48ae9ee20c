// How the members of a committee are weighted: by exp(-sharpness L), where L <- discount L + loss starts at a handicap.
//
// Several discounts give as many sets of weights, from short memories to long ones. The weights in force are their mixture,
// each set weighted by the same rule for the mistakes of its own mixture.
//
// The loss kAuto is the zero-one loss, unless classes are rare: where nearly all rows belong to one class, a member that
// never names another one makes few mistakes. With q the share of the rows that do not belong to the most frequent class,
// the weights go over, between q = 0.1 and q = 0.05, to those by log-loss, discounted by 1 - q / 10, so that about ten rows
// of the rare classes count.
//
// O(members discounts) a row.
#pragma once

#include <numeric>

#include "learner.hpp"
#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

struct MixingOptions {
  enum Loss : int64_t { kZeroOne = 0, kBrier = 1, kLog = 2, kAuto = 3 };
  std::vector<double> discounts{0.995};
  double sharpness = 0.5;
  Loss loss = kZeroOne;
  std::vector<double> handicaps;  // a member each
};

class Mixing {
 public:
  explicit Mixing(MixingOptions given)
      : options(std::move(given)), shares((memories() * members() + 7) / 8 * 8), in_force(members()) {
    if (memories() < 1 || memories() > kMostMemories) throw std::invalid_argument("needs one to eight discounts");
    reset();
  }

  int64_t members() const { return int64_t(options.handicaps.size()); }
  const Buffer &weights() const { return in_force; }

  void reset() {
    const Buffer start(options.handicaps.begin(), options.handicaps.end());
    losses.clear();
    for (int64_t i = 0; i < memories(); i++) losses.insert(losses.end(), start.begin(), start.end());
    memory_losses.assign(memories(), 0.0);
    rare_losses = start;
    counts.assign(counts.size(), 0.0);
    weigh();
  }
  void insert_class(int64_t at) {
    counts.insert(counts.begin() + at, 0.0);
    classes_++;
  }

  // Probabilities of the members, by these weights.
  void mix(const double *opinions, const double *share, double *out) const {
    const int64_t n = members();
    for (int64_t c = 0; c < classes_; c++) {
      double sum = 0;
      for (int64_t v = 0; v < n; v++) sum += share[v] * opinions[v * classes_ + c];
      out[c] = sum;
    }
  }

  // The members' probabilities of each class, before the row of class k. The first row of all says nothing about anyone.
  void judge(const double *opinions, int64_t k, double weight, bool first) {
    const int64_t n = members();
    if (memories() > 1) judge_memories(opinions, k, weight, first);
    for (int64_t i = 0; i < memories(); i++)
      for (int64_t v = 0; v < n; v++) losses[i * n + v] *= options.discounts[i];
    for (int64_t v = 0; v < n; v++) {
      const double lost = weight * (first ? 1 : loss(opinions + v * classes_, k));
      for (int64_t i = 0; i < memories(); i++) losses[i * n + v] += lost;
    }
    if (options.loss == MixingOptions::kAuto) judge_rare(opinions, k, weight);
    weigh();
  }

  void visit(State &state) {
    const int64_t n = members();
    state.matrix("losses", losses, memories(), n, n);
    if (memories() > 1) state.matrix("memory_losses", memory_losses, 1, memories(), memories());
    if (options.loss == MixingOptions::kAuto) {
      state.matrix("class_rows", counts, 1, classes_, classes_);
      state.matrix("rare_losses", rare_losses, 1, n, n);
    }
    for (const Buffer *values : {&losses, &memory_losses, &rare_losses, &counts})
      for (double value : *values)
        if (!(value >= 0)) throw BadState("losses");
    weigh();
  }

 private:
  static constexpr int64_t kMostMemories = 8;
  static constexpr double kMemoriesDiscount = 0.998;
  static constexpr double kRare = 0.05, kBalanced = 0.1, kWatched = 0.15, kRowsToCount = 10;
  static constexpr double kCountsDiscount = 0.9999, kPriorRows = 100, kMostLogLoss = 6;

  int64_t memories() const { return int64_t(options.discounts.size()); }

  static double log_loss(double p, double most) { return std::max(0.0, std::min(most, -std::log(p))); }
  double loss(const double *p, int64_t k) const {
    if (options.loss == MixingOptions::kLog) return log_loss(p[k], 5);
    if (options.loss != MixingOptions::kBrier) return Learner::highest(p, classes_) != k;
    // A plain sum of products may be rounded in another way for another number of classes, and classes that were only
    // announced must not be felt to the last bit.
    double brier = 1 - 2 * p[k];
    for (int64_t c = 0; c < classes_; c++) brier = std::fma(p[c], p[c], brier);
    return brier;
  }

  void judge_memories(const double *opinions, int64_t k, double weight, bool first) {
    Scratch room(classes_);
    for (int64_t i = 0; i < memories(); i++) {
      mix(opinions, shares.data() + i * members(), room.data());
      memory_losses[i] =
          kMemoriesDiscount * memory_losses[i] + weight * (first || Learner::highest(room.data(), classes_) != k);
    }
  }
  void judge_rare(const double *opinions, int64_t k, double weight) {
    for (double &rows : counts) rows *= kCountsDiscount;
    counts[k] += weight;
    const double q = rest();
    if (q >= kWatched) {
      std::copy(options.handicaps.begin(), options.handicaps.end(), rare_losses.begin());
      return;
    }
    for (int64_t v = 0; v < members(); v++)
      rare_losses[v] =
          (1 - q / kRowsToCount) * rare_losses[v] + weight * log_loss(opinions[v * classes_ + k], kMostLogLoss);
  }
  // The share of the rows that are not of the most frequent class, a half before there are any.
  double rest() const {
    double whole = kPriorRows, most = 0;
    for (double rows : counts) {
      whole += rows;
      most = std::max(most, rows);
    }
    return (whole - most - 0.5 * kPriorRows) / whole;
  }

  void weigh() {
    const int64_t n = members();
    if (memories() == 1) {
      mixing_shares(losses.data(), n, options.sharpness, in_force.data());
    } else {
      weigh_memories();
    }
    if (options.loss != MixingOptions::kAuto) return;
    const double rare = std::min(1.0, (kBalanced - rest()) / (kBalanced - kRare));
    if (rare <= 0) return;
    Scratch by_log_loss(n);
    mixing_shares(rare_losses.data(), n, options.sharpness, by_log_loss.data());
    for (int64_t v = 0; v < n; v++) in_force[v] += rare * (by_log_loss.data()[v] - in_force[v]);
  }
  void weigh_memories() {
    const int64_t n = members();
    for (int64_t i = 0; i < memories(); i++) {
      const double *own = losses.data() + i * n, least = *std::min_element(own, own + n);
      for (int64_t v = 0; v < n; v++) shares[i * n + v] = options.sharpness * (least - own[v]);
    }
    for (std::size_t at = 0; at < shares.size(); at += Lanes::kCount)
      exponential(Lanes::load(shares.data() + at)).store(shares.data() + at);
    double of[kMostMemories];
    mixing_shares(memory_losses.data(), memories(), options.sharpness, of);
    in_force.fill(0);
    for (int64_t i = 0; i < memories(); i++) {
      const double *own = shares.data() + i * n;
      const double part = of[i] / std::accumulate(own, own + n, 0.0);
      for (int64_t v = 0; v < n; v++) in_force[v] += part * own[v];
    }
  }

  MixingOptions options;
  int64_t classes_ = 0;
  Buffer losses, memory_losses;  // a member each for every discount; a discount each
  Buffer rare_losses, counts;    // a member each; rows of each class
  Buffer shares, in_force;       // the weights by each discount, not summing to one; and their mixture, which does
};

}  // namespace thalweg::THALWEG_LEVEL
