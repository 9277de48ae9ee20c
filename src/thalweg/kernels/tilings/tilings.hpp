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

#include "foreseen.hpp"
#include "tilings/replaced_grids.hpp"

namespace thalweg::THALWEG_LEVEL {

template <int L> class Tilings final : public Learner {
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
  void foresee(RowView x, double *out) override {
    locate(x, room);
    judge(room);
    mix(room, out);
    foreseen.remember(x, features());
    is_judged = true;
  }
  void expect(RowView x, Fetches &fetches) override {
    if (columns() > 1 || foreseen.is(x)) return;
    meet(x, room);
    foreseen.remember(x, features());
    is_judged = false;
    fetches = {room.met.data(), room.met.data() + M};
  }
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    const bool shows = wanted.kind == Wanted::kPosteriors, known = !arrivals.empty();
    if (!shows) show(x, wanted);
    Scratch own(classes());
    double *mixed = shows ? wanted.out : own.data();
    const bool is_met = foreseen.take(x);
    if (!is_met) locate(x, room);
    if (!is_met || !is_judged) judge(room);
    mix(room, mixed);
    const int64_t given = known ? highest(mixed, classes()) : -1;
    learn(x, k, weight, wanted.meanwhile);
    return given;
  }

  void forget() override {
    foreseen.forget();
    arrivals.clear();
    std::fill(column.begin(), column.end(), -1);
    std::fill(bias.begin(), bias.end(), 0.0);
    std::fill(losses.begin(), losses.end(), 0.0);
    rows = 0;
    cells.begin(cell_floats());
  }
  void visit(State &state) override {
    foreseen.forget();
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
    // Saved class by class, each one's squares behind its weights.
    const int64_t weights = cell_weights();
    const auto place = [&](int64_t i) { return i / (L * parts) * L + i / L % parts * weights + i % L; };
    cells.visit_cells(state, cell_floats(), place, [&](int64_t i, float v) { return i < weights || v >= 0; });
  }

 protected:
  void insert(int64_t at) override {
    foreseen.forget();
    column.insert(column.begin() + at, -1);
    insert_row(bias, at, L);
    for (int64_t &k : arrivals) k += k >= at;
  }

 private:
  // Where a row falls: squashed features, of each tiling the cell and its weights, and what each lane makes of it.
  struct Room : Grids::Room {
    explicit Room(const Tilings &of) : Grids::Room(of.features(), of.M), weights(of.M * L), met(of.M) {}
    Buffer judged;                  // classes x L, in whole vectors
    BufferOf<float> weights, sums;  // the weights that were met, of up to two classes
    std::vector<float *> met;
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
  int64_t cell_weights() const { return columns() * L; }
  int64_t cell_floats() const { return cell_weights() * parts; }  // the weights of the classes, then their squares

  THALWEG_INLINE void meet(const double *x, Room &to) const { cells.meet(x, to, cell_floats(), to.met.data()); }
  THALWEG_INLINE void locate(const double *x, Room &to) const {
    meet(x, to);
    cells.fetch(cell_floats(), to.met.data());
  }
  // The probability of every class by each lane.
  THALWEG_INLINE void judge(Room &at) const {
    const int64_t c = classes(), n = int64_t(arrivals.size()), wide = columns();
    at.judged.assign((c * L + kLanes - 1) / kLanes * kLanes, n ? 0 : 1 / double(c));
    if (n == 0) return;
    double *p = at.judged.data(), top[L], whole[L]{};
    if (wide == 1) add_up_pairs(at);
    else add_up(at);
    const float *sums = at.sums.data();
    std::fill_n(top, L, -__builtin_inf());
    for (int64_t k : arrivals) {
      const int64_t j = column[k];
      for (int lane = 0; lane < L; lane++) {
        const double sum = n <= 2 ? (j ? sums[lane] : -sums[lane]) : j < wide ? sums[j * L + lane] : 0;
        p[k * L + lane] = bias[k * L + lane] + sum;
        top[lane] = std::max(top[lane], p[k * L + lane]);
      }
    }
    for (int64_t k = 0; k < c; k++)
      for (int lane = 0; lane < L; lane++) p[k * L + lane] -= top[lane];
    using D = Lanes::V;
    for (int64_t i = 0; i < c * L; i += kLanes) store<D>(p + i, exponential_of(load<D>(p + i)));
    for (int64_t k = 0; n < c && k < c; k++)
      if (column[k] < 0) std::fill_n(p + k * L, L, 0.0);
    for (int64_t k = 0; k < c; k++)
      for (int lane = 0; lane < L; lane++) whole[lane] += p[k * L + lane];
    for (int lane = 0; lane < L; lane++) whole[lane] = 1 / whole[lane];
    for (int64_t k = 0; k < c; k++)
      for (int lane = 0; lane < L; lane++) p[k * L + lane] *= whole[lane];
  }
  void mix(const Room &at, double *out) const {
    double share[L];
    shares(share);
    for (int64_t i = 0; i < classes(); i++) {
      out[i] = 0;
      for (int64_t lane = 0; lane < L; lane++) out[i] += share[lane] * at.judged[i * L + lane];
    }
  }
  // Of up to two classes: as many tilings at a time as fill a vector, the rest one by one.
  static constexpr int kAtOnce = L == 1 ? 1 : kFloatLanes / L;
  THALWEG_INLINE void add_up_pairs(Room &at) const {
    collect<L>(at, collect<kAtOnce * L>(at, 0));
    const float *weights = at.weights.data();
    float sums[kFloatLanes];
    constexpr int kSums = 4;
    Floats sum[kSums]{};
    int64_t i = 0;
    for (; i + kSums * kFloatLanes <= M * L; i += kSums * kFloatLanes)
      for (int v = 0; v < kSums; v++) sum[v] += load<Floats>(weights + i + v * kFloatLanes);
    store<Floats>(sums, (sum[0] + sum[1]) + (sum[2] + sum[3]));
    for (int j = L; j < kFloatLanes; j++) sums[j % L] += sums[j];
    for (; i < M * L; i++) sums[i % L] += weights[i];
    at.sums.resize(L);
    std::copy_n(sums, L, at.sums.data());
  }
  // The weights that were met side by side, from tiling m on; returns the first that does not fill N lanes.
  template <int N> THALWEG_INLINE int64_t collect(Room &at, int64_t m) const {
    for (; m + N / L <= M; m += N / L)
      FloatLanes<N>::store(at.weights.data() + m * L, SideBySide<N, L>::load(at.met.data() + m, 0));
    return m;
  }
  // Of more: vectors of classes at a time.
  THALWEG_INLINE void add_up(Room &at) const {
    const int64_t n = cell_weights();
    at.sums.resize(n);
    for (int64_t from = 0; from < n; from += 4 * kFloatLanes) {
      const int64_t left = n - from;
      if (left > 3 * kFloatLanes) add_up_vectors<4>(at, from, left);
      else if (left > 2 * kFloatLanes) add_up_vectors<3>(at, from, left);
      else if (left > kFloatLanes) add_up_vectors<2>(at, from, left);
      else add_up_vectors<1>(at, from, left);
    }
  }
  template <int Count> THALWEG_INLINE void add_up_vectors(Room &at, int64_t from, int64_t left) const {
    const FirstLanes last(left - (Count - 1) * kFloatLanes);
    Floats sum[Count]{};
    for (int64_t m = 0; m < M; m++) {
      const float *w = at.met[m] + from;
      for (int v = 0; v < Count - 1; v++) sum[v] += load<Floats>(w + v * kFloatLanes);
      sum[Count - 1] += last.load(w + (Count - 1) * kFloatLanes);
    }
    float *to = at.sums.data() + from;
    for (int v = 0; v < Count - 1; v++) store<Floats>(to + v * kFloatLanes, sum[v]);
    last.store(to + (Count - 1) * kFloatLanes, sum[Count - 1]);
  }

  // In which lanes class k is not the first of the highest probability.
  THALWEG_INLINE void find_mistakes(int64_t k, double *wrong) const {
    const double *p = room.judged.data(), *own = p + k * L;
    std::fill_n(wrong, L, 0.0);
    for (int64_t c = 0; c < classes(); c++)
      for (int lane = 0; lane < L; lane++) {
        const double other = p[c * L + lane];
        wrong[lane] = other > own[lane] || (other == own[lane] && c < k) ? 1 : wrong[lane];
      }
  }
  // The row was located and judged.
  THALWEG_INLINE void learn(const double *x, int64_t k, double weight, Fetches *meanwhile) {
    const int64_t c = classes();
    if (L > 1 && !arrivals.empty()) {
      double wrong[L];
      find_mistakes(k, wrong);
      for (int64_t lane = 0; lane < L; lane++) losses[lane] = kDiscount * losses[lane] + weight * wrong[lane];
    }
    if (column[k] < 0) {
      welcome(k);
      locate(x, room);
      judge(room);
    }
    const double *p = room.judged.data();
    const int64_t n = int64_t(arrivals.size());
    double others[L]{};
    for (int64_t i = 0; i < c; i++)
      for (int lane = 0; lane < L && i != k; lane++) others[lane] += p[i * L + lane];
    pull.resize(n * L);
    for (int64_t i : arrivals) {
      float *to = pull.data() + column[i] * L;
      for (int lane = 0; lane < L; lane++) {  // p_c - [c = k], exactly opposite for two classes
        const float g = float(i == k ? -others[lane] : p[i * L + lane]);
        bias[i * L + lane] -= weight * options.steps[lane] * double(g);
        to[lane] = g;
      }
    }
    if (n == 1) std::fill_n(pull.data(), L, 0.0f);
    appraise();
    const Pace pace = pace_of(weight);
    if (n <= 2) {
      const float *by = pull.data() + (n - 1) * L;
      Fetches ahead = meanwhile ? *meanwhile : Fetches();
      move_pairs<L>(pace, by, move_pairs<kAtOnce * L>(pace, by, 0, ahead), ahead);
      if (meanwhile) *meanwhile = ahead;
    } else {
      move_all(pace);
    }
    rows++;
    cells.replace_after(rows, cell_floats());
  }
  // What a tiling is worth is how far the weights that were met are spread.
  void appraise() {
    constexpr float kGain = float(kFade);
    float *use = cells.use.data();
    if (columns() == 1) {
      const float *weights = room.weights.data();
      for (int64_t i = 0; i < M * L; i++) use[i] += kGain * (2 * std::fabs(weights[i]) - use[i]);
      return;
    }
    const int64_t n = cell_weights();
    for (int64_t m = 0; m < M; m++, use += L) {
      Floats low = broadcast<Floats>(__builtin_inff()), high = -low;
      for (int64_t i = 0; i < n; i += kFloatLanes) {
        const FirstLanes here(n - i);
        const Floats w = here.load(room.met[m] + i);
        low = smaller(here.pick(w, __builtin_inff()), low), high = greater(here.pick(w, -__builtin_inff()), high);
      }
      const auto spread = -least_of_each<L>(-high) - least_of_each<L>(low), used = FloatLanes<L>::load(use);
      FloatLanes<L>::store(use, used + kGain * (spread - used));
    }
  }

  // How far weights move, by lane: the step, how much is kept of the squares, and whether they count.
  struct Pace {
    float step[L], keep[L], own[L];
  };
  // A row that counts for many is held to a step that would not overshoot it.
  Pace pace_of(double weight) const {
    Pace pace;
    for (int lane = 0; lane < L; lane++) {
      const double step = options.steps[lane], most = std::max(step, 4 / double(M + 1));
      pace.step[lane] = float(std::min(weight * step, most));
      pace.keep[lane] = float(options.decays[lane]), pace.own[lane] = options.decays[lane] > 0;
    }
    return pace;
  }
  // A vector of weights that moves along the same gradients.
  template <int N> struct Move {
    using At = SideBySide<N, L>;
    using V = typename FloatLanes<N>::V;
    THALWEG_INLINE Move(const Pace &pace, V by)
        : square(by * by), keep(At::repeat(pace.keep)), all(At::repeat(pace.step) * by),
          own(At::repeat(pace.own) * all), common(all - own) {}
    THALWEG_INLINE V squares(V old) const { return old * keep + square; }
    THALWEG_INLINE V weights(V old) const { return old - all; }
    THALWEG_INLINE V weights(V old, V squares) const {
      return (old - common) - own * inverse_root<N>(squares + kStart);
    }
    V square, keep, all, own, common;
  };
  template <int N> THALWEG_INLINE int64_t move_pairs(const Pace &pace, const float *by, int64_t m, Fetches &ahead) {
    using At = SideBySide<N, L>;
    const Move<N> move(pace, At::repeat(by));
    const float *weights = room.weights.data();
    float *const *met = room.met.data();
    if (parts == 1) {
      for (; m + N / L <= M; m += N / L) At::store(met + m, 0, move.weights(FloatLanes<N>::load(weights + m * L)));
      return m;
    }
    for (; m + N / L <= M; m += N / L) {
      const auto squares = move.squares(At::load(met + m, L));
      At::store(met + m, 0, move.weights(FloatLanes<N>::load(weights + m * L), squares));
      At::store(met + m, L, squares);
      ahead.some(N / L);
    }
    return m;
  }
  void move_all(const Pace &pace) {
    const int64_t n = cell_weights();
    for (int64_t from = 0; from < n; from += kFloatLanes) {
      const FirstLanes here(n - from);
      const Move<kFloatLanes> move(pace, here.load(pull.data() + from));
      for (int64_t m = 0; m < M; m++) {
        float *w = room.met[m] + from;
        if (parts == 1) {
          here.store(w, move.weights(here.load(w)));
          continue;
        }
        const Floats squares = move.squares(here.load(w + n));
        here.store(w + n, squares);
        here.store(w, move.weights(here.load(w), squares));
      }
    }
  }

  // A class that is seen for the first time gets a column of weights; opposite weights get places of their own.
  void welcome(int64_t k) {
    const int64_t before = int64_t(arrivals.size()), from = columns(before), to = columns(before + 1);
    column[k] = before;
    arrivals.push_back(k);
    if (from == to) return;
    for (int64_t m = 0; m < M; m++) {
      BufferOf<float> wider(cells.grids.size(m) * to * parts * L);
      for (int64_t i = 0; i < cells.grids.size(m) * parts; i++) {  // the weights of a cell, or its squares
        const float *old = cells.tables[m].data() + i * from * L;
        float *now = wider.data() + i * to * L;
        std::copy_n(old, from * L, now + (from == 1) * L);
        if (from > 1) continue;
        for (int64_t lane = 0; lane < L; lane++) now[lane] = i % parts ? old[lane] : -old[lane];
      }
      cells.tables[m] = std::move(wider);
    }
  }

  TilingOptions options;
  int64_t M, parts = 1, rows = 0;
  ReplacedGrids<float, L> cells;          // the numbers of a cell: (weights, squares) x classes x lanes
  std::vector<int64_t> column, arrivals;  // of each class its place among those seen, and back
  std::vector<float> pull;
  Buffer bias, losses;
  Room room;
  Foreseen foreseen;  // in `room`
  bool is_judged = false;
};

}  // namespace thalweg::THALWEG_LEVEL
