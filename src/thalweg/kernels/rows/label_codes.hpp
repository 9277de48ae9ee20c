// Labels as places among the known ones: whole numbers by a table or a search, words by a search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bindings/arrays.hpp"

namespace thalweg::THALWEG_LEVEL {

// Where the values follow each other without a gap: a label's place is its distance from the first.
inline int64_t encode_by_distance(const int64_t *y, int64_t count, int64_t low, uint64_t values, int64_t *codes) {
  constexpr int64_t block = 256;
  for (int64_t from = 0; from < count; from += block) {
    const int64_t to = std::min(from + block, count);
    bool unknown = false;
    for (int64_t i = from; i < to; i++) {
      const uint64_t code = uint64_t(y[i]) - uint64_t(low);
      codes[i] = int64_t(code);
      unknown |= code >= values;
    }
    if (unknown)
      for (int64_t i = from; i < to; i++)
        if (uint64_t(codes[i]) >= values) return i;
  }
  return -1;
}

inline int64_t encode(Labels y, Labels values, OutLabels codes) {
  constexpr int64_t widest = 1 << 16;
  refuse_shapes(codes.size() != y.size() || values.size() == 0);
  const int64_t *first = values.data(), *last = first + values.size(), low = *first;
  if (uint64_t(*(last - 1)) - uint64_t(low) == values.size() - 1)
    return encode_by_distance(y.data(), int64_t(y.size()), low, values.size(), codes.data());
  const bool narrow = low < INT64_MAX - widest && *(last - 1) >= low && *(last - 1) < low + widest;
  std::vector<int64_t> table(narrow ? *(last - 1) - low + 1 : 0, -1);
  if (narrow)
    for (const int64_t *value = first; value < last; value++)
      if (const uint64_t at = uint64_t(*value) - uint64_t(low); at < table.size()) table[at] = value - first;
  for (std::size_t i = 0; i < y.size(); i++) {
    const int64_t label = y.data()[i];
    int64_t code = -1;
    if (narrow) {
      const uint64_t at = uint64_t(label) - uint64_t(low);
      if (at < table.size()) code = table[at];
    } else {
      const int64_t *found = std::lower_bound(first, last, label);
      if (found < last && *found == label) code = found - first;
    }
    if (code < 0) return int64_t(i);
    codes.data()[i] = code;
  }
  return -1;
}

// The labels that occur, sorted; empty where they lie too far apart for a table.
inline std::vector<int64_t> distinct(const int64_t *y, int64_t count) {
  constexpr uint64_t widest = 1 << 16;
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int64_t i = 0; i < count; i++) {
    low = std::min(low, y[i]);
    high = std::max(high, y[i]);
  }
  std::vector<int64_t> found;
  if (count == 0 || uint64_t(high) - uint64_t(low) >= widest) return found;
  std::vector<char> seen(uint64_t(high) - uint64_t(low) + 1);
  for (int64_t i = 0; i < count; i++) seen[uint64_t(y[i]) - uint64_t(low)] = 1;
  for (std::size_t i = 0; i < seen.size(); i++)
    if (seen[i]) found.push_back(low + int64_t(i));
  return found;
}

using Words = nb::ndarray<const uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Code points in order, as NumPy sorts: below, at or above zero. A shorter word is padded with zeros.
inline int compare_words(const uint32_t *a, std::size_t a_length, const uint32_t *b, std::size_t b_length) {
  const std::size_t both = std::min(a_length, b_length);
  for (std::size_t i = 0; i < both; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  for (std::size_t i = both; i < a_length; i++)
    if (a[i]) return 1;
  for (std::size_t i = both; i < b_length; i++)
    if (b[i]) return -1;
  return 0;
}

inline int64_t encode_words(Words y, Words values, OutLabels codes) {
  refuse_shapes(codes.size() != y.shape(0));
  const std::size_t width = y.shape(1), known_width = values.shape(1);
  for (std::size_t i = 0; i < y.shape(0); i++) {
    const uint32_t *word = y.data() + i * width;
    int64_t low = 0, high = int64_t(values.shape(0)), code = -1;
    while (low < high && code < 0) {
      const int64_t middle = (low + high) / 2;
      const int order = compare_words(word, width, values.data() + middle * known_width, known_width);
      if (order == 0) code = middle;
      (order < 0 ? high : low) = order < 0 ? middle : middle + 1;
    }
    if (code < 0) return int64_t(i);
    codes.data()[i] = code;
  }
  return -1;
}

}  // namespace thalweg::THALWEG_LEVEL
