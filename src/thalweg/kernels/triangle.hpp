// What every factored inverse of a covariance, P = L D L', is judged by and saved as, however its entries lie.
#pragma once

#include <algorithm>
#include <cmath>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

// P <- scale (P - P v v'P / (a / weight + v'Pv)); a weight of zero only scales.
template <class N, class S> struct RankOneOf {
  S a;
  N weight;
  S scale;
};
using RankOne = RankOneOf<double, double>;

// A feature whose variance given the others is below this share of its own makes a covariance singular.
constexpr double kSingular = 1e-11;
// D stops growing where that share falls below this: rounding, squared, is still far below it.
constexpr double kResolution = 1e-20;
constexpr double kSlack = 100;  // so that a forgetting learner is capped now and then, not at every row
constexpr double kLeastVariance = 1e-80;

// D_j <= 1 / (resolution * variance_j): a direction without variance grows no further. True where D changed.
inline bool cap_entry(double variance, double &d) {
  const double most = 1 / (kResolution * std::max(variance, kLeastVariance));
  if (!(d > most * kSlack)) return false;
  d = most;
  return true;
}

// D and, in place of S, the entries L[i, j] = U[j, i], i > j, of P = S^-1, for a covariance given as its strictly upper
// rows and its diagonal; false, and D as it was, where S is singular. S = C E C' with C unit upper triangular from the
// last coordinate backwards; L' = C^-1, D = E^-1.
inline bool invert_covariance(int64_t p, int64_t stride, double *S, const double *diagonal, double *D) {
  Scratch room(p);
  double *E = room.data();
  std::copy(diagonal, diagonal + p, E);
  for (int64_t i = p - 1; i >= 0; i--) {
    if (!(E[i] > kSingular * diagonal[i]) || !(E[i] > kLeastVariance)) return false;
    for (int64_t j = 0; j < i; j++) {
      const double c = S[j * stride + i] / E[i];
      E[j] -= c * S[j * stride + i];
      for (int64_t k = j + 1; k < i; k++) S[j * stride + k] -= c * S[k * stride + i];
    }
    for (int64_t j = 0; j < i; j++) S[j * stride + i] /= E[i];
  }
  for (int64_t j = p - 1; j >= 0; j--) {  // row j of C^-1, from the rows below it, in the place of C
    D[j] = 1 / E[j];
    for (int64_t k = p - 1; k > j; k--) {
      const double c = S[j * stride + k];
      S[j * stride + k] = -c;
      for (int64_t i = k + 1; i < p; i++) S[j * stride + i] -= c * S[k * stride + i];
    }
  }
  return true;
}

// The state of a factor whose U[j, i] is above(j, i).
template <class Above>
void visit_factor(State &state, const std::string &prefix, int64_t p, Buffer &D, Above above) {
  const auto each_above = [&](auto act) {
    for (int64_t j = 0; j < p; j++)
      for (int64_t i = j + 1; i < p; i++) act(above(j, i), j * p + i);
  };
  if (state.trusted()) {
    Scratch entries(p * (p - 1) / 2);
    double *at = entries.data();
    each_above([&](double &entry, int64_t) { *at++ = entry; });
    state.words(entries.data(), p * (p - 1) / 2);
    at = entries.data();
    each_above([&](double &entry, int64_t) { entry = *at++; });
    return state.words(D.data(), p);
  }
  const std::string name = prefix + "factor_rows", diagonal = prefix + "factor_diagonal";
  Buffer rows(p * p, 0.0);
  each_above([&](double &entry, int64_t at) { rows[at] = entry; });
  state.above_diagonal(name.c_str(), rows, p, p);
  state.matrix(diagonal.c_str(), D, 1, p, D.size());
  for (int64_t j = 0; j < p; j++) {
    if (!(D[j] > 0) || !std::isfinite(D[j])) throw BadState(diagonal);
    for (int64_t i = 0; i <= j; i++)
      if (rows[j * p + i] != 0) throw BadState(name);
  }
  each_above([&](double &entry, int64_t at) { entry = rows[at]; });
}

}  // namespace thalweg::THALWEG_LEVEL
