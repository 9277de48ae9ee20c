// The last rows, held once for all trees of a forest: the numbers in single precision, a code of six bits for each, and the
// target: the number of a class, or a number.
//
// Codes are ranks. While a feature has shown at most 64 values, a code is the rank of the value among them; afterwards it is the
// rank among 63 quantiles of the last 512 rows, sought again at 64, 128, … 2,048 rows and then every 2,048 rows, each
// feature at a time of its own. All rows held get their new codes then.
//
// O(p) a row; five bytes a number.
#pragma once

#include <limits>

#include "linear_algebra/buffer.hpp"
#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

// A row as a leaf holds it: 24 bits of its number in the stream, and how often it counts there.
class HeldRow {
 public:
  HeldRow() = default;
  HeldRow(int64_t number, int64_t times) : packed(uint32_t(number & kNumbers) | uint32_t(times) << 24) {}
  explicit HeldRow(uint32_t packed) : packed(packed) {}

  int64_t times() const { return packed >> 24; }
  // Its number modulo a power of two.
  int64_t number(int64_t mask) const { return packed & uint32_t(mask); }
  int64_t age(int64_t now) const { return (now - int64_t(packed)) & kNumbers; }
  uint32_t bits() const { return packed; }

 private:
  static constexpr int64_t kNumbers = (1 << 24) - 1;
  uint32_t packed = 0;
};

class FeatureCodes {
 public:
  static constexpr int64_t kMost = 64;

  FeatureCodes() { std::fill(bounds, bounds + kMost, kNone); }
  int64_t count() const { return exact ? used : used + 1; }
  bool is_exact() const { return exact; }
  bool is_full() const { return exact && used == kMost; }
  bool has(float x, int64_t code) const { return bounds[code] == x; }

  // How many of the bounds are below x, in six steps without a branch.
  THALWEG_INLINE int64_t code(float x) const {
    int64_t at = 0;
    for (int64_t half = kMost / 2; half; half /= 2) at += half * int64_t(bounds[at + half - 1] < x);
    return at;
  }
  // Of so many values that are apart by a stride; several at a time, which the compiler makes one step in lanes.
  void encode(const float *x, int64_t count, int64_t stride, uint8_t *to) const {
    constexpr int64_t kTogether = 32;
    float values[kTogether] = {};
    for (int64_t i = 0; i < count; i += kTogether) {
      const int64_t some = std::min(kTogether, count - i);
      int32_t at[kTogether] = {};
      for (int64_t k = 0; k < some; k++) values[k] = x[(i + k) * stride];
      for (int32_t half = kMost / 2; half; half /= 2)
        for (int64_t k = 0; k < kTogether; k++) at[k] += half * int32_t(bounds[at[k] + half - 1] < values[k]);
      for (int64_t k = 0; k < some; k++) to[i + k] = uint8_t(at[k]);
    }
  }
  // A number between two codes that are neighbours among those that occur.
  float between(int64_t low, int64_t high) const { return 0.5f * (bounds[low] + bounds[exact ? high : high - 1]); }
  // A value that was never there takes its place, which those above it give up.
  void insert(float x, int64_t code) {
    std::copy_backward(bounds + code, bounds + used, bounds + used + 1);
    bounds[code] = x;
    used++;
  }
  // Bounds at the quantiles of some values, which are sorted here.
  void fit(std::vector<float> &values) {
    const int64_t n = int64_t(values.size());
    std::sort(values.begin(), values.end());
    exact = false;
    used = 0;
    std::fill(bounds, bounds + kMost, kNone);
    for (int64_t i = 1; i < kMost; i++) {
      const int64_t k = i * n / kMost;
      if (k == 0) continue;
      const float low = values[k - 1], high = values[k], bound = high > low ? 0.5f * (low + high) : low;
      if (bound < values[n - 1] && (used == 0 || bound > bounds[used - 1])) bounds[used++] = bound;
    }
  }

  void write(std::vector<int64_t> &counts, BufferOf<float> &all) const {
    counts.push_back(exact ? used : -1 - used);
    all.insert(all.end(), bounds, bounds + used);
  }
  // From `at` on; whether they are bounds at all.
  bool read(int64_t count, const BufferOf<float> &all, std::size_t &at) {
    exact = count >= 0;
    used = exact ? count : -1 - count;
    if (used < 0 || used > kMost - !exact || at + std::size_t(used) > all.size()) return false;
    std::fill(bounds, bounds + kMost, kNone);
    std::copy_n(all.begin() + at, used, bounds);
    at += used;
    for (int64_t i = 0; i < used; i++)
      if (!std::isfinite(bounds[i]) || (i && bounds[i] <= bounds[i - 1])) return false;
    return true;
  }

 private:
  static constexpr float kNone = std::numeric_limits<float>::infinity();
  bool exact = true;
  int64_t used = 0;
  float bounds[kMost];
};

class RowWindow {
 public:
  // `rows` is a power of two.
  RowWindow(int64_t features, int64_t rows)
      : p(features), mask(rows - 1), codes_of(features), values(rows * features), codes_((rows + kPad) * features),
        targets(rows), weights(rows) {}

  int64_t features() const { return p; }
  int64_t capacity() const { return mask + 1; }
  int64_t seen() const { return seen_; }  // rows, from the first one on
  int64_t held() const { return std::min(seen_, capacity()); }
  bool holds(HeldRow row) const { return row.age(seen_) <= held() && row.age(seen_) > 0; }
  int64_t place(HeldRow row) const { return row.number(mask); }
  double target(int64_t place) const { return targets[place]; }
  double weight(int64_t place) const { return weights[place]; }
  // Of a feature, by place: the codes that a cut is sought among lie together.
  const uint8_t *column(int64_t j) const { return codes_.data() + j * (capacity() + kPad); }
  const FeatureCodes &codes_of_feature(int64_t j) const { return codes_of[j]; }

  // As the window takes numbers.
  static THALWEG_INLINE void round(const double *x, int64_t p, float *to) {
    constexpr double kMost = 3e38;
    for (int64_t j = 0; j < p; j++) to[j] = float(std::max(-kMost, std::min(kMost, x[j])));
  }
  // In place of the oldest row where the window is full.
  void add(const float *x, double target, double weight) {
    const int64_t at = seen_ & mask, rows = ++seen_;
    const bool doubled = rows >= kFirst && rows <= kLast && (rows & (rows - 1)) == 0;
    std::copy_n(x, p, values.data() + at * p);
    targets[at] = target;
    weights[at] = weight;
    for (int64_t j = 0; j < p; j++) {
      FeatureCodes &codes = codes_of[j];
      const int64_t code = codes.code(x[j]);
      if (codes.is_exact() && !codes.has(x[j], code)) settle(j, x[j], code);
      else if (!codes.is_exact() && (doubled || (rows > kLast && (rows + kApart * j) % kLast == 0))) refit(j);
      else column(j)[at] = uint8_t(code);
    }
  }
  void forget() {
    seen_ = 0;
    codes_of.assign(p, FeatureCodes());
  }

  template <class Sound> void visit(State &state, Sound sound) {
    int64_t seen = seen_;
    state.integer("rows", seen, not_negative);
    const int64_t rows = std::min(seen, capacity());
    std::vector<int64_t> counts;
    BufferOf<float> bounds;
    for (const FeatureCodes &codes : codes_of) codes.write(counts, bounds);
    state.integers("code_counts", counts, p);
    int64_t all = 0;
    for (int64_t count : counts) {
      if (count < -FeatureCodes::kMost || count > FeatureCodes::kMost) throw BadState("code_counts");
      all += count >= 0 ? count : -1 - count;
    }
    bounds.resize(all);
    state.matrix("code_bounds", bounds, 1, all, all);
    state.matrix("row_targets", targets, 1, rows, rows);
    // Behind them may lie those of another model, where a fleet reads one after the other.
    if (!std::all_of(targets.begin(), targets.begin() + rows, sound)) throw BadState("row_targets");
    state.matrix("row_weights", weights, 1, rows, rows, amount);
    state.matrix("row_values", values, rows, p, p, finite);
    if (!state.reads()) return;
    seen_ = seen;
    std::size_t at = 0;
    for (int64_t j = 0; j < p; j++) {
      if (!codes_of[j].read(counts[j], bounds, at)) throw BadState("code_bounds");
      encode(j);
    }
  }

 private:
  static constexpr int64_t kPad = 64;  // lest a row's codes fall into one set of the cache
  static constexpr int64_t kFirst = 64, kLast = 2048, kSample = 512, kApart = 37;

  // A value of the newest row that an exact code has not met.
  void settle(int64_t j, float x, int64_t code) {
    FeatureCodes &codes = codes_of[j];
    if (codes.is_full()) return refit(j);
    codes.insert(x, code);
    uint8_t *own = column(j);
    for (int64_t i = 0; i < held(); i++) own[i] += own[i] >= code;
    own[(seen_ - 1) & mask] = uint8_t(code);
  }
  void refit(int64_t j) {
    std::vector<float> sample(std::min(held(), kSample));
    for (std::size_t i = 0; i < sample.size(); i++) sample[i] = values[((seen_ - 1 - int64_t(i)) & mask) * p + j];
    codes_of[j].fit(sample);
    encode(j);
  }
  uint8_t *column(int64_t j) { return codes_.data() + j * (capacity() + kPad); }
  void encode(int64_t j) { codes_of[j].encode(values.data() + j, held(), p, column(j)); }

  int64_t p, mask, seen_ = 0;
  std::vector<FeatureCodes> codes_of;
  BufferOf<float> values;
  std::vector<uint8_t> codes_;
  Buffer targets, weights;
};

}  // namespace thalweg::THALWEG_LEVEL
