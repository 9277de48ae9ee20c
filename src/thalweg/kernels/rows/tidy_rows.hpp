// Compressed rows with their entries sorted by index, those of one index added up, and without zeros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace thalweg::THALWEG_LEVEL {

struct TidyRows {
  std::vector<int64_t> starts{0};
  std::vector<int32_t> indices;
  std::vector<double> values;
};

// The order of a row's entries by index, and by place where several have one. Short rows by counting how many come before
// each, which mispredicts no branch; O(n log n) beyond.
inline void order_by_index(const int32_t *indices, int64_t count, std::vector<int32_t> &order) {
  constexpr int64_t kShort = 64;
  order.resize(count);
  if (count > kShort) {
    for (int64_t j = 0; j < count; j++) order[j] = int32_t(j);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return indices[a] < indices[b]; });
    return;
  }
  for (int64_t j = 0; j < count; j++) {
    const int32_t own = indices[j];
    int32_t before = 0;
    for (int64_t other = 0; other < j; other++) before += indices[other] <= own;
    for (int64_t other = j + 1; other < count; other++) before += indices[other] < own;
    order[before] = int32_t(j);
  }
}

// Entries of one index are added up in the order in which they came.
inline TidyRows tidy_rows(const int64_t *starts, int64_t rows, const int32_t *indices, const double *values) {
  TidyRows found;
  found.starts.reserve(rows + 1);
  found.indices.reserve(starts[rows]);
  found.values.reserve(starts[rows]);
  std::vector<int32_t> order;
  for (int64_t i = 0; i < rows; i++) {
    const int64_t from = starts[i], count = starts[i + 1] - from;
    order_by_index(indices + from, count, order);
    for (int64_t j = 0; j < count;) {
      const int32_t index = indices[from + order[j]];
      double sum = 0;
      for (; j < count && indices[from + order[j]] == index; j++) sum += values[from + order[j]];
      if (sum == 0) continue;
      found.indices.push_back(index);
      found.values.push_back(sum);
    }
    found.starts.push_back(int64_t(found.indices.size()));
  }
  return found;
}

}  // namespace thalweg::THALWEG_LEVEL
