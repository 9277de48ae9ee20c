// A sum that forgets: O(1) a value, one multiply-add behind the other (their latency is the limit).
#pragma once

#include <stdexcept>

#include "arrays.hpp"

namespace thalweg::THALWEG_LEVEL {

inline void fade(Vector values, double keep, double total, OutVector out) {
  if (out.size() != values.size()) throw std::invalid_argument("shapes do not agree");
  for (std::size_t i = 0; i < values.size(); i++) out.data()[i] = total = keep * total + values.data()[i];
}

}  // namespace thalweg::THALWEG_LEVEL
