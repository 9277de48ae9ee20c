// What every factored inverse of a covariance, P = L D L', is judged by and saved as, however its entries lie.
#pragma once

#include "linear_algebra/simd.hpp"
#include "state.hpp"

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
constexpr double kSlack = 100;         // so that a forgetting learner is capped now and then, not at every row
constexpr double kGreatShrink = 1e-4;  // a row that shrinks P more than this spoils w = P m: it is computed afresh
// The same after so many rows at the latest.
constexpr int64_t refresh_after(int64_t p) { return std::max<int64_t>(64, p); }
// Forgetting leaves the share `kept` of a ridge. The p features are topped up in turn: as many a row as keeps each above
// half of its due.
inline int64_t turns_to_hold(int64_t p, double kept) {
  return std::clamp<int64_t>(int64_t(std::ceil(double(p) * (1 - kept) / 0.69)), 1, p);
}
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

// D, and U = L' above its diagonal, whatever U is kept in: the code that is independent of the width.
//
// Floats have few exponents: where U is kept in them, features are measured in units of about their own spread, and U
// and D are those of features so measured. Units are powers of two, so that no digit changes.
class Triangle {
 public:
  void identity();

  bool in_units() const { return !per_unit.empty(); }
  // A feature's unit by its variance: only while nothing is tied to it.
  void measure(int64_t j, double variance);

  // Keeps every entry of D within bounds, where `wanted`. True where D changed.
  bool cap(const Buffer &variance, bool wanted);
  // A feature that no other is tied to yet: its variance is this and no more.
  void release(int64_t j, double variance) { D[j] = 1 / variance; }
  // No feature's variance given the others falls below this share of the variance given here.
  void hold_above(const Buffer &variance, double share);

  // P = S^-1 for a covariance given as its strictly upper rows and its diagonal; false, and P as it was, where S is
  // singular. S becomes U.
  bool invert(double *S, int64_t stride, const double *diagonal);
  // w = P m by rows of U that have not been rounded yet.
  void apply_rows(const double *rows, int64_t stride, const double *m, double *w) const;

  // P as given by its rows; the identity where it is not positive definite.
  void adopt(const double *precision);

  virtual void visit(State &state) = 0;

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
  void visit(State &state) override;

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

  void set_rows(const double *rows, int64_t stride) override;

 private:
  // Entries U[j, i], U[j, i + 1], … above the diagonal that lie side by side, and how many: row after row.
  template <class Act> void each_run(Act act);

  int64_t lanes, blocks;
};

extern template class TriangleOf<double>;  // triangle.cpp
extern template class TriangleOf<float>;

}  // namespace thalweg::THALWEG_LEVEL
