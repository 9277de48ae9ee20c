// The cut of some rows that tells most about their classes: the largest gain in nats, summed over the rows,
//     g = N H(all) - N_left H(left) - N_right H(right).
// With up to four classes the counts of a code lie in one word; with more, side by side.
#pragma once

#include "forest/cut_search.hpp"

namespace thalweg::THALWEG_LEVEL {

class ClassCuts : public CutSearch {
 public:
  ClassCuts(int64_t features, double share, double least_gain)
      : CutSearch(features, share), least_gain(float(least_gain)) {}

  // Whether a cut of these rows gains enough.
  bool find(const RowWindow &window, const HeldRow *rows, int64_t count, int64_t classes, Chance &chance, Cut &cut) {
    total.assign(classes, 0);
    label.resize(count);
    const int64_t all = gather(window, rows, count, cut, [&](int64_t i, int64_t at) {
      label[i] = int32_t(window.target(at));
      total[label[i]] += times[i];
    });
    float by_class = 0;
    for (int64_t c = 0; c < classes; c++) by_class += n_log_n(total[c]);
    most = n_log_n(all) - by_class;  // no cut can gain more
    best = least_gain;
    if (most <= best) return false;
    const bool packs = classes <= kPacked && all < kMostPacked;
    if (packs) {
      packed.resize(n);
      for (int64_t i = 0; i < n; i++) packed[i] = uint64_t(times[i]) << (16 * label[i]);
    }
    return try_features(window, chance, cut, best, float(kClear) * least_gain, [&](const uint8_t *codes, int64_t j) {
      return packs ? try_packed(codes, all, int(classes), j, cut) : try_counted(codes, all, j, cut);
    });
  }

 private:
  static constexpr double kClear = 8;  // times the least gain
  static constexpr int64_t kPacked = 4, kMostPacked = 1 << 16, kTable = 1 << 15;

  static const float *n_log_n_of_small() {
    static const std::vector<float> table = [] {
      std::vector<float> values(kTable);
      for (int64_t i = 2; i < kTable; i++) values[i] = float(double(i) * std::log(double(i)));
      return values;
    }();
    return table.data();
  }
  THALWEG_INLINE float n_log_n(int64_t n) const {
    return n < kTable ? table[n] : float(double(n) * std::log(double(n)));
  }

  // False where all rows have the same code.
  bool try_packed(const uint8_t *codes, int64_t all, int classes, int64_t feature, Cut &cut) {
    uint64_t occur = 0;
    const auto add = [&](uint64_t *to, int64_t i) THALWEG_LAMBDA {
      const int code = codes[place[i]];
      to[code] += packed[i];
      occur |= uint64_t(1) << code;
    };
    for (int64_t i = 0; i + 1 < n; i += 2) add(of_code[0], i), add(of_code[1], i + 1);
    if (n % 2) add(of_code[0], n - 1);
    uint64_t up_to[kCodes], below = 0;
    int cuts = -1;
    for (uint64_t rest = occur; rest; rest &= rest - 1) {
      const int code = __builtin_ctzll(rest);
      up_to[++cuts] = below += of_code[0][code] + of_code[1][code];
      of_code[0][code] = of_code[1][code] = 0;
    }
    switch (classes) {
      case 1:
        return weigh<1>(up_to, cuts, occur, all, feature, cut);
      case 2:
        return weigh<2>(up_to, cuts, occur, all, feature, cut);
      case 3:
        return weigh<3>(up_to, cuts, occur, all, feature, cut);
      default:
        return weigh<4>(up_to, cuts, occur, all, feature, cut);
    }
  }
  // All cuts of a feature, whose gains are found in lanes.
  template <int C>
  bool weigh(const uint64_t *up_to, int cuts, uint64_t occur, int64_t all, int64_t feature, Cut &cut) {
    float gain[kCodes];
    int32_t of_all[C];
    for (int c = 0; c < C; c++) of_all[c] = int32_t(total[c]);
    const auto find_gains = [&](auto of) THALWEG_LAMBDA {
      for (int i = 0; i < cuts; i++) {
        float children = 0;
        int32_t left = 0;
        for (int c = 0; c < C; c++) {
          const int32_t own = int32_t(up_to[i] >> (16 * c) & 0xffff);
          left += own;
          children += of(own) + of(of_all[c] - own);
        }
        gain[i] = most - (of(left) + of(int32_t(all) - left) - children);
      }
    };
    if (all < kTable) find_gains([of = table](int32_t k) THALWEG_LAMBDA { return of[k]; });
    else find_gains([this](int32_t k) THALWEG_LAMBDA { return n_log_n(k); });
    int32_t better = 0;
    for (int i = 0; i < cuts; i++) better |= gain[i] > best;
    if (better) {
      uint64_t rest = occur;
      for (int i = 0; i < cuts; i++, rest &= rest - 1)
        if (gain[i] > best) take(best, gain[i], feature, rest, cut);
    }
    return cuts > 0;
  }
  bool try_counted(const uint8_t *codes, int64_t all, int64_t feature, Cut &cut) {
    const int64_t classes = int64_t(total.size());
    uint64_t occur = 0;
    counts.assign(kCodes * classes, 0);
    for (int64_t i = 0; i < n; i++) {
      counts[codes[place[i]] * classes + label[i]] += times[i];
      occur |= uint64_t(1) << codes[place[i]];
    }
    if (!varies(occur)) return false;
    lower.assign(classes, 0);
    for (uint64_t rest = occur; varies(rest); rest &= rest - 1) {
      const int32_t *own = counts.data() + __builtin_ctzll(rest) * classes;
      float children = 0;
      int64_t left = 0;
      for (int64_t c = 0; c < classes; c++) {
        left += lower[c] += own[c];
        children += n_log_n(lower[c]) + n_log_n(total[c] - lower[c]);
      }
      const float gain = most - (n_log_n(left) + n_log_n(all - left) - children);
      if (gain > best) take(best, gain, feature, rest, cut);
    }
    return true;
  }

  float least_gain, best = 0, most = 0;
  const float *table = n_log_n_of_small();
  std::vector<int64_t> total, lower;
  std::vector<int32_t> label, counts;
  std::vector<uint64_t> packed;
  uint64_t of_code[2][kCodes] = {};  // room that is zero; rows of one code do not wait for one another
};

}  // namespace thalweg::THALWEG_LEVEL
