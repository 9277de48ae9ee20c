// The cut of some rows that tells most about their numbers: the largest gain in nats of a normal distribution of each side,
//     g = N / 2 ln(S / S_inside),
// where S is the sum of the squares around the mean and S_inside that around the means of both sides.
#pragma once

#include "forest/cut_search.hpp"

namespace thalweg::THALWEG_LEVEL {

class NumberCuts : public CutSearch {
 public:
  NumberCuts(int64_t features, double share, double least_gain) : CutSearch(features, share), least_gain(least_gain) {}

  // Whether a cut of these rows gains enough.
  bool find(const RowWindow &window, const HeldRow *rows, int64_t count, int64_t, Chance &chance, Cut &cut) {
    of_row.resize(count);
    double mean = 0, squares = 0;
    const int64_t all = gather(window, rows, count, cut, [&](int64_t i, int64_t at) {
      of_row[i] = {double(times[i]), window.target(at)};
      mean += of_row[i].times * of_row[i].sum;
    });
    mean /= double(all);
    for (int64_t i = 0; i < n; i++) {
      const double away = of_row[i].sum - mean;
      of_row[i].sum = of_row[i].times * away;
      squares += of_row[i].sum * away;
    }
    // No cut gains more than the squares; of a cut that gains enough they fall by this much.
    const auto fall = [&](double gain) { return squares * (1 - std::exp(-2 * gain / double(all))); };
    double best = fall(least_gain);
    if (!(best < squares)) return false;
    return try_features(
        window, chance, cut, best, fall(kClear * least_gain),
        [&](const uint8_t *codes, int64_t feature) { return attempt(codes, double(all), feature, best, cut); });
  }

 private:
  static constexpr double kClear = 2;         // times the least gain
  static constexpr double kEqual = 1 + 1e-9;  // of equal gains the first is taken, however sums are rounded

  struct Sums {
    double times, sum;  // of how far targets are from the mean of all
  };

  // False where all rows have the same code.
  bool attempt(const uint8_t *codes, double all, int64_t feature, double &best, Cut &cut) {
    Sums of_code[kCodes] = {};
    double rows[kCodes], sum[kCodes], gain[kCodes];
    uint64_t rests[kCodes], occur = 0;
    for (int64_t i = 0; i < n; i++) {
      const int code = codes[place[i]];
      of_code[code].times += of_row[i].times;
      of_code[code].sum += of_row[i].sum;
      occur |= uint64_t(1) << code;
    }
    if (!varies(occur)) return false;
    int cuts = 0;
    double below = 0, summed = 0;
    for (uint64_t rest = occur; varies(rest); rest &= rest - 1, cuts++) {
      const int code = __builtin_ctzll(rest);
      rows[cuts] = below += of_code[code].times;
      sum[cuts] = summed += of_code[code].sum;
      rests[cuts] = rest;
    }
    for (int i = 0; i < cuts; i++) gain[i] = sum[i] * sum[i] * all / (rows[i] * (all - rows[i]));  // sums to 0 in all
    for (int i = 0; i < cuts; i++)
      if (gain[i] > kEqual * best) take(best, gain[i], feature, rests[i], cut);
    return true;
  }

  double least_gain;
  std::vector<Sums> of_row;
};

}  // namespace thalweg::THALWEG_LEVEL
