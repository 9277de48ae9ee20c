// A rate as `thalweg.rates` names it, made into the rate inside the loop.
#pragma once

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "rate.hpp"

namespace thalweg::THALWEG_LEVEL {

using RateCode = std::tuple<int64_t, double, int64_t>;
constexpr double kLeastRate = 1e-6, kNoLimit = 1e300;

inline Rate make_rate(const RateCode &code, Rate::Form form, bool below_one) {
  const auto [kind, start, window] = code;
  const bool bounded = kind == Rate::kErrorDriven || (below_one && kind != Rate::kConstant);
  return Rate(Rate::Kind(kind), start, window, form, bounded ? kLeastRate : 0, bounded ? 1 - kLeastRate : kNoLimit);
}

}  // namespace thalweg::THALWEG_LEVEL
