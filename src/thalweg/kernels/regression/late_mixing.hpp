// How the members of a mixture of regressors are weighted where targets come late: by what they predicted when the row came.
//
// A member with a short memory has learned the neighbours of a row by the time its target comes, so that what it would say then
// flatters it (ensemble/mixing.hpp). Errors of late predictions come in series as long as the delay, so that a row counts by
// min(1, series / delay), and memories last as many more rows. Judges are two losses, the squared and the absolute error, with
// two lengths of a series each; each has its weights by each discount, and their mixtures are weighted by the absolute errors
// that they made as predicted. Losses are relative to those of the mixtures.
//
// Until rows that were predicted have targets nothing is known of anyone, and members that learn fast are far off where the delay
// is long. Members begin with a handicap in proportion to the delay, the mean of all targets with that of some hundred rows; it
// fades as rows are judged. What members answer is held near the mean of the targets at first (`reach`). O(members mixtures) a row.
#pragma once

#include <limits>
#include <numeric>

#include "regression/error_mixing.hpp"

namespace thalweg::THALWEG_LEVEL {

class LateMixing {
 public:
  static constexpr int64_t kMixtures = 12;

  // `mean`: the number of the member that is the mean.
  LateMixing(int64_t members, int64_t mean) : members_(members), mean(mean) {}

  bool active() const { return !in_force.empty(); }
  const Buffer &weights() const { return in_force; }
  void begin() { in_force.clear(); }
  // Standard deviations of the targets by which an answer may be away from their mean: linear members leave the rows that they
  // know far behind, and nobody sees it until the first of these targets comes.
  double reach() const {
    return active() ? kReach * (1 + judged / kReachRows) : std::numeric_limits<double>::infinity();
  }
  // Targets come so many rows late from now on.
  void begin(double delay) {
    have_room();
    losses.fill(0);
    mixture_losses.fill(0);
    levels.fill(0);
    handicaps.fill(std::min(delay / kPatience, kMostHandicap));
    handicaps[mean] = kMeanHandicap;
    judged = 0;
    weigh();
  }

  // What each mixture predicts.
  void mixtures(const double *opinions, double *out) const {
    for (int64_t r = 0; r < kMixtures; r++) {
      const double *own = shares.data() + r * members_;
      out[r] = std::inner_product(own, own + members_, opinions, 0.0);
    }
  }

  // What the members and behind them the mixtures predicted for the row of target y; beyond `limit` a squared error counts by its size.
  void judge(const double *opinions, double y, double weight, double limit, double delay) {
    const double *mixed = opinions + members_;
    Scratch room(2 * members_);
    double *lost[] = {room.data(), room.data() + members_};
    double mixtures_lost[] = {0, 0};
    for (int64_t r = 0; r < kMixtures; r++) {
      const double error = mixed[r] - y;
      mixtures_lost[0] += huber_loss(error, limit) * parts[r];
      mixtures_lost[1] += std::fabs(error) * parts[r];
    }
    judged += weight;
    for (int64_t i = 0; i < 2; i++)
      levels[i] += std::max(weight / judged, repeated(1 - kLevelDiscount, weight)) * (mixtures_lost[i] - levels[i]);
    for (int64_t v = 0; v < members_; v++) {
      const double error = opinions[v] - y;
      lost[0][v] = huber_loss(error, limit) / std::max(levels[0], kLeast);
      lost[1][v] = std::fabs(error) / std::max(levels[1], kLeast);
    }
    const auto counted = [&](double series) { return weight * std::min(1.0, series / std::max(delay, 1.0)); };
    double keeps[2 * kMemories];
    for (int64_t r = 0; r < kMixtures; r++) {
      const int64_t judge = r / kMemories;
      const double counts = counted(kSeries[judge % 2]);
      double &keep = keeps[r % (2 * kMemories)];  // both losses have the same
      if (judge < 2) keep = std::pow(kDiscounts[r % kMemories], counts);
      double *own = losses.data() + r * members_;
      for (int64_t v = 0; v < members_; v++) own[v] = keep * own[v] + counts * lost[judge / 2][v];
    }
    const double counts = counted(kMixtureSeries), keep = std::pow(kMixturesDiscount, counts);
    for (int64_t r = 0; r < kMixtures; r++)
      mixture_losses[r] = keep * mixture_losses[r] + counts * std::fabs(mixed[r] - y) / std::max(levels[1], kLeast);
    const double fading = std::pow(kFading, weight);
    for (double &each : handicaps) each *= fading;
    weigh();
  }

  void visit(State &state) {
    int64_t is_active = active();
    state.integer("active", is_active, within<int64_t>(0, 1));
    if (!is_active) return begin();
    if (!active()) have_room();
    state.real("judged", judged, not_negative);
    state.matrix("levels", levels, 1, 2, 2, not_negative);
    state.matrix("handicaps", handicaps, 1, members_, members_, not_negative);
    state.matrix("losses", losses, kMixtures, members_, members_, not_negative);
    state.matrix("mixture_losses", mixture_losses, 1, kMixtures, kMixtures, not_negative);
    weigh();
  }

 private:
  static constexpr int64_t kMemories = 3;
  static constexpr double kDiscounts[kMemories] = {0.98, 0.995, 0.999}, kSeries[] = {30, 300};  // of each judge
  static constexpr double kSharpness = 0.25, kMixturesDiscount = 0.998, kMixtureSeries = 100, kLevelDiscount = 0.999;
  static constexpr double kPatience = 60, kMostHandicap = 60, kMeanHandicap = 8, kFading = 0.97;
  static constexpr double kReach = 2.5, kReachRows = 300;
  static constexpr double kLeast = 1e-300;

  void have_room() {
    losses.assign(kMixtures * members_, 0.0);
    shares.assign((kMixtures * members_ + 7) / 8 * 8, 0.0);
    mixture_losses.assign(kMixtures, 0.0);
    parts.assign(kMixtures, 0.0);
    levels.assign(2, 0.0);
    handicaps.assign(members_, 0.0);
    in_force.assign(members_, 0.0);
  }
  void weigh() {
    const int64_t n = members_;
    for (int64_t r = 0; r < kMixtures; r++) {
      const double *own = losses.data() + r * n;
      double least = __builtin_inf();
      for (int64_t v = 0; v < n; v++) least = std::min(least, own[v] + handicaps[v]);
      for (int64_t v = 0; v < n; v++) shares[r * n + v] = kSharpness * (least - own[v] - handicaps[v]);
    }
    for (std::size_t at = 0; at < shares.size(); at += Lanes::kCount)
      exponential(Lanes::load(shares.data() + at)).store(shares.data() + at);
    mixing_shares(mixture_losses.data(), kMixtures, kSharpness, parts.data());
    in_force.fill(0);
    for (int64_t r = 0; r < kMixtures; r++) {
      double *own = shares.data() + r * n;
      const double share = 1 / std::accumulate(own, own + n, 0.0);
      for (int64_t v = 0; v < n; v++) {
        own[v] *= share;
        in_force[v] += parts[r] * own[v];
      }
    }
  }

  int64_t members_, mean;
  Buffer losses, mixture_losses, levels, handicaps;  // mixture x member; a mixture, a loss, a member each
  double judged = 0;                                 // weight of the rows
  Buffer shares, parts, in_force;                    // weights in each mixture, and of each; empty: not late
};

// Members weighted by ErrorMixing until a target comes late, and by LateMixing from then on.
class TargetMixing {
 public:
  TargetMixing(int64_t members, int64_t mean) : prompt(members, {0.98, 0.995, 0.999}, 0.25), late(members, mean) {}

  int64_t members() const { return prompt.members(); }
  int64_t opinion_count() const { return members() + LateMixing::kMixtures; }
  const Buffer &weights() const { return late.active() ? late.weights() : prompt.weights(); }
  double mix(const double *answers) const {
    return std::inner_product(weights().begin(), weights().end(), answers, 0.0);
  }
  // Behind the members' answers come those of the mixtures, and all get the origin; the mixture in force.
  double complete(double *answers, double origin) const {
    const double given = mix(answers);
    if (late.active()) late.mixtures(answers, answers + members());
    else std::fill_n(answers + members(), LateMixing::kMixtures, given);
    for (int64_t i = 0; i < opinion_count(); i++) answers[i] += origin;
    return origin + given;
  }
  void begin() {
    prompt.begin();
    late.begin();
  }
  // The members' answers now, and what they and the mixtures had answered when the row was predicted, or null.
  void judge(const double *now, const double *before, double y, double weight, double limit, double delay) {
    if (!late.active()) return prompt.judge(now, y, weight, limit);
    Scratch room(opinion_count());
    if (!before) {
      std::copy_n(now, members(), room.data());
      complete(room.data(), 0);
      before = room.data();
    }
    late.judge(before, y, weight, limit, delay);
  }
  double reach() const { return late.reach(); }
  void come_late(double delay) {
    if (!late.active()) late.begin(delay);
  }
  void visit(State &state) {
    prompt.visit(state);
    state.part("late_", late);
  }

 private:
  ErrorMixing prompt;
  LateMixing late;
};

}  // namespace thalweg::THALWEG_LEVEL
