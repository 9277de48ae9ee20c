// How large residuals are around a row, relative to the recent ones: tilings of the features (number_tilings.hpp) over the
// absolute residual divided by the mean one of the last fifty rows. 1 until kWarm rows are known. O(p + M) a row and target.
#pragma once

#include "regression/number_tilings.hpp"
#include "row_scaling.hpp"

namespace thalweg::THALWEG_LEVEL {

class LocalNoise {
 public:
  explicit LocalNoise(int64_t features) : p(features), scaling(features), z(features) {}

  void begin(int64_t outputs) {
    scaling.forget();
    targets.clear();
    for (int64_t o = 0; o < outputs; o++) targets.emplace_back(p, TilingOptions{64, 2, {kStep}, {}, 100, 500, 0.05, 0});
    sizes.assign(outputs, 0.0);
    rows = 0;
  }

  // The factor of each target of a row; `learn` follows the last row that was looked at so.
  void look(const double *x, double *out) {
    scaling.scale(x, z.data());
    for (NumberTilings &each : targets) *out++ = held(*each.answers(z.data()));
  }
  void factors(const double *x, double *out) const {
    Scratch room(p);
    scaling.scale(x, room.data());
    for (const NumberTilings &each : targets) {
      double sums[NumberTilings::kSteps];
      each.answers(room.data(), sums);
      *out++ = held(*sums);
    }
  }
  void learn(int64_t output, double residual, double weight) {
    const double relative = sizes[output] > 0 ? std::min(residual / sizes[output], kMost) : 1;
    targets[output].learn(relative - 1, weight, __builtin_inf());
    sizes[output] += std::max(weight / (rows + weight), repeated(kGain, weight)) * (residual - sizes[output]);
  }
  // All targets of the row were learned.
  void row_learned(const double *x, double weight) {
    scaling.learn(x, weight);
    rows += weight;
  }

  void visit(State &state) {
    const int64_t m = int64_t(targets.size());
    scaling.visit(state);
    state.real("rows", rows, not_negative);
    state.matrix("sizes", sizes, 1, m, m, not_negative);
    for (int64_t o = 0; o < m; o++) state.part("target" + std::to_string(o) + "_", targets[o]);
  }

 private:
  static constexpr double kStep = 0.05, kGain = 0.02, kWarm = 200;
  static constexpr double kLeast = 0.2, kLargest = 5, kMost = 6;  // of a factor; of a residual that is learned

  double held(double sum) const { return rows < kWarm ? 1 : std::clamp(1 + sum, kLeast, kLargest); }

  int64_t p;
  RowScaling scaling;
  Buffer z, sizes;  // sizes: the mean absolute residual of each target
  std::vector<NumberTilings> targets;
  double rows = 0;  // weight of those learned
};

}  // namespace thalweg::THALWEG_LEVEL
