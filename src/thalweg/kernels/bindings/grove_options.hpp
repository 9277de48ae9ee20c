// The groves of a forest, and how many rows it holds, as Python gives them.
#pragma once

#include <stdexcept>

#include "forest/grove.hpp"

namespace thalweg::THALWEG_LEVEL {

inline std::vector<GroveOptions> read_groves(const std::vector<std::vector<double>> &groves, int64_t rows) {
  std::vector<GroveOptions> options;
  for (const std::vector<double> &o : groves) {
    if (o.size() != 13) throw std::invalid_argument("a grove needs thirteen numbers");
    options.push_back({int64_t(o[0]), o[1], int64_t(o[2]), o[3], o[4], o[5], o[6], int64_t(o[7]), o[8], int64_t(o[9]),
                       int64_t(o[10]), int64_t(o[11]), o[12]});
    const GroveOptions &own = options.back();
    if (own.trees < 1 || own.leaf_rows < 1 || own.leaf_rows > TreeLimits::kMostHeld || own.shortest < 1 ||
        own.longest < own.shortest || own.max_leaves > TreeLimits::kMostLeaves)
      throw std::invalid_argument("out of range");
  }
  if (options.empty() || rows < 64 || rows > 1 << 20 || (rows & (rows - 1)))
    throw std::invalid_argument("out of range");
  return options;
}

}  // namespace thalweg::THALWEG_LEVEL
