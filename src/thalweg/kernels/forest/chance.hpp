// Numbers by chance that depend on a seed and on how many were drawn before: chunks do not matter, and a saved model
// continues alike.
#pragma once

#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

class Chance {
 public:
  explicit Chance(uint64_t seed) : seed((seed + 1) * 0xd1b54a32d192ed03ull) {}

  uint64_t next() {  // SplitMix64
    uint64_t h = seed + uint64_t(++drawn) * 0x9e3779b97f4a7c15ull;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
  }
  int64_t below(int64_t count) { return int64_t(((next() >> 32) * uint64_t(count)) >> 32); }
  double fraction() { return double(next() >> 11) * 0x1p-53; }

  void forget() { drawn = 0; }
  void visit(State &state) { state.integer("drawn", drawn, not_negative); }

 private:
  uint64_t seed;
  int64_t drawn = 0;
};

// Online bagging (Oza & Russell 2001): a row counts Poisson(mean) times in a tree, or once for a mean of 0. A row that has a
// weight counts that many times as often, rounded by chance.
class Bagging {
 public:
  static constexpr int64_t kMost = 255;

  explicit Bagging(double mean) {
    double term = std::exp(-mean), all = term;
    int64_t times = 0;
    for (int64_t i = 0; i < kParts; i++) {
      while ((double(i) + 0.5) / double(kParts) > all && times < 3 * kDraws) {
        term *= mean / double(++times);
        all += term;
      }
      table[i] = mean > 0 ? uint8_t(times) : 1;
    }
  }

  // How often rows count, one draw after the other.
  class Draws {
   public:
    Draws(const Bagging &of, Chance &chance) : of(of), chance(chance) {}
    int64_t next(double weight) {
      if (left == 0) {
        bits = chance.next();
        left = kDraws;
      }
      left--;
      const int64_t times = of.table[bits % kParts];
      bits /= kParts;
      if (weight == 1) return times;
      const double wanted = std::min(double(times) * weight, double(kMost)), whole = std::floor(wanted);
      return int64_t(whole) + (chance.fraction() < wanted - whole);
    }

   private:
    const Bagging &of;
    Chance &chance;
    uint64_t bits = 0;
    int left = 0;
  };

 private:
  static constexpr int64_t kParts = 1024;
  static constexpr int kDraws = 6;  // out of 64 bits
  uint8_t table[kParts];
};

}  // namespace thalweg::THALWEG_LEVEL
