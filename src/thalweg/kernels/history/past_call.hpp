// One call of a feature over earlier rows, such as the mean of a column over seven days: what it keeps of a key, in words of
// eight bytes, and what it says of it.
//
// Windows keep buckets, each with the first and the last place of its rows on an axis (a clock, or the rows of the key), their
// number, mean and sum of squared deviations. There is a bucket for every row as long as there is room; then the two
// neighbours that span least become one. With K buckets over a window of length W no bucket spans more than 2 W / (K - 1): the
// spans of all pairs of neighbours add up to at most 2 W. The bucket that the edge of the window cuts counts by its share.
// Reading and adding cost O(K). Fading sums are those of
//     n <- n 2^(-age / H) + 1,      m <- m + (x - m) / n
// and distinct values are counted by adaptive sampling (M. Wegman; P. Flajolet, Computing 43, 1990): only values whose hash
// ends in `level` zeros are kept, so that each stands for 2^level values.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace thalweg::THALWEG_LEVEL {

using Word = int64_t;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

inline double as_real(Word word) {
  double value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}
inline Word as_word(double value) {
  Word word;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

enum class Past { count, sum, mean, std, least, most, last, lag, since_last, distinct };
enum class Span { ever, rows, clock, fading_rows, fading_clock };

struct CallOptions {
  Past what;
  Span span;
  int64_t input;    // the column of values; -1 where rows themselves are counted
  bool of_target;   // whether it is about targets, which come when they are known
  double length;    // of the window, or until a weight has halved; of a lag by the clock, how long ago
  int64_t steps;    // of a lag by rows
  int64_t buckets;  // of a window
};

// Where a key is: its rows or targets so far, and the clock.
struct Place {
  int64_t count, clock;
};

class PastCall {
 public:
  explicit PastCall(const CallOptions &options) : options(options) {}
  const CallOptions options;

  int64_t words() const {
    switch (options.what) {
      case Past::last:
        return 1;
      case Past::since_last:
        return 1;
      case Past::lag:
        return options.steps ? 1 + options.steps : 1 + kBucket * options.buckets;
      case Past::distinct:
        return 2 + 2 * kSampled;
      default:
        return is_windowed() ? 1 + kBucket * options.buckets : 4;
    }
  }
  void begin(Word *state) const {
    std::memset(state, 0, words() * sizeof(Word));
    if (options.what == Past::last) state[0] = as_word(kNothing);
    if (options.what == Past::lag && options.steps)
      for (int64_t i = 1; i <= options.steps; i++) state[i] = as_word(kNothing);
  }

  double read(const Word *state, const Place &at) const {
    switch (options.what) {
      case Past::last:
        return as_real(state[0]);
      case Past::since_last:
        return at.count ? double(at.clock) - double(state[0]) : kNothing;
      case Past::lag:
        return options.steps ? as_real(state[1 + newest_first(state[0])]) : value_before(state, at);
      case Past::distinct:
        return distinct(state, at);
      default:
        return is_windowed() ? over_window(state, at) : of_all(state, at);
    }
  }
  // A value of this key, which may be missing.
  void add(Word *state, double value, const Place &at) const {
    if (options.what == Past::since_last) state[0] = at.clock;
    if (options.what == Past::lag && options.steps) {
      state[0] = (state[0] + 1) % options.steps;
      state[1 + state[0]] = as_word(value);
      return;
    }
    if (value != value) return;
    switch (options.what) {
      case Past::since_last:
        break;
      case Past::last:
        state[0] = as_word(value);
        break;
      case Past::distinct:
        sample(state, value, at);
        break;
      case Past::lag:
        add_bucket(state, value, at.clock);
        break;
      default:
        is_windowed() ? add_bucket(state, value, axis(at)) : add_to_all(state, value, at);
    }
  }
  // Whether a state from elsewhere can be walked without leaving it.
  bool is_sound(const Word *state) const {
    if (options.what == Past::lag && options.steps) return 0 <= state[0] && state[0] < options.steps;
    if (options.what == Past::distinct) return 0 <= state[0] && state[0] <= kSampled && 0 <= state[1] && state[1] < 53;
    if (options.what == Past::last || options.what == Past::since_last || (!is_windowed() && options.what != Past::lag))
      return true;
    return 0 <= state[0] && state[0] <= options.buckets;
  }

 private:
  static constexpr int64_t kBucket = 5, kSampled = 64;
  struct Bucket {
    int64_t first, last;
    double count, mean, square;
  };

  bool is_windowed() const { return options.span == Span::rows || options.span == Span::clock; }
  bool by_rows() const { return options.span == Span::rows || options.span == Span::fading_rows; }
  int64_t axis(const Place &at) const { return by_rows() ? at.count : at.clock; }
  // Places at or before it are outside of the window. Rows are counted from the newest one.
  double edge(const Place &at) const { return double(axis(at)) - by_rows() - options.length; }
  static Bucket bucket(const Word *state, int64_t i) {
    Bucket found;
    std::memcpy(&found, state + 1 + kBucket * i, sizeof found);
    return found;
  }
  static void put(Word *state, int64_t i, const Bucket &bucket) {
    std::memcpy(state + 1 + kBucket * i, &bucket, sizeof bucket);
  }
  int64_t newest_first(Word newest) const { return (newest + 1) % options.steps; }

  // -------------------------------------------------------------- windows

  double over_window(const Word *state, const Place &at) const {
    const double from = edge(at);
    double count = 0, sum = 0;
    double extreme = options.what == Past::least ? __builtin_inf() : -__builtin_inf();
    for (int64_t i = 0; i < state[0]; i++) {
      const Bucket b = bucket(state, i);
      const double n = b.count * share(b, from);
      if (!(n > 0)) continue;
      count += n;
      sum += n * b.mean;
      extreme = options.what == Past::least ? std::fmin(extreme, b.mean) : std::fmax(extreme, b.mean);
    }
    switch (options.what) {
      case Past::count:
        return count;
      case Past::sum:
        return sum;
      case Past::mean:
        return count > 0 ? sum / count : kNothing;
      case Past::least:
      case Past::most:
        return count > 0 ? extreme : kNothing;
      default:
        break;
    }
    if (!(count > 0)) return kNothing;
    double square = 0;
    for (int64_t i = 0; i < state[0]; i++) {
      const Bucket b = bucket(state, i);
      const double part = share(b, from), apart = b.mean - sum / count;
      if (part > 0) square += part * (b.square + b.count * apart * apart);
    }
    return std::sqrt(square / count);
  }
  double share(const Bucket &b, double from) const {
    if (double(b.last) <= from) return 0;
    if (double(b.first) > from) return 1;
    return (double(b.last) - from) / (double(b.last) - double(b.first) + by_rows());
  }
  void add_bucket(Word *state, double value, int64_t place) const {
    drop_past(state, place);
    if (state[0] == options.buckets) merge_closest(state);
    put(state, state[0]++, {place, place, 1, value, 0});
  }
  // Buckets that nothing will be asked of: outside of the window, or older than the one that a lag gives.
  void drop_past(Word *state, int64_t place) const {
    const bool lag = options.what == Past::lag;
    const double from = double(place) - by_rows() - options.length;
    int64_t past = 0;
    while (past + lag < state[0] && double(bucket(state, past + lag).last) <= from) past++;
    if (!past) return;
    state[0] -= past;
    std::memmove(state + 1, state + 1 + kBucket * past, state[0] * kBucket * sizeof(Word));
  }
  void merge_closest(Word *state) const {
    int64_t best = 0;
    double least = __builtin_inf();
    for (int64_t i = 0; i + 1 < state[0]; i++) {
      const double span = double(state[1 + kBucket * (i + 1) + 1]) - double(state[1 + kBucket * i]);
      if (span < least) {
        least = span;
        best = i;
      }
    }
    put(state, best, merged(bucket(state, best), bucket(state, best + 1)));
    state[0]--;
    Word *behind = state + 1 + kBucket * (best + 1);
    std::memmove(behind, behind + kBucket, (state[0] - best - 1) * kBucket * sizeof(Word));
  }
  Bucket merged(const Bucket &a, const Bucket &b) const {
    Bucket both = {a.first, b.last, a.count + b.count, b.mean, 0};
    if (options.what == Past::least) both.mean = std::fmin(a.mean, b.mean);
    if (options.what == Past::most) both.mean = std::fmax(a.mean, b.mean);
    if (options.what == Past::least || options.what == Past::most || options.what == Past::lag) return both;
    const double apart = b.mean - a.mean;
    both.mean = a.mean + apart * b.count / both.count;
    both.square = a.square + b.square + apart * apart * a.count * b.count / both.count;
    return both;
  }
  double value_before(const Word *state, const Place &at) const {
    for (int64_t i = state[0] - 1; i >= 0; i--) {
      const Bucket b = bucket(state, i);
      if (double(b.last) <= double(at.clock) - options.length) return b.mean;
    }
    return kNothing;
  }

  // -------------------------------------------------------------- all rows, or fading ones: place, number, mean, squares

  double kept(const Word *state, int64_t place) const {
    if (options.span == Span::ever) return 1;
    return std::exp2(-(double(place) - double(state[0])) / options.length);
  }
  double of_all(const Word *state, const Place &at) const {
    const double count = as_real(state[1]), mean = as_real(state[2]);
    switch (options.what) {
      case Past::count:
        return count > 0 ? count * kept(state, axis(at) - by_rows()) : 0;
      case Past::sum:
        return count > 0 ? count * kept(state, axis(at) - by_rows()) * mean : 0;
      case Past::std:
        return count > 0 ? std::sqrt(as_real(state[3]) / count) : kNothing;
      default:
        return count > 0 ? mean : kNothing;
    }
  }
  void add_to_all(Word *state, double value, const Place &at) const {
    double count = as_real(state[1]), mean = as_real(state[2]), square = as_real(state[3]);
    if (options.what == Past::least || options.what == Past::most) {
      const bool is_least = options.what == Past::least;
      mean = count > 0 ? (is_least ? std::fmin(mean, value) : std::fmax(mean, value)) : value;
      count = 1;
    } else {
      const double factor = count > 0 ? kept(state, axis(at)) : 0, before = value - mean;
      count = count * factor + 1;
      mean += before / count;
      square = square * factor + before * (value - mean);
    }
    const Word found[] = {axis(at), as_word(count), as_word(mean), as_word(square)};
    std::memcpy(state, found, sizeof found);
  }

  // -------------------------------------------------------------- different values: how many are kept, level, (hash, place)

  static uint64_t hashed(double value) {  // the last steps of MurmurHash3
    uint64_t h = uint64_t(as_word(value + 0.0));
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return h ^ (h >> 33);
  }
  bool is_within(Word place, const Place &at) const { return !is_windowed() || double(place) > edge(at); }
  static bool is_sampled(uint64_t hash, Word level) { return (hash & ((uint64_t(1) << level) - 1)) == 0; }
  double distinct(const Word *state, const Place &at) const {
    int64_t count = 0;
    for (int64_t i = 0; i < state[0]; i++) count += is_within(state[3 + 2 * i], at);
    return std::ldexp(double(count), int(state[1]));
  }
  void sample(Word *state, double value, const Place &at) const {
    const uint64_t hash = hashed(value);
    Word *entries = state + 2;
    const auto keep_if = [&](auto wanted) {
      int64_t count = 0;
      for (int64_t i = 0; i < state[0]; i++)
        if (wanted(entries[2 * i], entries[2 * i + 1]))
          std::memmove(entries + 2 * count++, entries + 2 * i, 2 * sizeof(Word));
      state[0] = count;
    };
    const Place next = {at.count + 1, at.clock};
    keep_if([&](Word, Word place) { return is_within(place, next); });
    if (state[0] == 0) state[1] = 0;
    if (!is_sampled(hash, state[1])) return;
    for (int64_t i = 0; i < state[0]; i++)
      if (uint64_t(entries[2 * i]) == hash) {
        entries[2 * i + 1] = axis(at);
        return;
      }
    while (state[0] == kSampled && state[1] < 52) {
      state[1]++;
      keep_if([&](Word other, Word) { return is_sampled(uint64_t(other), state[1]); });
    }
    if (state[0] == kSampled || !is_sampled(hash, state[1])) return;
    entries[2 * state[0]] = Word(hash);
    entries[2 * state[0]++ + 1] = axis(at);
  }
};

}  // namespace thalweg::THALWEG_LEVEL
