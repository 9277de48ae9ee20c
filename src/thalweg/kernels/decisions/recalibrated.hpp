// Probabilities corrected by how often each came true.
//
// For each class c, a curve over the log-odds z of its probability p: at every node the mean excess of the outcome over p,
//     e(z) = sum u (1[y = c] - p) / (sum u + kPrior),      u = (1 - 1 / memory)^age,
// shared between the two nodes next to z, and p + e(z) after it, made to sum to one over the classes. There is a coarse grid
// of nodes and a fine one; both and the probabilities as they are get mixed with weights exp(-L), L <- kFade L - ln p_y.
// O(classes) a row, whatever the number of nodes.
#pragma once

#include "decisions/wrapper.hpp"

namespace thalweg::THALWEG_LEVEL {

class Recalibrated final : public Wrapper {
 public:
  Recalibrated(const Learner &inner, double memory, int64_t delay)
      : Wrapper(inner, delay), fade(1 - 1 / memory), losses(kOpinions) {}
  Learner *copy() const override { return new Recalibrated(*this); }

 protected:
  void correct(double *p) const override {
    Scratch room(kOpinions * classes());
    opine(p, room.data());
    mix(room.data(), p);
  }
  int64_t decide(const double *p, int64_t) const override {
    Scratch room(classes());
    std::copy_n(p, classes(), room.data());
    correct(room.data());
    return highest_seen(room.data());
  }

  void judge(const double *p, int64_t k, double weight, double) override {
    if (seen(k)) {  // a new class had no probability in any opinion
      Scratch room(kOpinions * classes());
      opine(p, room.data());
      for (int64_t i = 0; i < kOpinions; i++)
        losses[i] = kFade * losses[i] - weight * std::log(std::max(room.data()[i * classes() + k], kLeastProbability));
    }
    unit /= fade;
    for (int64_t c = 0; c < classes(); c++) {
      if (!seen(c)) continue;
      const double z = log_odds(p[c]), excess = double(c == k) - p[c];
      for (int64_t g = 0; g < kGrids; g++) {
        const auto [node, share] = place(z, g);
        double *count = counts.data() + c * kNodes + node, *sum = excesses.data() + c * kNodes + node;
        for (int64_t i = 0; i < 2; i++) {
          const double mass = weight * unit * (i ? share : 1 - share);
          count[i] += mass;
          sum[i] += mass * excess;
        }
      }
    }
    if (unit < kLargestUnit) return;
    for (Buffer *values : {&counts, &excesses})
      for (double &value : *values) value /= unit;
    unit = 1;
  }

  void make_room(int64_t at) override {
    insert_row(counts, at, kNodes);
    insert_row(excesses, at, kNodes);
  }
  void forget_own() override {
    unit = 1;
    for (Buffer *values : {&losses, &counts, &excesses}) values->fill(0);
  }
  void visit_own(State &state) override {
    state.real("unit", unit, within(1.0, kLargestUnit));
    state.matrix("losses", losses, 1, kOpinions, kOpinions, amount);
    state.matrix("counts", counts, classes(), kNodes, kNodes, amount);
    state.matrix("excesses", excesses, classes(), kNodes, kNodes);
    for (std::size_t i = 0; i < counts.size(); i++)
      if (!(std::abs(excesses[i]) <= counts[i] * (1 + 1e-6))) throw BadState("excesses");
  }

 private:
  static constexpr int64_t kGrids = 2, kOpinions = 1 + kGrids, kSizes[kGrids] = {16, 48}, kNodes = 16 + 48;
  static constexpr double kFarthest = 6, kPrior = 5, kFade = 0.999, kLargestUnit = 1e100;

  struct Place {
    int64_t node;  // the lower of two
    double share;  // of the upper one
  };
  static Place place(double z, int64_t grid) {
    const int64_t last = kSizes[grid] - 1;
    const double at = (std::clamp(z, -kFarthest, kFarthest) + kFarthest) / (2 * kFarthest) * double(last);
    const int64_t lower = std::min(int64_t(at), last - 1);
    return {(grid ? kSizes[0] : 0) + lower, at - double(lower)};
  }

  // Opinions: the probabilities as they are, then as each grid corrects them.
  void opine(const double *p, double *opinions) const {
    std::copy_n(p, classes(), opinions);
    for (int64_t g = 0; g < kGrids; g++) {
      double *out = opinions + (1 + g) * classes(), whole = 0;
      for (int64_t c = 0; c < classes(); c++) {
        out[c] = 0;
        if (!seen(c)) continue;
        const auto [node, share] = place(log_odds(p[c]), g);
        const double *count = counts.data() + c * kNodes + node, *sum = excesses.data() + c * kNodes + node;
        const double mass = (1 - share) * count[0] + share * count[1];
        const double excess = (1 - share) * sum[0] + share * sum[1];
        out[c] = std::clamp(p[c] + excess / (mass + kPrior * unit), kLeastProbability, 1.0);
        whole += out[c];
      }
      for (int64_t c = 0; c < classes() && whole > 0; c++) out[c] /= whole;
    }
  }
  void mix(const double *opinions, double *out) const {
    double share[kOpinions];
    mixing_shares(losses.data(), kOpinions, 1, share);
    std::fill(out, out + classes(), 0.0);
    for (int64_t i = 0; i < kOpinions; i++)
      for (int64_t c = 0; c < classes(); c++) out[c] += share[i] * opinions[i * classes() + c];
  }

  double fade, unit = 1;  // unit: what the next row counts, in the units of counts and excesses
  Buffer losses, counts, excesses;
};

}  // namespace thalweg::THALWEG_LEVEL
