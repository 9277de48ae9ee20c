// What a mixture of regressors keeps of a target beside its members: where the numbers lie and how large residuals are.
//
// All is relative to the first target, which saves the digits of a large offset. The answer of a member is held to the range of
// the targets so far and a tenth of it on either side; of late targets also to some standard deviations around their mean, until
// answers that were given in advance have been judged (late_mixing.hpp).
//
// `robust`: residuals beyond a limit count by their size and not by its square (Huber 1964). The limit is twice the mean
// absolute residual of the last hundred rows, of which each counts at most three times as much as those before it.
//
// A single wild target, thirty mean absolute residuals and the whole range of targets so far away from the answer, would stay
// in long memories: it is learned as if it were at that distance. Each makes the next one's distance larger, so that a new
// level is followed within some rows. Among the first twenty targets, where no residual says much, one that is thirty
// standard deviations of the others away makes all members start over.
#pragma once

#include <limits>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class TargetLevel {
 public:
  explicit TargetLevel(bool robust) : robust(robust) {}

  bool awake() const { return rows > 0; }
  double limit() const { return robust && rows >= kTrusted ? kHuber * size : kNone; }
  double held(double answer) const { return std::clamp(answer, lower, upper); }
  // From now on within so many standard deviations of the targets around their mean.
  void hold_within(double deviations) {
    reach = deviations;
    set_bounds();
  }
  // A target y that was answered so, as it is learned.
  double tamed(double y, double given) const {
    const double most = farthest();
    return std::fabs(y - given) <= most ? y : given + std::clamp(y - given, -most, most);
  }
  // A target y that was answered so, where residuals beyond the limit count for less. Whether one of the first was wild.
  bool follow(double y, double given, double limit, double times) {
    const double residual = std::fabs(y - given), most = farthest(), cap = std::min(limit, most);
    const double near = awake() ? given + std::clamp(y - given, -cap, cap) : y;
    if (awake()) {
      const bool trusted = rows >= kTrusted && size > 0;
      const double cut = residual > most && size > 0 ? most : trusted ? std::min(residual, kCut * size) : residual;
      size += std::max(times / rows, repeated(kSizeGain, times)) * (cut - size);
    }
    last = awake() ? tamed(y, given) : y;
    const bool early = rows < kTrusted;
    squares += times * near * near;
    rows += times;
    mean += times / rows * (near - mean);
    lowest = std::min(lowest, near);
    highest = std::max(highest, near);
    set_bounds();
    return early && rows >= kTrusted && began_wild(times);
  }

  void begin() {
    rows = origin = lowest = highest = mean = last = size = squares = 0;
    hold_within(kNone);
  }
  void visit(State &state) {
    state.real("rows", rows, not_negative);
    state.real("origin", origin);
    state.real("lowest", lowest);
    state.real("highest", highest);
    state.real("mean", mean);
    state.real("last", last);
    state.real("residual_size", size, not_negative);
    state.real("squares", squares, not_negative);
    for (double value : {origin, lowest, highest, mean, last})
      if (!std::isfinite(value)) throw BadState("mean");
    if (!(lowest <= highest)) throw BadState("lowest");
    hold_within(kNone);
  }

  double origin = 0, mean = 0, last = 0;  // mean and last are relative to the origin

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  static constexpr double kBeyond = 0.1;         // of the range of the targets, by which an answer may leave it
  static constexpr double kHuber = 2, kCut = 3;  // mean absolute residuals: the limit, and the most that one may be
  static constexpr double kSizeGain = 0.01, kTrusted = 20;
  static constexpr double kWild = 30, kTamed = 10;  // mean absolute residuals or deviations; rows before any is tamed

  // From an answer, as far as a target is learned.
  double farthest() const { return rows < kTamed ? kNone : std::max(kWild * size, highest - lowest); }
  void set_bounds() {
    const double more = kBeyond * (highest - lowest);
    lower = lowest - more, upper = highest + more;
    if (!(reach < kNone) || !awake()) return;
    const double away = reach * std::sqrt(std::max(0.0, squares / rows - mean * mean));
    lower = std::max(lower, mean - away), upper = std::max(lower, std::min(upper, mean + away));
  }
  // Whether the target that is farthest from the mean, of a row that counted `times` times, is far from all others.
  bool began_wild(double times) const {
    const double far = highest - mean > mean - lowest ? highest : lowest, others = rows - times;
    if (!(others > 0)) return false;
    const double center = (rows * mean - times * far) / others;
    const double variance = (squares - times * far * far) / others - center * center;
    return variance >= -kRounding * squares && far != center &&
           kWild * kWild * std::max(0.0, variance) <= (far - center) * (far - center);
  }
  static constexpr double kRounding = 1e-12;

  bool robust;
  double rows = 0;                 // weight of all rows
  double lowest = 0, highest = 0;  // relative to the origin
  double size = 0;                 // mean absolute residual
  double squares = 0;              // of all targets
  double reach = kNone;            // standard deviations
  double lower = 0, upper = 0;     // ends of what a member may answer
};

// What members had answered when a row was predicted whose target comes now, if that is known.
class LateAnswers {
 public:
  LateAnswers(const double *before, int64_t count, double origin, double delay)
      : room_(count), come_late(before && delay > 0) {
    if (!before || std::isnan(*before)) return;
    std::transform(before, before + count, room_.data(), [origin](double each) { return each - origin; });
    answers = room_.data();
    weight = std::min(1.0, kSeries / std::max(delay, 1.0));
  }

 private:
  // Errors of late predictions come in series as long as the delay: beyond so many rows each counts for less in proportion, or the
  // weights would follow the last series.
  static constexpr double kSeries = 10;
  Scratch room_;

 public:
  const double *answers = nullptr;  // null: not known
  double weight = 1;
  bool come_late;
};

}  // namespace thalweg::THALWEG_LEVEL
