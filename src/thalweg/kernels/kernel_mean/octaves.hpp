// The sigmas of a kernel mean machine: one that is given, or a bank of octaves around the scale of the rows, of which each
// counts as far as it has been right of late.
//
// The scale is the running mean of log2 |x - z|^2, x a row and z the nearest centroid of its class; rows that repeat one say
// nothing of it. Octaves are whole powers of two; when the scale has moved by more than three quarters of one, so does the
// bank, and what was learned of a sigma that stays goes with it.
#pragma once

#include "learner.hpp"
#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

class Octaves {
 public:
  static constexpr int64_t kMost = 16;  // room for all of them, in whole vectors
  explicit Octaves(double given) : given(given), losses(given > 0 ? 1 : kOctaves, 0.0) {}

  int64_t size() const { return int64_t(losses.size()); }
  double sigma(int64_t s) const { return given > 0 ? given : as_number(as_exponent(1023 + lowest + s)); }
  void shares(double *out) const { mixing_shares(losses.data(), size(), kSharpness, out); }
  // What a row's answer at this sigma costs: nothing where it was right.
  void charge(int64_t s, double loss) { losses[s] = kDiscount * losses[s] + loss; }

  // The squared distance of a row to the nearest centroid of its class, 0 for a repeat; true where the bank has moved.
  bool observe(double square) {
    if (given > 0 || !(square > 0 && square < __builtin_inf())) return false;
    observed = std::min(observed + 1, kScaleRows);
    scale += (std::log2(square) - scale) / observed;
    const double off = -scale - double(lowest + kBelow);
    if (observed > 1 && std::fabs(off) <= kSlack) return false;
    const int64_t shift = std::llround(off);
    Buffer old(losses);
    for (int64_t s = 0; s < size(); s++) losses[s] = old[std::clamp<int64_t>(s + shift, 0, size() - 1)];
    lowest += shift;
    return shift != 0;
  }

  void clear() {
    std::fill(losses.begin(), losses.end(), 0.0);
    lowest = -kBelow, scale = 0, observed = 0;
  }

  void visit(State &state) {
    state.real("given_sigma", given, amount);
    losses.resize(given > 0 ? 1 : kOctaves);
    state.integer("lowest_octave", lowest, within<int64_t>(-1000, 1000));
    state.real("scale", scale, within(-2000.0, 2000.0));
    state.real("scale_rows", observed, within(0.0, kScaleRows));
    state.matrix("sigma_losses", losses, 1, size(), size(), not_negative);
  }

 private:
  static constexpr int64_t kOctaves = 10, kBelow = 6;           // of them below the scale
  static constexpr double kDiscount = 0.995, kSharpness = 0.5;  // as in a committee
  static constexpr double kSlack = 0.75, kScaleRows = 500;

  double given;
  int64_t lowest = -kBelow;
  double scale = 0, observed = 0;
  Buffer losses;
};

}  // namespace thalweg::THALWEG_LEVEL
