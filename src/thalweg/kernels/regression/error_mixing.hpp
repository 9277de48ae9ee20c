// How the members of a mixture of regressors are weighted: by exp(-sharpness L / v), where L <- discount L + e^2 sums the
// squared errors of a member and v is the recent mean squared error of the mixture, so that the units of the target do not
// matter.
//
// Several discounts give as many sets of weights, from short memories to long ones. The weights in force are their mixture,
// each set weighted by the same rule for the errors of its own mixture. O(members discounts) a row.
#pragma once

#include <numeric>

#include "learner.hpp"
#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

// The square of an error, and beyond a limit its tangent (Huber 1964).
inline double huber_loss(double error, double limit) {
  const double size = std::fabs(error);
  return size <= limit ? size * size : limit * (2 * size - limit);
}

class ErrorMixing {
 public:
  ErrorMixing(int64_t members, std::vector<double> discounts, double sharpness)
      : members_(members), discounts(std::move(discounts)), sharpness(sharpness),
        shares((memories() * members + 7) / 8 * 8), in_force(members) {
    begin();
  }

  int64_t members() const { return members_; }
  const Buffer &weights() const { return in_force; }
  double mix(const double *opinions) const { return mixed(opinions, in_force.data()); }

  void begin() {
    losses.assign(memories() * members_, 0.0);
    levels.assign(memories(), 0.0);
    memory_losses.assign(memories(), 0.0);
    memory_level = judged = 0;
    weigh();
  }

  // The members' answers before the target y of a row; beyond `limit` an error counts by its size.
  void judge(const double *opinions, double y, double weight, double limit) {
    const double lost = huber_loss(mix(opinions) - y, limit);
    Scratch room(members_);
    double *own = room.data();
    for (int64_t v = 0; v < members_; v++) own[v] = weight * huber_loss(opinions[v] - y, limit);
    judged += weight;
    const auto follow = [&](double &level, double discount) {
      level += std::max(weight / judged, repeated(1 - discount, weight)) * (lost - level);
    };
    for (int64_t i = 0; i < memories(); i++) {
      const double mixture = mixed(opinions, shares.data() + i * members_);
      memory_losses[i] = kMemoriesDiscount * memory_losses[i] + weight * huber_loss(mixture - y, limit);
      double *losses_of = losses.data() + i * members_;
      for (int64_t v = 0; v < members_; v++) losses_of[v] = discounts[i] * losses_of[v] + own[v];
      follow(levels[i], discounts[i]);
    }
    follow(memory_level, kMemoriesDiscount);
    weigh();
  }

  void visit(State &state) {
    state.real("judged", judged, not_negative);
    state.real("memory_level", memory_level, not_negative);
    state.matrix("levels", levels, 1, memories(), memories(), not_negative);
    state.matrix("losses", losses, memories(), members_, members_, not_negative);
    state.matrix("memory_losses", memory_losses, 1, memories(), memories(), not_negative);
    weigh();
  }

 private:
  static constexpr double kMemoriesDiscount = 0.998;
  static constexpr double kLeast = 1e-300;  // of a mean squared error: members without any are weighted alike

  int64_t memories() const { return int64_t(discounts.size()); }
  double mixed(const double *opinions, const double *share) const {
    double sum = 0;
    for (int64_t v = 0; v < members_; v++) sum += share[v] * opinions[v];
    return sum;
  }

  // Each set of weights is kept, made to sum to one, beside the weights in force.
  void weigh() {
    const int64_t n = members_;
    for (int64_t i = 0; i < memories(); i++) {
      const double *own = losses.data() + i * n, least = *std::min_element(own, own + n);
      const double pace = sharpness / std::max(levels[i], kLeast);
      for (int64_t v = 0; v < n; v++) shares[i * n + v] = pace * (least - own[v]);
    }
    for (std::size_t at = 0; at < shares.size(); at += Lanes::kCount)
      exponential(Lanes::load(shares.data() + at)).store(shares.data() + at);
    Scratch of(memories());
    mixing_shares(memory_losses.data(), memories(), sharpness / std::max(memory_level, kLeast), of.data());
    in_force.fill(0);
    for (int64_t i = 0; i < memories(); i++) {
      double *own = shares.data() + i * n;
      const double share = 1 / std::accumulate(own, own + n, 0.0), part = of.data()[i];
      for (int64_t v = 0; v < n; v++) {
        own[v] *= share;
        in_force[v] += part * own[v];
      }
    }
  }

  int64_t members_;
  std::vector<double> discounts;
  double sharpness;
  Buffer losses, levels, memory_losses;  // discount x member; a discount each: of the mixture, of its own mixture
  double memory_level = 0, judged = 0;   // the mixture over the memory of `memory_losses`; weight of all rows
  Buffer shares, in_force;
};

}  // namespace thalweg::THALWEG_LEVEL
