// What may be learned: values within bounds, and labels that are places of classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "buffer.hpp"

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

inline bool are_places(const int64_t *y, int64_t count, int64_t classes) {
  bool unknown = false;  // no way out of the loop, so that it runs at the speed of memory
  for (int64_t i = 0; i < count; i++) unknown |= y[i] < 0 || y[i] >= classes;
  return !unknown;
}

}  // namespace thalweg::THALWEG_LEVEL
