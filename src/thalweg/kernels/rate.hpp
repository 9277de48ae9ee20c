// The learning rate inside the loop: constant, decaying, or driven by the learner's own mistakes.
#pragma once

#include <tuple>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

struct Rate {
  enum Kind : int64_t { kConstant = 0, kInverseSqrt = 1, kErrorDriven = 2 };
  enum Form { kPower, kProduct };  // Kuncheva & Plumpton 2008, section 5: product for Winnow, power elsewhere

  Rate(Kind kind, double start, int64_t window, Form form, double low, double high)
      : kind_(kind), form(form), start(start), low(low), high(high), window(window) {
    reset();
  }

  void reset() {
    value = std::clamp(start, low, high);
    rows = recent = older = 0;
    mistakes.assign(kind_ == kErrorDriven ? 2 * window : 0, 0);
  }

  // The rate for this row, given whether the learner had just misclassified it.
  THALWEG_INLINE double next(bool mistake) {
    if (kind_ == kConstant) return value;
    if (kind_ == kInverseSqrt) {
      value = std::clamp(start / std::sqrt(double(++rows)), low, high);
      return value;
    }
    return driven(mistake);
  }

  void visit(State &state) {
    state.real("rate", value);
    state.integer("rate_rows", rows);
    state.integers("rate_mistakes", mistakes, kind_ == kErrorDriven ? 2 * window : 0);
    if (!(value >= low && value <= high) || rows < 0) throw BadState("rate");
    recent = older = 0;
    if (kind_ == kErrorDriven)
      for (int64_t back = 1; back <= std::min(rows, 2 * window); back++)
        (back <= window ? recent : older) += mistakes[(rows - back) % (2 * window)] != 0;
  }

  Kind kind() const { return kind_; }

  double value;

 private:
  // E_t over the last `window` rows against E_{t-window} before them; both are counts of a ring of 2 * window.
  double driven(bool mistake) {
    const int64_t t = rows++, ring = 2 * window;
    if (t >= window) {
      const int64_t leaving = mistakes[(t - window) % ring];
      recent -= leaving;
      older += leaving;
    }
    if (t >= ring) older -= mistakes[t % ring];
    mistakes[t % ring] = mistake;
    recent += mistake;
    if (mistake && t >= window) {
      const double now = double(recent) / double(window);                            // E_t
      const double then = double(older) / double(std::min(t - window + 1, window));  // E_{t-M}
      const double change = 1 + (then - now);                                        // 1 + Delta_e
      value = std::clamp(form == kPower ? std::pow(value, change) : value * change, low, high);
    }
    return value;
  }

  Kind kind_;
  Form form;
  double start, low, high;
  int64_t window, rows, recent, older;
  std::vector<int64_t> mistakes;
};

// A rate as `thalweg.rates` names it: kind, start, window.
using RateCode = std::tuple<int64_t, double, int64_t>;
constexpr double kLeastRate = 1e-6, kNoLimit = 1e300;

inline Rate make_rate(const RateCode &code, Rate::Form form, bool below_one) {
  const auto [kind, start, window] = code;
  const bool bounded = kind == Rate::kErrorDriven || (below_one && kind != Rate::kConstant);
  return Rate(Rate::Kind(kind), start, window, form, bounded ? kLeastRate : 0, bounded ? 1 - kLeastRate : kNoLimit);
}

}  // namespace thalweg::THALWEG_LEVEL
