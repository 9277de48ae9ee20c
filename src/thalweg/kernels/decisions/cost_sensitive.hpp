// The answer of the lowest expected cost: of all classes d seen so far the one with the least sum_t p_t cost(t, d), where t is
// the true class. Costs are given, or "balanced": missing a class costs the inverse of its share of the recent rows.
#pragma once

#include "decisions/wrapper.hpp"

namespace thalweg::THALWEG_LEVEL {

class CostSensitive final : public Decider {
 public:
  CostSensitive(const Learner &inner, bool balanced) : Decider(inner, 0), balanced(balanced) {}
  Learner *copy() const override { return new CostSensitive(*this); }

  // Costs by true class and answer; one for each mistake until they are given.
  void set_costs(const double *given) { std::copy_n(given, costs.size(), costs.begin()); }

  // The expected cost of each answer, infinite for a class never seen.
  void expected_costs(const double *p, double *out) const {
    for (int64_t d = 0; d < classes(); d++) {
      out[d] = seen(d) ? 0 : __builtin_inf();
      for (int64_t t = 0; t < classes(); t++)
        if (seen(t) && seen(d)) out[d] += p[t] * cost(t, d);
    }
  }

 protected:
  int64_t decide(const double *p, int64_t) const override {
    Scratch room(classes());
    expected_costs(p, room.data());
    for (int64_t d = 0; d < classes(); d++) room.data()[d] = -room.data()[d];
    return highest_seen(room.data());
  }
  void judge(const double *, int64_t k, double weight, double) override {
    if (!balanced) return;
    judged += weight;
    const double gain = std::min(1.0, std::max(weight / judged, repeated(1 / kMemory, weight)));
    for (int64_t c = 0; c < classes(); c++) shares_[c] += gain * (double(c == k) - shares_[c]);
  }
  void make_room(int64_t at) override {
    const int64_t c = classes();
    Buffer wider((c + 1) * (c + 1), 1.0);
    for (int64_t t = 0; t <= c; t++)
      for (int64_t d = 0; d <= c; d++)
        if (t == d) wider[t * (c + 1) + d] = 0;
        else if (t != at && d != at) wider[t * (c + 1) + d] = costs[(t - (t > at)) * c + d - (d > at)];
    costs = std::move(wider);
    insert_row(shares_, at, 1);
  }
  void forget_own() override {
    judged = 0;
    shares_.fill(0);
  }
  void visit_own(State &state) override {
    state.matrix("costs", costs, classes(), classes(), classes(), finite);
    if (!balanced) return;
    state.real("judged", judged, not_negative);
    state.matrix("class_shares", shares_, 1, classes(), classes(), within(0.0, 1 + 1e-9));
  }

 private:
  static constexpr double kMemory = 5000;  // rows, of the shares

  double cost(int64_t t, int64_t d) const {
    if (!balanced) return costs[t * classes() + d];
    return t == d ? 0 : 1 / std::max(shares_[t], 1 / kMemory);
  }

  bool balanced;
  double judged = 0;
  Buffer costs, shares_;
};

}  // namespace thalweg::THALWEG_LEVEL
