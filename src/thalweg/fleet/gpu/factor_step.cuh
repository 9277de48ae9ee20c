// A change of rank one of P = L D L', shared by the lanes of a key: P <- (P - P v v'P / (a / weight + v'Pv)) / a.
//
// The formulas are those of linear_algebra/factor.hpp. U = L' lies row by row above its diagonal. A lane has every
// Lanes-th entry of f = L'v and of D, and every Lanes-th column of U, which is independent of the others once f is known.
#pragma once

#include "both.cuh"

namespace thalweg::record {

constexpr double kLeastVariance = 1e-80;

template <int P> THALWEG_BOTH constexpr int above(int j, int i) {  // the place of U[j, i], i > j
  return j * P - j * (j + 1) / 2 + i - j - 1;
}

// alpha_j = a + weight * (d_i f_i^2 of all i > j) for the lane's own j; returns the one of all i.
template <int P, int Lanes>
THALWEG_BOTH double alphas(const double *squares, double a, double weight, int lane, double *own) {
  double alpha = a;
  THALWEG_UNROLL for (int j = P - 1; j >= 0; j--) {
    own[j / Lanes] = j % Lanes == lane ? alpha : own[j / Lanes];
    alpha += weight * squares[j];
  }
  return alpha;
}

// The lane's columns of U, by g_j = d_j f_j and lambda_j = weight f_j / alpha_j; u becomes its entries of P v.
template <int P, int Lanes>
THALWEG_BOTH void rotate(double *U, const double *g, const double *lambda, int lane, double *u) {
  THALWEG_UNROLL for (int j = P - 1; j >= 0; j--) {
    const double factor = lambda[j], part = g[j];
    THALWEG_UNROLL for (int t = 0; t < (P + Lanes - 1) / Lanes; t++) {
      const int i = t * Lanes + lane;
      if (t * Lanes + Lanes <= j || i < j || i >= P) continue;
      if (i == j) {
        u[t] = part;
      } else {
        const double entry = U[above<P>(j, i)];
        U[above<P>(j, i)] = entry - u[t] * factor;
        u[t] += part * entry;
      }
    }
  }
}

}  // namespace thalweg::record
