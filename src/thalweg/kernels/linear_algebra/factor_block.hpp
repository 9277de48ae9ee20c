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
//
// A step keeps the U_j of before for u, which costs a copy where a multiply-add overwrites what it adds to. With
// u = s w, s_j = s_{j+1} (1 - g_j lambda_j) = alpha_j / a, it needs the U_j of after instead, and twice as many blocks
// fit into the registers:
//     U_j <- U_j + (lambda_j s_{j+1}) w,      w <- w + (g_j / s_j) U_j,      and w = P'v of the changed P' at the end.
// It keeps as many digits: the error is one of rounding for any s (measured up to 1e18). So it is on arm64.
#pragma once

#include "linear_algebra/factor.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class T> class FactorBlock {
  using F = Factor<0, T>;
  using V = typename F::V;
  static constexpr int R = F::R, L = F::L, kParts = F::kParts;

 public:
  // As many columns beside U as a vector has lanes.
  struct Columns {
    Columns(int64_t stride, int64_t most) : values(stride * L), products(most * L) {}
    T *at(int64_t row) { return values.data() + row * L; }
    double product(int64_t change, int64_t column) const { return products[change * L + column % L]; }
    void restart() {
      products.fill(0);
      taken = 0;
    }

    BufferOf<T> values;    // stride x lanes
    BufferOf<T> products;  // change x lanes: u'v'
    int64_t taken = 0;     // changes that they have been through
  };

  FactorBlock(F &factor, int64_t most)
      : factor(factor), rows(factor.width.blocks()), columns(rows / kParts), most(most), steps(rows * most * 2 * R),
        scales(most) {}

  int64_t made() const { return made_; }
  int64_t left() const { return most - made_; }

  // to = U v for groups of vectors, one in each lane.
  void project(Columns *from, Columns *to, int64_t groups) {
    constexpr int64_t kDeep = 32;  // blocks of U beside one another that stay in the cache with what they multiply
    for (int64_t c = 0; c < columns; c += kDeep)
      for (int64_t b = 0; b < std::min((c + kDeep) * kParts, rows); b++) {
        const int64_t first = std::max(b / kParts, c), count = std::min(c + kDeep, columns) - first;
        int64_t i = 0;
        for (; i + kMultiplied <= groups; i += kMultiplied) multiply<kMultiplied>(b, first, count, from + i, to + i);
        for (; i < groups; i++) multiply<1>(b, first, count, from + i, to + i);
      }
  }
  // Columns of vectors that lie side by side.
  void take(const double *vectors, Columns &to) {
    for (int64_t j = 0; j < factor.width.features(); j++)
      for (int r = 0; r < L; r++) to.at(j)[r] = factor.narrowed(j, vectors[r * factor.width.stride() + j]);
  }
  // U v for the unit vectors of a block of features.
  void take_units(int64_t block, Columns &to) {
    to.values.fill(0);
    for (int64_t row = 0; row < (block + 1) * L; row++)
      for (int r = 0; r < L; r++)
        to.at(row)[r] = factor.block(row / L, block)[row % L * L + r] * factor.narrowed(block * L + r, 1);
  }
  double widened(int64_t j, T u) const { return factor.widened(j, u); }

  // What a change along v comes to: 1 / (a + weight v'Pv), and v'Pv.
  struct Made {
    double inverse, square;
  };

  // Makes the change along the vector v with U v = f, in D and in the books. A group of columns goes through it on the
  // way and leaves one of them, the next to change along, in f. Where `Moving`, another goes too, with as much of f
  // added before as `gains` says for each of its columns, and one of them is taken off f.
  template <bool Moving>
  Made change(double *f, const RankOne &change, Columns &here, int64_t next, Columns *moved = nullptr,
              const V &gains = V{}, int64_t less = 0) {
    typename F::Behind behind(change.a);
    typename F::Doubles square{};
    V u{}, v{};
    for (int64_t b = rows - 1; b >= 0; b--) {
      double *fb = f + b * R, g[R], lambda[R];
      T *step = steps_of(b) + made_ * 2 * R, *xs = here.at(b * R), *ms = Moving ? moved->at(b * R) : nullptr;
      factor.settle(b, fb, change, behind, g, lambda);
      square += load<typename F::Doubles>(fb) * load<typename F::Doubles>(g);
      for (int r = 0; r < R; r++) {
        step[r] = T(g[r]);
        step[R + r] = T(lambda[r]);
      }
#pragma GCC unroll 8
      for (int r = R - 1; r >= 0; r--) {
        const V x = load<V>(xs + r * L);
        store<V>(xs + r * L, x + step[R + r] * u);
        u += step[r] * x;
        if constexpr (Moving) {
          const V m = load<V>(ms + r * L) + T(fb[r]) * gains;
          store<V>(ms + r * L, m + step[R + r] * v);
          v += step[r] * m;
        }
      }
      for (int r = 0; r < R; r++) fb[r] = xs[r * L + next] - (Moving ? ms[r * L + less] : 0);
    }
    store<V>(here.products.data() + made_ * L, u);
    if constexpr (Moving) store<V>(moved->products.data() + made_ * L, v);
    here.taken = ++made_;
    if constexpr (Moving) moved->taken = made_;
    return {behind.inverse[0], sum(square)};
  }

  // Brings columns up to the last change.
  void bring(Columns &columns) {
    if (columns.taken == made_) return;
    T *u = columns.products.data() + columns.taken * L;
    for (int64_t b = rows - 1; b >= 0; b--)
      turn<1, false>(columns.at(b * R), steps_of(b) + columns.taken * 2 * R, made_ - columns.taken, u, 0);
    columns.taken = made_;
  }

  // U takes the changes. `see(block, u)` is shown u of every change (change x lanes) for each block of features.
  template <class See> void close(See see) {
    constexpr int kAbreast = kScaled ? 24 : 12;  // blocks of columns that use a row's steps while they are in the cache
    if constexpr (kScaled) scale_steps();
    const int64_t step = made_ * L;
    BufferOf<T> u(kAbreast * step);
    for (int64_t first = 0; first < columns; first += kAbreast) {
      const int64_t end = std::min(first + kAbreast, columns);
      u.fill(0);
      for (int64_t b = end * kParts - 1; b >= 0; b--)
        for (int64_t c = std::max(first, b / kParts); c < end;) {
          T *const to = u.data() + (c - first) * step, *const at = factor.block(b / kParts, c) + b % kParts * R * L;
          if (c + kTurned <= end) {
            turn<kTurned, kScaled>(at, steps_of(b), made_, to, step);
            c += kTurned;
          } else {
            turn<1, kScaled>(at, steps_of(b), made_, to, step);
            c++;
          }
        }
      for (int64_t c = first; c < end; c++) {
        T *const of = u.data() + (c - first) * step;
        for (int64_t t = 0; kScaled && t < made_; t++) store<V>(of + t * L, T(scales[t]) * load<V>(of + t * L));
        see(c, of);
      }
    }
    made_ = 0;
  }

 private:
  static constexpr bool kScaled = kLanes == 2 && kFused;  // where a copy costs as much as a multiply-add
  // Blocks whose rows fit into the registers, and groups of columns whose sums do.
  static constexpr int kTurned = kScaled ? 8 : 3, kMultiplied = kScaled ? 4 : 3;

  T *steps_of(int64_t b) { return steps.data() + b * most * 2 * R; }

  // g_j / s_j and lambda_j s_{j+1} instead of g_j and lambda_j, and s_0 of every change.
  void scale_steps() {
    scales.fill(1);
    for (int64_t b = rows - 1; b >= 0; b--) {
      T *step = steps_of(b);
      for (int64_t t = 0; t < made_; t++, step += 2 * R)
        for (int r = R - 1; r >= 0; r--) {
          const double before = scales[t], g = step[r], lambda = step[R + r];
          scales[t] = before * (1 - g * lambda);
          step[r] = T(g / scales[t]);
          step[R + r] = T(lambda * before);
        }
    }
  }

  // Some changes of R rows of C blocks beside one another, which stay in registers; u, a block's after another's, goes
  // on from where the rows below left it.
  template <int C, bool Scaled>
  static THALWEG_INLINE void turn(T *blocks, const T *step, int64_t count, T *u, int64_t to_next) {
    V x[R][C];
    for (int r = 0; r < R; r++)
      for (int i = 0; i < C; i++) x[r][i] = load<V>(blocks + (i * L + r) * L);
    for (int64_t t = 0; t < count; t++, step += 2 * R) {
      V ut[C];
      for (int i = 0; i < C; i++) ut[i] = load<V>(u + i * to_next + t * L);
#pragma GCC unroll 8
      for (int r = R - 1; r >= 0; r--) {
        if constexpr (Scaled) {
#pragma GCC unroll 8
          for (int i = 0; i < C; i++) x[r][i] += step[R + r] * ut[i];
#pragma GCC unroll 8
          for (int i = 0; i < C; i++) ut[i] += step[r] * x[r][i];
        } else {
          for (int i = 0; i < C; i++) {
            const V ui = r < R - 1 ? ut[i] : load_again<V>(u + i * to_next + t * L, ut[i]);
            ut[i] += step[r] * x[r][i];
            x[r][i] += step[R + r] * ui;
          }
        }
      }
      for (int i = 0; i < C; i++) store<V>(u + i * to_next + t * L, ut[i]);
    }
    for (int r = 0; r < R; r++)
      for (int i = 0; i < C; i++) store<V>(blocks + (i * L + r) * L, x[r][i]);
  }

  // R rows of some blocks beside one another times C groups of columns; a row's first blocks begin the sums.
  template <int C> void multiply(int64_t b, int64_t first, int64_t count, Columns *from, Columns *to) {
    const T *block = factor.block(b / kParts, first) + b % kParts * R * L, *v[C];
    T *out[C];
    V s[R][C];
    for (int i = 0; i < C; i++) {
      v[i] = from[i].at(first * L);
      out[i] = to[i].at(b * R);
      for (int r = 0; r < R; r++) s[r][i] = first == b / kParts ? V{} : load<V>(out[i] + r * L);
    }
    for (int64_t c = 0; c < count; c++, block += L * L)
#pragma GCC unroll 1
      for (int j = 0; j < L; j++) {
        V x[C];
        for (int i = 0; i < C; i++) x[i] = load<V>(v[i] + (c * L + j) * L);
#pragma GCC unroll 8
        for (int r = 0; r < R; r++)
          for (int i = 0; i < C; i++) s[r][i] += block[r * L + j] * x[i];
      }
    for (int i = 0; i < C; i++)
      for (int r = 0; r < R; r++) store<V>(out[i] + r * L, s[r][i]);
  }

  F &factor;
  const int64_t rows, columns;  // R rows, L columns at a time
  int64_t most, made_ = 0;
  BufferOf<T> steps;  // R features x change: g, then lambda
  Buffer scales;      // s_0 of every change
};

}  // namespace thalweg::THALWEG_LEVEL
