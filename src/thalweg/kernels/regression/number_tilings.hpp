// Random tilings for numbers: an answer is a base plus the sum of the weights of the M cells that a row falls into.
//
// A row moves the weights it met so that the share `step` of its residual r is gone: W_m += step r g_m / sum g, where
// g_m = 1 / sqrt(visits) lets new cells learn fast and old ones little; visits fade. Four step sizes go side by side over the
// same tilings. Tilings that matter least, by a fading mean of |W_m|, are replaced (tilings/replaced_grids.hpp).
// O(M (3 + L)) a row.
#pragma once

#include "tilings/replaced_grids.hpp"

namespace thalweg::THALWEG_LEVEL {

class NumberTilings {
 public:
  static constexpr int kSteps = 4;  // lanes; fewer step sizes than that repeat the last

  NumberTilings(int64_t p, const TilingOptions &options)
      : M(options.tilings), steps_(int64_t(options.steps.size())), cells(p, options),
        gain((M + kLanes - 1) / kLanes * kLanes, 1.0), room(*this) {
    if (steps_ < 1 || steps_ > kSteps) throw std::invalid_argument("needs one to four steps");
    for (int lane = 0; lane < kSteps; lane++) steps[lane] = options.steps[std::min<int64_t>(lane, steps_ - 1)];
    begin();
  }

  int64_t members() const { return steps_; }
  void begin() {
    rows = 0;
    cells.begin(kNumbers);
  }

  // Where a row falls.
  struct Room : Grids::Room {
    explicit Room(const NumberTilings &of) : Grids::Room(of.cells.grids.features(), of.M), met(of.M) {}
    std::vector<double *> met;
    double sums[kSteps];
  };
  // What each step size has made of the cells that a row falls into.
  const double *answers(const double *z) { return sum_up(z, room); }
  void answers(const double *z, double *out) const {
    Room own(*this);
    std::copy_n(sum_up(z, own), kSteps, out);
  }

  // The row that was just answered, with a target that is relative to the base.
  void learn(double y, double times, double limit) {
    double move[kSteps], whole = 0;
    const double lost = repeated(kVisitsFade, times), kept = 1 - lost, news = lost / kVisitsFade;
    for (int64_t m = 0; m < M; m++) {
      double &visits = *room.met[m];
      gain[m] = std::max(visits = kept * visits + news, kFewest);
    }
    using V = Lanes::V;
    for (int64_t m = 0; m < M; m += kLanes) store<V>(gain.data() + m, inverse_root(load<V>(gain.data() + m)));
    for (int64_t m = 0; m < M; m++) whole += gain[m];
    for (int lane = 0; lane < kSteps; lane++)
      move[lane] = repeated(steps[lane], times) * std::clamp(y - room.sums[lane], -limit, limit) / whole;
    double *use = cells.use.data();
    for (int64_t m = 0; m < M; m++, use += kSteps) {
      double *w = room.met[m] + 1;
      for (int lane = 0; lane < kSteps; lane++) {
        use[lane] += kFade * (std::fabs(w[lane]) - use[lane]);
        w[lane] += gain[m] * move[lane];
      }
    }
    rows++;
    cells.replace_after(rows, kNumbers);
  }

  void visit(State &state) {
    state.integer("rows", rows, not_negative);
    cells.visit(state);
    const auto place = [](int64_t i) { return i; };
    cells.visit_cells(state, kNumbers, place, [](int64_t i, double v) { return i > 0 || v >= 0; });
  }

 private:
  static constexpr int64_t kNumbers = 1 + kSteps;  // of a cell: its visits, and a weight for each step size
  static constexpr double kFade = 0.005;           // of the use of a tiling
  static constexpr double kVisitsFade = 0.001;     // of the visits of a cell
  static constexpr double kFewest = 1e-200;        // visits, of rows that count for next to nothing

  // 1 / sqrt(a) to ten digits, alike on every processor: a first guess by the exponent, and three steps of Newton's method.
  static THALWEG_INLINE Lanes::V inverse_root(Lanes::V a) {
    Lanes::V r = as_number(0x5fe6eb50c7b537a9 - (as_bits(a) >> 1));
    for (int i = 0; i < 3; i++) r = r * (1.5 - 0.5 * a * r * r);
    return r;
  }

  THALWEG_INLINE const double *sum_up(const double *z, Room &to) const {
    cells.meet(z, to, kNumbers, to.met.data());
    cells.fetch(kNumbers, to.met.data());
    std::fill_n(to.sums, kSteps, 0.0);
    for (int64_t m = 0; m < M; m++)
      for (int lane = 0; lane < kSteps; lane++) to.sums[lane] += to.met[m][1 + lane];
    return to.sums;
  }

  int64_t M, steps_, rows = 0;
  double steps[kSteps];
  ReplacedGrids<double, kSteps> cells;
  Buffer gain;
  Room room;
};

}  // namespace thalweg::THALWEG_LEVEL
