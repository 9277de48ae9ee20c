// Random tilings (tile coding: Albus 1975; Sutton & Barto, section 9.5.4) under multinomial logistic regression.
//
// Each of M tilings (grids.hpp) owns a weight per cell and class. A score is a bias plus M weights: s_c = b_c + sum_m W_m[cell_m(x), c], p = softmax(s), and a row moves
// the weights it met by the step times [c = k] - p_c: by the same step everywhere, or by one per cell that shrinks with
// the squares of its gradients, which fade (AdaGrad with a memory). Rows are expected at unit scale (scaled.hpp) and are
// squashed into [0, 1], so that cells are about equally full.
//
// L step sizes go side by side over the same tilings: the weights of a cell lie together, a lane each, so that finding a
// cell and waiting for its memory is paid for once. Alone, the lanes are mixed by discounted mistakes, as in a committee.
//
// Tilings that matter least, by a fading mean of the spread of the weights they were met with, are replaced
// (replaced_grids.hpp).
//
// Classes get weights in the order in which
// they are first seen, up to 256 MB in all; a class beyond that has its bias alone. O(M (3 + c L)) a row.
#pragma once

#include "tilings/replaced_grids.hpp"

namespace thalweg::THALWEG_LEVEL {

// As many floats as there are lanes; a single one is a plain number.
template <int L> struct FloatLanes {
  typedef float V __attribute__((vector_size(4 * L)));
  typedef V Unaligned __attribute__((aligned(4)));
  typedef int32_t Bits __attribute__((vector_size(4 * L)));
  static THALWEG_INLINE V load(const float *from) { return *reinterpret_cast<const Unaligned *>(from); }
  static THALWEG_INLINE void store(float *to, V v) { *reinterpret_cast<Unaligned *>(to) = v; }
  static THALWEG_INLINE Bits bits(V v) { return (Bits)v; }
  static THALWEG_INLINE V number(Bits b) { return (V)b; }
};
template <> struct FloatLanes<1> {
  using V = float;
  using Bits = int32_t;
  static THALWEG_INLINE V load(const float *from) { return *from; }
  static THALWEG_INLINE void store(float *to, V v) { *to = v; }
  static THALWEG_INLINE Bits bits(V v) {
    Bits b;
    std::memcpy(&b, &v, sizeof b);
    return b;
  }
  static THALWEG_INLINE V number(Bits b) {
    V v;
    std::memcpy(&v, &b, sizeof v);
    return v;
  }
};

template <int L> class Tilings final : public Learner {
  using Lane = FloatLanes<L>;
  using V = typename Lane::V;

 public:
  static constexpr int64_t kCells = Grids::kCells;

  Tilings(int64_t p, const TilingOptions &options)
      : Learner(p, {1, L > 1 ? L : 0}), options(options), M(options.tilings), cells(p, options), losses(L),
        room(*this) {
    for (double decay : options.decays) parts = decay > 0 ? 2 : parts;
    forget();
  }
  Learner *copy() const override { return new Tilings(*this); }
  double rate() const override { return options.steps[0]; }
  void shares(double *out) const override { mixing_shares(losses.data(), L, kSharpness, out); }

  void scores(RowView x, double *out) const override {
    posteriors(x, out);
    for (int64_t c = 0; c < classes(); c++)
      out[c] = column[c] < 0 ? -__builtin_inf() : std::log(std::max(out[c], 1e-300));
  }
  void posteriors(RowView x, double *out) const override {
    Room own(*this);
    locate(x, own);
    judge(own);
    mix(own, out);
  }
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    const bool shows = wanted.kind == Wanted::kPosteriors, known = !arrivals.empty();
    if (!shows) show(x, wanted);
    Scratch own(classes());
    double *mixed = shows ? wanted.out : own.data();
    locate(x, room);
    judge(room);
    mix(room, mixed);
    const int64_t given = known ? highest(mixed, classes()) : -1;
    learn(x, k, weight);
    return given;
  }

  void forget() override {
    arrivals.clear();
    std::fill(column.begin(), column.end(), -1);
    std::fill(bias.begin(), bias.end(), 0.0);
    std::fill(losses.begin(), losses.end(), 0.0);
    rows = 0;
    cells.begin(cell_floats());
  }
  void visit(State &state) override {
    visit_classes(state);
    state.integers("arrivals", arrivals);
    std::fill(column.begin(), column.end(), -1);
    for (int64_t i = 0; i < int64_t(arrivals.size()); i++) {
      const int64_t k = arrivals[i];
      if (k < 0 || k >= classes() || column[k] >= 0) throw BadState("arrivals");
      column[k] = i;
    }
    state.matrix("bias", bias, classes(), L, L);
    state.matrix("lane_losses", losses, 1, L, L, not_negative);
    state.integer("rows", rows, not_negative);
    cells.visit(state);
    cells.visit_cells(state, cell_floats(),
                      [this](int64_t i, float v) { return parts == 1 || i / L % 2 == 0 || v >= 0; });
  }

 protected:
  void insert(int64_t at) override {
    column.insert(column.begin() + at, -1);
    insert_row(bias, at, L);
    pull.resize((classes() + 1) * L);
    for (int64_t &k : arrivals) k += k >= at;
  }

 private:
  // Where a row falls: squashed features, of each tiling the cell and its weights, and what each lane makes of it.
  struct Room : Grids::Room {
    explicit Room(const Tilings &of) : Grids::Room(of.features(), of.M), weights(of.M * L), met(of.M) {}
    Buffer judged;                  // L x classes
    BufferOf<float> weights, sums;  // the weights that were met, of up to two classes
    std::vector<const float *> met;
  };
  static constexpr double kDiscount = 0.995, kSharpness = 0.5;  // as in a committee
  static constexpr double kFade = 0.005;                        // of the use of a tiling
  static constexpr float kStart = 0.1f;                         // of the squares of a cell
  static constexpr int64_t kMostFloats = 1 << 26;

  // Of up to two classes the weights are opposite: one number for both, that of the second.
  int64_t columns() const { return columns(int64_t(arrivals.size())); }
  int64_t columns(int64_t classes) const {
    return classes <= 2 ? 1 : std::min(classes, std::max<int64_t>(3, kMostFloats / (M * kCells * L * parts)));
  }
  int64_t cell_floats() const { return columns() * parts * L; }  // weights, then squares, of each class in turn

  THALWEG_INLINE void locate(const double *x, Room &to) const { cells.meet(x, to, cell_floats(), to.met.data()); }
  // The probability of every class by each lane, L x classes.
  THALWEG_INLINE void judge(Room &at) const {
    const int64_t c = classes(), n = int64_t(arrivals.size()), wide = columns();
    at.judged.assign(L * c, n ? 0 : 1 / double(c));
    if (n == 0) return;
    double *out = at.judged.data();
    at.sums.resize(wide * L);
    add_up(at, wide);
    float *sums = at.sums.data();
    for (int64_t lane = 0; lane < L; lane++) {
      double *p = out + lane * c, top = -__builtin_inf(), whole = 0;
      const auto score = [&](int64_t k) {
        const int64_t j = column[k];
        const float sum = n <= 2 ? (j ? sums[lane] : -sums[lane]) : j < wide ? sums[j * L + lane] : 0.0f;
        return bias[k * L + lane] + double(sum);
      };
      for (int64_t k : arrivals) top = std::max(top, p[k] = score(k));
      for (int64_t k : arrivals) whole += p[k] = exponential(p[k] - top);
      for (int64_t k : arrivals) p[k] /= whole;
    }
  }
  void mix(const Room &at, double *out) const {
    const int64_t c = classes();
    double share[L];
    shares(share);
    for (int64_t i = 0; i < c; i++) {
      out[i] = 0;
      for (int64_t lane = 0; lane < L; lane++) out[i] += share[lane] * at.judged[lane * c + i];
    }
  }
  THALWEG_INLINE void add_up(Room &at, int64_t wide) const {
    float *sums = at.sums.data();
    const float *const *met = at.met.data();
    if (wide == 1) {
      V sum[4]{};
      int64_t m = 0;
      const auto weight = [&](int64_t of) THALWEG_LAMBDA {
        const V w = Lane::load(met[of]);
        Lane::store(at.weights.data() + of * L, w);
        return w;
      };
      for (; m + 4 <= M; m += 4)
        for (int i = 0; i < 4; i++) sum[i] += weight(m + i);
      for (int i = 0; m < M; m++, i++) sum[i] += weight(m);
      Lane::store(sums, (sum[0] + sum[1]) + (sum[2] + sum[3]));
      return;
    }
    std::fill(sums, sums + wide * L, 0.0f);
    for (int64_t m = 0; m < M; m++) {
      for (int64_t j = 0; j < wide; j++)
        Lane::store(sums + j * L, Lane::load(sums + j * L) + Lane::load(met[m] + j * parts * L));
    }
  }

  // The row was located and judged.
  THALWEG_INLINE void learn(const double *x, int64_t k, double weight) {
    const int64_t c = classes();
    if (L > 1 && !arrivals.empty())
      for (int64_t lane = 0; lane < L; lane++)
        losses[lane] = kDiscount * losses[lane] + weight * (highest(room.judged.data() + lane * c, c) != k);
    if (column[k] < 0) {
      welcome(k);
      locate(x, room);
      judge(room);
    }
    const double *judged = room.judged.data();
    const int64_t n = int64_t(arrivals.size()), wide = columns();
    for (int64_t lane = 0; lane < L; lane++) {
      const double *p = judged + lane * c;
      double others = 0;
      for (int64_t i : arrivals) others += i == k ? 0 : p[i];
      for (int64_t i : arrivals) {
        const float g = float(i == k ? -others : p[i]);  // p_c - [c = k], exactly opposite for two classes
        bias[i * L + lane] -= weight * options.steps[lane] * double(g);
        if (n > 2) pull[column[i] * L + lane] = g;
        else if (column[i] == n - 1) pull[lane] = n == 1 ? 0 : g;
      }
    }
    // A row that counts for many is held to a step that would not overshoot it.
    float eta[L], keep[L], own_step[L];
    for (int lane = 0; lane < L; lane++) {
      const double most = std::max(options.steps[lane], 4 / double(M + 1));
      eta[lane] = float(std::min(weight * options.steps[lane], most));
      keep[lane] = float(options.decays[lane]), own_step[lane] = options.decays[lane] > 0;
    }
    if (parts == 1) move_all<1>(wide, Lane::load(eta), V{}, V{});
    else move_all<2>(wide, Lane::load(eta), Lane::load(keep), Lane::load(own_step));
    rows++;
    cells.replace_after(rows, cell_floats());
  }
  // Every weight that was met moves; what a tiling is worth is how far its weights are spread.
  template <int Parts> THALWEG_INLINE void move_all(int64_t wide, V eta, V keep, V own_step) {
    const auto met = [this](int64_t m) { return const_cast<float *>(room.met[m]); };
    const float fade = float(kFade);
    BufferOf<float> &use = cells.use;
    const auto move = [&](float *w, V weight, V by) THALWEG_LAMBDA {
      if constexpr (Parts == 1) {
        Lane::store(w, weight - eta * by);
      } else {
        const V square = Lane::load(w + L) * keep + by * by;
        Lane::store(w + L, square);
        Lane::store(w, weight - eta * by * (1 + own_step * (inverse_root(square + kStart) - 1)));
      }
    };
    if (wide == 1) {
      const V by = Lane::load(pull.data());
      const float *weights = room.weights.data();
      for (int64_t m = 0; m < M; m++) move(met(m), Lane::load(weights + m * L), by);
      for (int64_t i = 0; i < M * L; i++) use[i] += fade * (2 * std::fabs(weights[i]) - use[i]);
      return;
    }
    for (int64_t m = 0; m < M; m++) {
      float *cell = met(m);
      V low = Lane::load(cell), high = low;
      for (int64_t j = 0; j < wide; j++) {
        const V w = Lane::load(cell + j * Parts * L);
        move(cell + j * Parts * L, w, Lane::load(pull.data() + j * L));
        low = w < low ? w : low, high = w > high ? w : high;
      }
      const V used = Lane::load(use.data() + m * L);
      Lane::store(use.data() + m * L, used + fade * ((high - low) - used));
    }
  }
  // 1 / sqrt(a) to five digits, alike on every processor: a first guess by the exponent, and two steps of Newton's method.
  static THALWEG_INLINE V inverse_root(V a) {
    V r = Lane::number(0x5f3759df - (Lane::bits(a) >> 1));
    for (int i = 0; i < 2; i++) r = r * (1.5f - 0.5f * a * r * r);
    return r;
  }

  // A class that is seen for the first time gets a column of weights; opposite weights get places of their own.
  void welcome(int64_t k) {
    const int64_t before = int64_t(arrivals.size()), from = columns(before), to = columns(before + 1);
    column[k] = before;
    arrivals.push_back(k);
    if (from == to) return;
    const int64_t one = parts * L;
    for (int64_t m = 0; m < M; m++) {
      BufferOf<float> wider(cells.grids.size(m) * to * one);
      for (int64_t i = 0; i < cells.grids.size(m); i++) {
        const float *old = cells.tables[m].data() + i * from * one;
        float *now = wider.data() + i * to * one;
        std::copy_n(old, from * one, now + (from == 1) * one);
        if (from > 1) continue;
        std::copy_n(old, one, now);
        for (int64_t lane = 0; lane < L; lane++) now[lane] = -old[lane];
      }
      cells.tables[m] = std::move(wider);
    }
  }

  TilingOptions options;
  int64_t M, parts = 1, rows = 0;
  ReplacedGrids<float, L> cells;          // the numbers of a cell: classes x (weights, squares) x lanes
  std::vector<int64_t> column, arrivals;  // of each class its place among those seen, and back
  std::vector<float> pull;
  Buffer bias, losses;
  Room room;
};

}  // namespace thalweg::THALWEG_LEVEL
