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
constexpr double kLeastVariance = 1e-80;
constexpr double kSlack = 100;  // so that a forgetting learner is capped now and then, not at every row
// D stops growing where that share falls below the resolution: rounding, squared, is still far below it. No variance
// counts as less than the least, and no D goes beyond the most: in floats, where features are in units of about their
// spread, D f would be infinite.
template <class T> struct Bounds {
  static constexpr double kResolution = 1e-20, kLeast = kLeastVariance, kMost = __builtin_inf();
};
template <> struct Bounds<float> {
  static constexpr double kResolution = 1e-8, kLeast = 1e-6, kMost = 1e16;
};

// D_j <= 1 / (resolution * variance_j): a direction without variance grows no further. True where D changed.
template <class T> bool cap_entry(double variance, double &d) {
  const double most = 1 / (Bounds<T>::kResolution * std::max(variance, Bounds<T>::kLeast));
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

// D, and U = L' above its diagonal, whatever U is kept in. What no row waits for is done here, for all widths.
//
// Floats have few exponents: where U is kept in them, features are measured in units of about their own spread, and U
// and D are those of features so measured. Units are powers of two, so that no digit changes.
class Triangle {
 public:
  THALWEG_APART void identity() {
    set_rows(Buffer(p).data(), 0);
    for (int64_t i = 0; i < p * models; i++) D[i] = in_units() ? std::min(1 / measured(i, 1), most) : 1;
  }

  bool in_units() const { return !per_unit.empty(); }
  // A feature's unit by its variance: only while nothing is tied to it.
  void measure(int64_t j, double variance) {
    if (in_units()) per_unit[j] = variance > 0 ? std::exp2(-std::round(0.5 * std::log2(variance))) : 1;
  }

  // Keeps every entry of D within bounds, where `wanted`. True where D changed.
  THALWEG_APART bool cap(const Buffer &variance, bool wanted) {
    bool changed = false;
    for (int64_t j = 0; wanted && j < p; j++)
      changed |= in_units() ? cap_entry<float>(measured(j, variance[j]), D[j]) : cap_entry<double>(variance[j], D[j]);
    return changed;
  }
  // A feature that no other is tied to yet: its variance is this and no more.
  void release(int64_t j, double variance) { D[j] = 1 / variance; }
  // No feature's variance given the others falls below this share of the variance given here.
  void hold_above(const Buffer &variance, double share) {
    for (int64_t j = 0; j < p; j++) D[j] = std::min(D[j], 1 / (share * std::max(variance[j], kLeastVariance)));
  }

  // P = S^-1 for a covariance given as its strictly upper rows and its diagonal; false, and P as it was, where S is
  // singular. S becomes U.
  THALWEG_APART bool invert(double *S, int64_t stride, const double *diagonal) {
    if (!invert_covariance(p, stride, S, diagonal, D.data())) return false;
    set_rows(S, stride);
    for (int64_t j = 0; in_units() && j < p; j++) D[j] /= measured(j, 1);
    return true;
  }
  // w = P m by rows of U that have not been rounded yet.
  THALWEG_APART void apply_rows(const double *rows, int64_t stride, const double *m, double *w) const {
    std::fill_n(w, p, 0.0);
    for (int64_t j = 0; j < p; j++) {
      double f = m[j];
      for (int64_t i = j + 1; i < p; i++) f += rows[j * stride + i] * m[i];
      const double g = f * D[j] * measured(j, 1);
      w[j] += g;
      for (int64_t i = j + 1; i < p; i++) w[i] += g * rows[j * stride + i];
    }
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
    set_rows(rows.data(), p);
  }

  virtual void visit(State &state, const std::string &prefix = "") = 0;

  Buffer D;

 protected:
  Triangle(int64_t p, int64_t stride, int64_t models, double most)
      : D(stride * models), p(p), models(models), most(most) {
    std::fill_n(D.begin(), p * models, 1.0);
  }
  Triangle(const Triangle &) = default;
  Triangle(Triangle &&) = default;
  Triangle &operator=(const Triangle &) = default;
  virtual ~Triangle() = default;
  virtual void set_rows(const double *rows, int64_t stride) = 0;
  double measured(int64_t j, double variance) const {
    return in_units() ? variance * per_unit[j] * per_unit[j] : variance;
  }

  Buffer per_unit;    // 1 / unit of each feature; empty where the unit is 1
  int64_t p, models;  // models: side by side, each with a number of its own in every entry
  double most;
};

// The rows of U lie one after the other (`lanes` is 0), or cut into blocks of lanes x lanes with a diagonal of ones
// (factor.hpp).
template <class T> class TriangleOf : public Triangle {
 public:
  THALWEG_APART void visit(State &state, const std::string &prefix) override {
    if constexpr (std::is_same_v<T, double>)
      if (state.trusted()) {
        each_run([&](T *run, int64_t, int64_t, int64_t count) { state.words(run, count); });
        return state.words(D.data(), p);
      }
    const std::string name = prefix + "factor_rows", diagonal = prefix + "factor_diagonal";
    BufferOf<T> rows(p * p);
    each_run([&](T *run, int64_t j, int64_t i, int64_t count) { std::copy_n(run, count, &rows[j * p + i]); });
    state.above_diagonal(name.c_str(), rows, p, p);
    state.matrix(diagonal.c_str(), D, 1, p, int64_t(D.size()));
    for (int64_t j = 0; j < p; j++) {
      if (!(D[j] > 0) || !std::isfinite(D[j])) throw BadState(diagonal);
      for (int64_t i = 0; i <= j; i++)
        if (rows[j * p + i] != 0) throw BadState(name);
    }
    if (this->in_units()) {
      const std::string units = prefix + "factor_units";
      state.matrix(units.c_str(), per_unit, 1, p, int64_t(per_unit.size()));
      for (double unit : per_unit)
        if (!(unit > 0) || !std::isfinite(unit)) throw BadState(units);
    }
    each_run([&](T *run, int64_t j, int64_t i, int64_t count) { std::copy_n(&rows[j * p + i], count, run); });
  }

  BufferOf<T> U;

 protected:
  TriangleOf(int64_t p, int64_t models)
      : Triangle(p, p, models, Bounds<T>::kMost), U(p * (p - 1) / 2 * models), lanes(0), blocks(0) {}
  struct InBlocks {
    int64_t lanes, count;
  };
  TriangleOf(int64_t p, InBlocks cut)
      : Triangle(p, cut.count * cut.lanes, 1, Bounds<T>::kMost),
        U(cut.count * (cut.count + 1) / 2 * cut.lanes * cut.lanes), lanes(cut.lanes), blocks(cut.count) {
    if (std::is_same_v<T, float>) per_unit.assign(blocks * lanes, 1);
    T *block = U.data();  // on the diagonal
    for (int64_t from = 0; from < p; block += (blocks - from / lanes) * lanes * lanes, from += lanes)
      for (int64_t r = 0; r < std::min(lanes, p - from); r++) block[r * lanes + r] = 1;
  }

  THALWEG_APART void set_rows(const double *rows, int64_t stride) override {
    each_run([&](T *run, int64_t j, int64_t i, int64_t count) {
      for (int64_t k = 0; k < count; k++) {
        const double row = rows[j * stride + i + k];
        run[k] = in_units() ? T(row * per_unit[j] / per_unit[i + k]) : T(row);
      }
    });
  }

 private:
  // Entries U[j, i], U[j, i + 1], … above the diagonal that lie side by side, and how many: row after row.
  template <class Act> void each_run(Act act) {
    T *at = U.data();
    if (lanes == 0) {
      for (int64_t j = 0; j + 1 < p; at += p - ++j) act(at, j, j + 1, p - j - 1);
      return;
    }
    for (int64_t from = 0, left = blocks; from < p; from += lanes, left--) {
      for (int64_t j = from; j < std::min(from + lanes, p); j++) {
        T *row = at + (j - from) * lanes;
        for (int64_t c = from; c < p; c += lanes, row += lanes * lanes) {
          const int64_t i = std::max(c, j + 1), end = std::min(c + lanes, p);
          if (i < end) act(row + (i - c), j, i, end - i);
        }
      }
      at += left * lanes * lanes;
    }
  }

  int64_t lanes, blocks;
};

}  // namespace thalweg::THALWEG_LEVEL
