// Many rank-one changes of P = L D L' in one pass over L.
//
// A change is made row by row of U = L' from the last to the first, with its g and lambda (factor.hpp):
//     U_j <- U_j + lambda_j u,      u <- u + g_j (U_j of before),      j = p - 1 … 0,      and u = P v at the end.
// It treats every column of U alike and by itself, and so it does with any further column U v': that becomes what it is
// of the changed U, and u becomes u'v'. So the directions of a block of changes are projected together, as a matrix
// product, and go on as columns beside U: each change takes its f = U v from there. U itself waits for the end of the
// block and takes all of its changes at once, a few columns at a time, in registers. With B changes to a block
// 1.5 p^2 + B p multiply-adds a change, nearly all of them at the speed of a matrix product, as against 1.5 p^2 at
// that of memory. D is changed at once, by the same products of positive numbers as ever.
#pragma once

#include <array>

#include "factor.hpp"

namespace thalweg::THALWEG_LEVEL {

class FactorBlock {
  using W = Width<0>;
  using V = typename W::V;
  static constexpr int L = W::L;

 public:
  // As many columns beside U as a vector has lanes.
  struct Columns {
    Columns(int64_t stride, int64_t most) : values(stride * L, 0.0), products(most * L, 0.0) {}
    double *at(int64_t row) { return values.data() + row * L; }

    Buffer values;       // stride x lanes
    Buffer products;     // change x lanes: u'v'
    int64_t taken = 0;   // changes that they have been through
  };

  FactorBlock(Factor<0> &factor, int64_t most)
      : factor(factor), width(factor.width), most(most), steps(width.blocks() * most * 2 * L) {}

  int64_t made() const { return made_; }
  int64_t left() const { return most - made_; }

  // to = U v for groups of vectors, one in each lane.
  void project(Columns *from, Columns *to, int64_t groups) {
    constexpr int64_t kDeep = 16;  // blocks of U beside one another that stay in the cache with what they multiply
    for (int64_t i = 0; i < groups; i++) std::fill(to[i].values.begin(), to[i].values.end(), 0.0);
    for (int64_t c = 0; c < width.blocks(); c += kDeep)
      for (int64_t b = 0; b < std::min(c + kDeep, width.blocks()); b++) {
        const int64_t first = std::max(b, c), count = std::min(c + kDeep, width.blocks()) - first;
        int64_t i = 0;
        for (; i + 3 <= groups; i += 3) multiply<3>(b, first, count, from + i, to + i);
        for (; i < groups; i++) multiply<1>(b, first, count, from + i, to + i);
      }
  }
  // U v for the unit vectors of a block of features.
  void take_units(int64_t block, Columns &to) {
    std::fill(to.values.begin(), to.values.end(), 0.0);
    for (int64_t b = 0; b <= block; b++) std::copy_n(factor.block(b, block), L * L, to.at(b * L));
  }

  // Makes the change along the vector with U v = f, in D and in the books. Returns 1 / (a + weight v'Pv).
  double change(const double *f, const RankOne &change) {
    typename Factor<0>::Behind behind(change.a);
    for (int64_t b = width.blocks() - 1; b >= 0; b--) {
      double *step = steps_of(b) + made_ * 2 * L;
      factor.settle(b, f + b * L, change, behind, step, step + L);
    }
    made_++;
    return behind.inverse[0];
  }

  // Brings columns up to the last change.
  void bring(Columns &columns) {
    double *const u[1] = {columns.products.data() + columns.taken * L};
    for (int64_t b = width.blocks() - 1; b >= 0; b--) {
      double *const at[1] = {columns.at(b * L)};
      turn<1>(at, steps_of(b) + columns.taken * 2 * L, made_ - columns.taken, u);
    }
    columns.taken = made_;
  }
  void bring(Columns &one, Columns &other) {
    if (one.taken != other.taken) return bring(one), bring(other);
    double *const u[2] = {one.products.data() + one.taken * L, other.products.data() + one.taken * L};
    for (int64_t b = width.blocks() - 1; b >= 0; b--) {
      double *const at[2] = {one.at(b * L), other.at(b * L)};
      turn<2>(at, steps_of(b) + one.taken * 2 * L, made_ - one.taken, u);
    }
    one.taken = other.taken = made_;
  }

  // U takes the changes. `see(block, u)` is shown u of every change (change x lanes) for each block of features.
  template <class See> void close(See see) {
    Buffer room(2 * made_ * L);
    double *const u[2] = {room.data(), room.data() + made_ * L};
    for (int64_t c = 0; c < width.blocks(); c += 2) {
      const bool pair = c + 1 < width.blocks();
      std::fill(room.begin(), room.end(), 0.0);
      if (pair) {
        double *const corner[1] = {factor.block(c + 1, c + 1)};
        turn<1>(corner, steps_of(c + 1), made_, u + 1);
      }
      for (int64_t b = c; b >= 0; b--) {
        double *const at[2] = {factor.block(b, c), factor.block(b, c) + L * L};
        if (pair) turn<2>(at, steps_of(b), made_, u);
        else turn<1>(at, steps_of(b), made_, u);
      }
      see(c, u[0]);
      if (pair) see(c + 1, u[1]);
    }
    made_ = 0;
  }

 private:
  double *steps_of(int64_t b) { return steps.data() + b * most * 2 * L; }

  // Some changes of L rows of C vectors, which stay in registers; u goes on from where the rows below left it.
  template <int C>
  static THALWEG_INLINE void turn(double *const *rows, const double *step, int64_t count, double *const *u) {
    V x[L][C];
    for (int r = 0; r < L; r++)
      for (int i = 0; i < C; i++) x[r][i] = load<V>(rows[i] + r * L);
    for (int64_t t = 0; t < count; t++, step += 2 * L) {
      V ut[C];
      for (int i = 0; i < C; i++) ut[i] = load<V>(u[i] + t * L);
#pragma GCC unroll 8
      for (int r = L - 1; r >= 0; r--)
        for (int i = 0; i < C; i++) {
          const V before = x[r][i];
          x[r][i] += step[L + r] * ut[i];
          ut[i] += step[r] * before;
        }
      for (int i = 0; i < C; i++) store<V>(u[i] + t * L, ut[i]);
    }
    for (int r = 0; r < L; r++)
      for (int i = 0; i < C; i++) store<V>(rows[i] + r * L, x[r][i]);
  }

  // Some blocks of a row of blocks of U times C groups of columns.
  template <int C> void multiply(int64_t b, int64_t first, int64_t count, Columns *from, Columns *to) {
    const double *block = factor.block(b, first), *v[C];
    double *out[C];
    V s[L][C];
    for (int i = 0; i < C; i++) {
      v[i] = from[i].at(first * L);
      out[i] = to[i].at(b * L);
      for (int r = 0; r < L; r++) s[r][i] = load<V>(out[i] + r * L);
    }
    for (int64_t c = 0; c < count; c++, block += L * L)
#pragma GCC unroll 1
      for (int j = 0; j < L; j++) {
        V x[C];
        for (int i = 0; i < C; i++) x[i] = load<V>(v[i] + (c * L + j) * L);
#pragma GCC unroll 8
        for (int r = 0; r < L; r++)
          for (int i = 0; i < C; i++) s[r][i] += block[r * L + j] * x[i];
      }
    for (int i = 0; i < C; i++)
      for (int r = 0; r < L; r++) store<V>(out[i] + r * L, s[r][i]);
  }

  Factor<0> &factor;
  W width;
  int64_t most, made_ = 0;
  Buffer steps;  // block of features x change: g, then lambda
};

}  // namespace thalweg::THALWEG_LEVEL
