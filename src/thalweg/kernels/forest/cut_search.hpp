// How a cut of some rows is sought: over a random part of the features, and all their codes. What a cut gains is said by
// class_cuts.hpp and number_cuts.hpp.
//
// A cut that gains little among many rows gives way to one in the middle of a feature by chance. Of more than 4,096 rows, some
// at equal distances are looked at. O(n + codes) for each feature tried.
#pragma once

#include <numeric>

#include "forest/chance.hpp"
#include "forest/row_window.hpp"

namespace thalweg::THALWEG_LEVEL {

struct Cut {
  int64_t feature, code;  // codes up to this one go left
  float threshold;
  int64_t work;  // numbers that were looked at
};

class CutSearch {
 public:
  CutSearch(int64_t features, double share)
      : p(features), tried(std::clamp<int64_t>(int64_t(std::ceil(share * double(features))), 1, kMostTried)),
        order(features) {}

 protected:
  static constexpr int kCodes = FeatureCodes::kMost;

  // Those rows that are looked at; the sum of the times that they count.
  template <class Act> int64_t gather(const RowWindow &window, const HeldRow *rows, int64_t count, Cut &cut, Act act) {
    const int64_t step = (count + kMostRows - 1) / kMostRows;
    int64_t all = 0;
    n = (count + step - 1) / step;
    cut.work = n;
    cut.feature = -1;
    place.resize(n);
    times.resize(n);
    for (int64_t i = 0; i < n; i++) {
      const HeldRow row = rows[i * step];
      const int64_t at = window.place(row);
      place[i] = int32_t(at);
      times[i] = int32_t(row.times());
      all += times[i];
      act(i, at);
    }
    return all;
  }
  // Tries features until enough of them vary among the rows; whether a cut was taken. A gain below what is clear is owed to chance:
  // many rows are halved instead, since a pattern may show in the halves alone.
  template <class Gain, class Try>
  bool try_features(const RowWindow &window, Chance &chance, Cut &cut, const Gain &best, Gain clear, Try attempt) {
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = 0, left = tried; i < p && left > 0; i++) {
      std::swap(order[i], order[i + chance.below(p - i)]);
      const int64_t j = order[i];
      if (window.codes_of_feature(j).count() < 2) continue;
      cut.work += n;
      left -= attempt(window.column(j), j);
    }
    if (best < clear && n >= kMany) halve(window, chance.below(p), cut);
    if (cut.feature < 0) return false;
    const int64_t next = __builtin_ctzll(beyond & (beyond - 1));
    cut.threshold = window.codes_of_feature(cut.feature).between(cut.code, next);
    return true;
  }
  // The best cut so far: behind the first of these codes, which are those that occur from it on.
  template <class Gain> void take(Gain &best, Gain gain, int64_t feature, uint64_t rest, Cut &cut) {
    best = gain;
    cut.feature = feature;
    cut.code = __builtin_ctzll(rest);
    beyond = rest;
  }
  static bool varies(uint64_t occur) { return (occur & (occur - 1)) != 0; }

  int64_t n = 0;
  std::vector<int32_t> place, times;  // of each row looked at

 private:
  static constexpr int64_t kMostTried = 64, kMostRows = 4096, kMany = 256;

  // The cut in the middle of a feature, if it varies.
  void halve(const RowWindow &window, int64_t feature, Cut &cut) {
    const uint8_t *codes = window.column(feature);
    int64_t of_code[kCodes] = {}, below = 0;
    uint64_t occur = 0;
    for (int64_t i = 0; i < n; i++) {
      of_code[codes[place[i]]]++;
      occur |= uint64_t(1) << codes[place[i]];
    }
    cut.work += n;
    for (uint64_t rest = occur; varies(rest) && 2 * below < n; rest &= rest - 1) {
      cut.feature = feature;
      cut.code = __builtin_ctzll(rest);
      beyond = rest;
      below += of_code[cut.code];
    }
  }

  int64_t p, tried;
  uint64_t beyond = 0;
  std::vector<int32_t> order;
};

}  // namespace thalweg::THALWEG_LEVEL
