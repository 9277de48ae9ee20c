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
THALWEG_APART inline bool invert_covariance(int64_t p, int64_t stride, double *S, const double *diagonal, double *D) {
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

// U = L' above its diagonal, and D. The rows of U lie one after the other (`lanes` is 0), or cut into blocks of lanes x
// lanes with a diagonal of ones (factor.hpp). Whatever a row's time does not hang on is done here, for all widths.
class Triangle {
 public:
  THALWEG_APART void identity() {
    U.fill(0);
    double *block = U.data();  // on the diagonal
    for (int64_t from = 0, left = int64_t(D.size()); lanes > 0 && from < p; from += lanes, left -= lanes) {
      for (int64_t r = 0; r < std::min(lanes, p - from); r++) block[r * lanes + r] = 1;
      block += left * lanes;
    }
    std::fill_n(D.begin(), p * models, 1.0);
  }

  // Keeps every entry of D within bounds, where `wanted`. True where D changed.
  THALWEG_APART bool cap(const Buffer &variance, bool wanted) {
    bool changed = false;
    for (int64_t j = 0; wanted && j < p; j++) changed |= cap_entry(variance[j], D[j]);
    return changed;
  }
  // A feature that no other is tied to yet: its variance is this and no more.
  void release(int64_t j, double variance) { D[j] = 1 / variance; }
  // No feature's variance given the others falls below this share of the variance given here.
  void hold_above(const Buffer &variance, double share) {
    for (int64_t j = 0; j < p; j++) D[j] = std::min(D[j], 1 / (share * std::max(variance[j], kLeastVariance)));
  }

  // P = S^-1 for a covariance given as its strictly upper rows and its diagonal; false, and P as it was, where S is
  // singular. S is used up.
  THALWEG_APART bool invert(double *S, int64_t stride, const double *diagonal) {
    if (!invert_covariance(p, stride, S, diagonal, D.data())) return false;
    take_rows(S, stride);
    return true;
  }

  // P as given by its rows; the identity where it is not positive definite.
  THALWEG_APART void adopt(const double *precision) {
    Buffer rows(p * p);
    for (int64_t j = 0; j < p; j++) {
      double d = precision[j * p + j];
      for (int64_t k = 0; k < j; k++) d -= rows[k * p + j] * rows[k * p + j] * D[k];
      if (!(d > 0)) return identity();
      D[j] = d;
      for (int64_t i = j + 1; i < p; i++) {
        double l = precision[i * p + j];
        for (int64_t k = 0; k < j; k++) l -= rows[k * p + i] * rows[k * p + j] * D[k];
        rows[j * p + i] = l / d;
      }
    }
    take_rows(rows.data(), p);
  }

  THALWEG_APART void visit(State &state, const std::string &prefix = "") {
    if (state.trusted()) {
      each_run([&](double *run, int64_t, int64_t, int64_t count) { state.words(run, count); });
      return state.words(D.data(), p);
    }
    const std::string name = prefix + "factor_rows", diagonal = prefix + "factor_diagonal";
    Buffer rows(p * p);
    each_run([&](double *run, int64_t j, int64_t i, int64_t count) { std::copy_n(run, count, &rows[j * p + i]); });
    state.above_diagonal(name.c_str(), rows, p, p);
    state.matrix(diagonal.c_str(), D, 1, p, int64_t(D.size()));
    for (int64_t j = 0; j < p; j++) {
      if (!(D[j] > 0) || !std::isfinite(D[j])) throw BadState(diagonal);
      for (int64_t i = 0; i <= j; i++)
        if (rows[j * p + i] != 0) throw BadState(name);
    }
    take_rows(rows.data(), p);
  }

 protected:
  Triangle(int64_t p, int64_t models) : p(p), lanes(0), models(models), U(p * (p - 1) / 2 * models), D(p * models) {
    identity();
  }
  struct InBlocks {
    int64_t lanes, count;
  };
  Triangle(int64_t p, InBlocks blocks)
      : p(p), lanes(blocks.lanes), models(1), U(blocks.count * (blocks.count + 1) / 2 * lanes * lanes),
        D(blocks.count * lanes) {
    identity();
  }

 private:
  int64_t p, lanes, models;  // models: side by side, each with a number of its own in every entry

 public:
  Buffer U, D;

 private:
  // Entries U[j, i], U[j, i + 1], … above the diagonal that lie side by side, and how many: row after row.
  template <class Act> void each_run(Act act) {
    double *at = U.data();
    if (lanes == 0) {
      for (int64_t j = 0; j + 1 < p; at += p - ++j) act(at, j, j + 1, p - j - 1);
      return;
    }
    for (int64_t from = 0, blocks = int64_t(D.size()) / lanes; from < p; from += lanes, blocks--) {
      for (int64_t j = from; j < std::min(from + lanes, p); j++) {
        double *row = at + (j - from) * lanes;
        for (int64_t c = from; c < p; c += lanes, row += lanes * lanes) {
          const int64_t i = std::max(c, j + 1), end = std::min(c + lanes, p);
          if (i < end) act(row + (i - c), j, i, end - i);
        }
      }
      at += blocks * lanes * lanes;
    }
  }
  void take_rows(const double *rows, int64_t stride) {
    each_run([&](double *run, int64_t j, int64_t i, int64_t count) { std::copy_n(rows + j * stride + i, count, run); });
  }
};

}  // namespace thalweg::THALWEG_LEVEL
