// What may be learned: values within bounds, and labels that are places of classes.
#pragma once

#include <cmath>

#include "linear_algebra/simd.hpp"

namespace thalweg::THALWEG_LEVEL {

// Beyond this, squares times squares would overflow: a larger value is refused like infinity.
constexpr double kLargestValue = 1e50;

inline int64_t first_bad(const double *values, int64_t count) {
  // Blocks without a branch inside, so that the common case runs at the speed of memory.
  constexpr int64_t block = 256;
  for (int64_t from = 0; from < count; from += block) {
    const int64_t to = std::min(from + block, count);
    int64_t bad = 0;
    for (int64_t i = from; i < to; i++) bad |= !(std::fabs(values[i]) <= kLargestValue);
    if (bad)
      for (int64_t i = from; i < to; i++)
        if (!(std::fabs(values[i]) <= kLargestValue)) return i;
  }
  return -1;
}

// Whether there is none of these, mostly at a glance: by the sum of all squares.
THALWEG_NOINLINE inline bool are_values(const double *values, int64_t count) {
  using V = VectorOf<kLanes>::type;
  constexpr int kApart = 4;  // that do not wait for one another
  V squares[kApart] = {};
  int64_t i = 0;
  for (; i + kApart * kLanes <= count; i += kApart * kLanes)
    for (int k = 0; k < kApart; k++) {
      const V here = load<V>(values + i + k * kLanes);
      squares[k] += here * here;
    }
  const bool small = sum((squares[0] + squares[1]) + (squares[2] + squares[3])) <= kLargestValue * kLargestValue;
  return first_bad(small ? values + i : values, small ? count - i : count) < 0;
}

// Mostly at a glance, too: no label has a bit that none of them may have.
THALWEG_NOINLINE inline bool are_places(const int64_t *y, int64_t count, int64_t classes) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < count; i++) bits |= uint64_t(y[i]);
  if (bits < uint64_t(classes)) return true;
  bool unknown = false;  // no way out of the loop, so that it runs at the speed of memory
  for (int64_t i = 0; i < count; i++) unknown |= y[i] < 0 || y[i] >= classes;
  return !unknown;
}

}  // namespace thalweg::THALWEG_LEVEL
