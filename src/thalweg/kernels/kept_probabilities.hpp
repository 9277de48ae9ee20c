// Probabilities of a prediction as they are kept until its label comes: of the kMost likeliest classes the class as index + 1,
// 0 for none, and the log-odds in two bytes; then how many rows had been learned. The other classes share the rest.
#pragma once

#include <cstring>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

// The log-odds of a probability that is neither too small nor too large.
constexpr double kLeastProbability = 1e-6;
inline double log_odds(double p) {
  const double inside = std::clamp(p, kLeastProbability, 1 - kLeastProbability);
  return std::log(inside / (1 - inside));
}

// Behind what is kept of a prediction stands how many rows had been learned, and a class is a byte: its index + 1, 0 for none.
class Kept {
 public:
  static constexpr int64_t kCountBytes = 4, kOther = 255;  // kOther: a class that has no byte

  static uint8_t code_of(int64_t c) { return uint8_t(std::min(c + 1, kOther)); }
  // Clears all and writes the count; false for a model that has learned none, of which nothing more is kept.
  static bool begin(uint8_t *kept, int64_t size, int64_t learned) {
    std::fill_n(kept, size, uint8_t(0));
    const uint32_t count = uint32_t(learned);
    std::memcpy(kept + size - kCountBytes, &count, kCountBytes);
    return learned > 0;
  }
  // Whether rows were learned since.
  static bool is_late(const uint8_t *kept, int64_t size, int64_t learned) {
    uint32_t count;
    std::memcpy(&count, kept + size - kCountBytes, kCountBytes);
    return count != uint32_t(learned);
  }
};

class KeptProbabilities : Kept {
 public:
  // Several sets of probabilities may be kept of the same classes.
  explicit KeptProbabilities(int64_t sets) : sets(sets) {}
  int64_t size() const { return kMost * (1 + 2 * sets) + kCountBytes; }
  static void mark_classes(bool *out) { std::fill_n(out, kMost, true); }

  // After so many rows; a model that has learned none says nothing. The classes are the likeliest by the first argument.
  void write(const double *likely, const double *p, int64_t classes, int64_t learned, uint8_t *out) const {
    if (!begin(out, size(), learned)) return;
    for (int64_t i = 0; i < kMost && i < classes; i++) {
      int64_t best = -1;
      for (int64_t c = 0; c < classes; c++)
        if ((best < 0 || likely[c] > likely[best]) && !std::memchr(out, code_of(c), std::size_t(i))) best = c;
      if (best < 0) return;
      out[i] = code_of(best);
      for (int64_t s = 0; s < sets; s++) {
        const double share = (log_odds(p[s * classes + best]) / kFarthest + 1) / 2;
        const uint16_t level = uint16_t(std::lround(share * kLevels));
        std::memcpy(out + kMost + 2 * (s * kMost + i), &level, sizeof level);
      }
    }
  }

  // Not where there was no prediction.
  bool is_late(const uint8_t *kept, int64_t learned) const { return kept[0] && Kept::is_late(kept, size(), learned); }
  static int64_t likeliest(const uint8_t *kept) { return kept[0] == kOther ? -1 : int64_t(kept[0]) - 1; }
  void read(const uint8_t *kept, int64_t classes, double *out) const {
    const bool all = kept[kMost - 1] == 0;
    for (int64_t s = 0; s < sets; s++) {
      double *p = out + s * classes, rest = 1;
      int64_t listed = 0;
      std::fill_n(p, classes, -1.0);
      for (int64_t i = 0; i < kMost && kept[i]; i++) {
        if (kept[i] == kOther || int64_t(kept[i]) > classes) continue;
        uint16_t level;
        std::memcpy(&level, kept + kMost + 2 * (s * kMost + i), sizeof level);
        const double own = level ? 1 / (1 + std::exp(kFarthest * (1 - 2.0 * level / kLevels))) : 0;
        p[kept[i] - 1] = own;
        rest -= own;
        listed++;
      }
      const double share = all || listed == classes ? 0 : std::max(0.0, rest) / double(classes - listed);
      for (int64_t c = 0; c < classes; c++)
        if (p[c] < 0) p[c] = share;
    }
  }

 private:
  static constexpr int64_t kMost = 6, kLevels = 65535;
  static constexpr double kFarthest = 13.815509557963774;  // log-odds of 1 - kLeastProbability

  int64_t sets;
};

}  // namespace thalweg::THALWEG_LEVEL
