// The features of a row at unit scale and the products of any two of them, each also with itself: in these a boundary or a
// surface of the second order is linear.
#pragma once

#include <algorithm>
#include <cstdint>

namespace thalweg::THALWEG_LEVEL {

constexpr int64_t second_order_terms(int64_t features) { return features + features * (features + 1) / 2; }
// How many features have so many terms; -1 where none have.
constexpr int64_t features_of_terms(int64_t terms) {
  int64_t features = 1;
  while (second_order_terms(features) < terms) features++;
  return second_order_terms(features) == terms ? features : -1;
}

// Returns where the terms end. A square is relative to its mean, of features at unit scale.
inline double *add_products(const double *z, int64_t features, double *to) {
  constexpr double kFarthest = 3;  // a product of features far off would outweigh all others
  const auto near = [&](double value) { return std::clamp(value, -kFarthest, kFarthest); };
  double *next = std::copy_n(z, features, to);
  for (int64_t i = 0; i < features; i++)
    for (int64_t j = i; j < features; j++) *next++ = near(z[i]) * near(z[j]) - (i == j);
  return next;
}

}  // namespace thalweg::THALWEG_LEVEL
