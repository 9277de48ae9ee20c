// Four logistic regressions over sparse rows with a step size for each feature (logistic.hpp, feature_steps.hpp), side by side:
// one rate in each lane. What the four have learned of a feature lies together, so that a value of a row touches two places of
// memory and not eight. The arithmetic of a lane is that of a learner of its own.
//
// O(classes) for each value that is not zero, with one square root and one quotient for all lanes.
#pragma once

#include "learner.hpp"
#include "linear_algebra/simd.hpp"
#include "rate.hpp"
#include "rows/sparse_row.hpp"

namespace thalweg::THALWEG_LEVEL {

class LogisticBank final : public Learner {
 public:
  static constexpr int64_t kRates = 4;

  // A rate of each, and what its squared gradients start from.
  LogisticBank(const std::vector<double> &rates, const std::vector<double> &initial_squares) : Learner(0) {
    traits_.posteriors = kRates;
    if (int64_t(rates.size()) != kRates || int64_t(initial_squares.size()) != kRates)
      throw std::invalid_argument("a bank has four rates");
    for (double rate : rates) rates_.push_back(make_rate({Rate::kConstant, rate, 0}, Rate::kPower, false));
    std::copy(initial_squares.begin(), initial_squares.end(), initial_);
    clear();
  }
  Learner *copy() const override { return new LogisticBank(*this); }

  // Alone, a bank predicts by the mean of its members.
  void scores(RowView x, double *out) const override {
    if (awake_ == 0) {
      std::fill_n(out, classes(), -__builtin_inf());
      return;
    }
    Scratch room(kRates * classes());
    posteriors(x, room.data());
    for (int64_t c = 0; c < classes(); c++) {
      double sum = 0;
      for (int64_t r = 0; r < kRates; r++) sum += room.data()[r * classes() + c];
      out[c] = std::log(sum / kRates);
    }
  }
  void posteriors(RowView x, double *out) const override {
    Scratch room(kRates * classes());
    score(x.sparse(), room.data());
    each_normalised(room.data(), out);
  }
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    if (wanted.kind == Wanted::kPosteriors) return learn_showing(x, k, weight, wanted.out), -1;
    show(x, wanted);
    const int64_t given = answer(x);
    Scratch unasked(kRates * classes());
    learn_showing(x, k, weight, unasked.data());
    return given;
  }
  void forget() override {
    std::fill(arrival_.begin(), arrival_.end(), -1);
    awake_ = 0;
    for (Rate &each : rates_) each.reset();
    clear();
  }
  void appear(const int64_t *, int64_t count) override {
    slots_ += count;
    weights_.resize(slots_ * classes() * kRates);
    squares_.resize(slots_ * kRates);
  }

  // Under the names of four learners.
  void visit(State &state) override {
    int64_t first = 0;
    visit_as_members(state, first);
  }
  void visit_as_members(State &state, int64_t &index) override {
    for (int64_t r = 0; r < kRates; r++) {
      const std::string prefix = "member" + std::to_string(index++) + "_";
      if (state.wants(prefix)) state.under(prefix, [&] { visit_one(state, r); });
    }
  }

 protected:
  void insert(int64_t at) override {
    Buffer wider(slots_ * (classes() + 1) * kRates);
    for (int64_t j = 0; j < slots_; j++) {
      const double *from = weights_.data() + j * classes() * kRates;
      double *to = wider.data() + j * (classes() + 1) * kRates;
      std::copy_n(from, at * kRates, to);
      std::copy_n(from + at * kRates, (classes() - at) * kRates, to + (at + 1) * kRates);
    }
    weights_ = std::move(wider);
    arrival_.insert(arrival_.begin() + at, -1);
    insert_row(bias_, at, kRates);
    score_.resize(bias_.size());
  }

 private:
  using Lane = VectorOf<kRates>::type;

  // A step that leaves the probabilities before it in `out`.
  void learn_showing(RowView x, int64_t k, double weight, double *out) {
    const SparseRow &row = x.sparse();
    score(row, score_.data());
    each_normalised(score_.data(), out);
    if (arrival_[k] >= 0) return learn(row, k, weight, out);
    arrival_[k] = awake_++;
    store<Lane>(score_.data() + k * kRates, Lane{});  // its weights are zero
    Scratch woken(kRates * classes());
    each_normalised(score_.data(), woken.data());
    learn(row, k, weight, woken.data());
  }
  void clear() {
    for (Buffer *values : {&weights_, &squares_, &bias_}) values->fill(0);
    bias_square_.assign(kRates, 0.0);
  }

  // Of each class, in all lanes; added up in the order of SparseWeights::dots.
  void score(const SparseRow &x, double *out) const {
    const int64_t c = classes();
    const double *all = weights_.data();
    if (c == 2) {
      Lane first[4] = {}, second[4] = {};  // that do not wait for one another
      int64_t i = 0;
      for (; i + 4 <= x.count; i += 4)
        for (int k = 0; k < 4; k++) {
          const double *w = all + 2 * kRates * int64_t(x.slots[i + k]);
          first[k] += load<Lane>(w) * x.values[i + k];
          second[k] += load<Lane>(w + kRates) * x.values[i + k];
        }
      for (; i < x.count; i++) {
        const double *w = all + 2 * kRates * int64_t(x.slots[i]);
        first[0] += load<Lane>(w) * x.values[i];
        second[0] += load<Lane>(w + kRates) * x.values[i];
      }
      store<Lane>(out, (first[0] + first[1]) + (first[2] + first[3]));
      store<Lane>(out + kRates, (second[0] + second[1]) + (second[2] + second[3]));
    } else {
      std::fill_n(out, c * kRates, 0.0);
      for (int64_t i = 0; i < x.count; i++) {
        const double *w = all + c * kRates * int64_t(x.slots[i]);
        for (int64_t j = 0; j < c * kRates; j += kRates)
          store<Lane>(out + j, load<Lane>(out + j) + load<Lane>(w + j) * x.values[i]);
      }
    }
    for (int64_t k = 0; k < c; k++) {
      const Lane sum = load<Lane>(bias_.data() + k * kRates) + load<Lane>(out + k * kRates);
      store<Lane>(out + k * kRates, arrival_[k] < 0 ? Lane{} - __builtin_inf() : sum);
    }
  }
  // Scores, class by class, become the probabilities of each member, member by member.
  void each_normalised(const double *scores, double *out) const {
    for (int64_t r = 0; r < kRates; r++, out += classes()) {
      for (int64_t c = 0; c < classes(); c++) out[c] = scores[c * kRates + r];
      normalise(out);
    }
  }

  void learn(const SparseRow &x, int64_t k, double weight, const double *probabilities) {
    const int64_t c = classes();
    Scratch room(c * kRates);
    double *pulls = room.data();
    for (int64_t j = 0; j < c; j++)
      for (int64_t r = 0; r < kRates; r++)
        pulls[j * kRates + r] = arrival_[j] < 0 ? 0 : (j == k) - probabilities[r * c + j];
    Lane grown = {};
    for (int64_t j = 0; j < c * kRates; j += kRates) grown += load<Lane>(pulls + j) * load<Lane>(pulls + j);
    const Lane square = load<Lane>(bias_square_.data()) + grown, bias_step = 1 / root(load<Lane>(initial_) + square);
    store<Lane>(bias_square_.data(), square);
    const Lane length = scale(x, grown, bias_step);
    Lane step;
    for (int64_t r = 0; r < kRates; r++) step[r] = std::min(weight * rates_[r].next(false), 4 / length[r]);
    for (int64_t j = 0; j < c * kRates; j += kRates) {
      const Lane pull = load<Lane>(pulls + j) * step;
      store<Lane>(pulls + j, pull);
      store<Lane>(bias_.data() + j, load<Lane>(bias_.data() + j) + bias_step * pull);
    }
    const double *scaled = scaled_.data();
    for (int64_t i = 0; i < x.count; i++, scaled += kRates) {
      double *w = weights_.data() + c * kRates * int64_t(x.slots[i]);
      const Lane own = load<Lane>(scaled);
      for (int64_t j = 0; j < c * kRates; j += kRates)
        store<Lane>(w + j, load<Lane>(w + j) + load<Lane>(pulls + j) * own);
    }
  }
  // The values times the steps of their features, which learn the gradients of the row (FeatureSteps::learn). Returns x'Sx.
  Lane scale(const SparseRow &x, const Lane &grown, Lane sum) {
    if (int64_t(scaled_.size()) < x.count * kRates) scaled_.resize(x.count * kRates);
    double *scaled = scaled_.data(), *squares = squares_.data();
    const Lane initial = load<Lane>(initial_);
    for (int64_t i = 0; i < x.count; i++, scaled += kRates) {
      const double value = x.values[i];
      double *own = squares + kRates * int64_t(x.slots[i]);
      const Lane square = load<Lane>(own) + grown * value * value;
      store<Lane>(own, square);
      const Lane step = value / root(initial + square);
      store<Lane>(scaled, step);
      sum += step * value;
    }
    return sum;
  }

  static THALWEG_INLINE Lane root(Lane values) {
    for (int64_t r = 0; r < kRates; r++) values[r] = std::sqrt(values[r]);
    return values;
  }

  void visit_one(State &state, int64_t r) {
    visit_classes(state);
    state.integers("arrival", arrival_, classes());
    awake_ = std::count_if(arrival_.begin(), arrival_.end(), [](int64_t a) { return a >= 0; });
    visit_lane(state, "bias", bias_, 1, classes(), r);
    visit_lane(state, "weights", weights_, slots_, classes(), r);
    rates_[r].visit(state);
    visit_lane(state, "squares", squares_, 1, slots_, r);
    if (!std::all_of(squares_.begin(), squares_.end(), amount)) throw BadState("squares");
    state.real("bias_square", bias_square_[r], amount);
    double unit = 1;  // squares that do not fade are kept as they are
    state.real("squares_unit", unit, within(1.0, 1.0));
  }
  // One lane of values, as a matrix.
  static void visit_lane(State &state, const char *name, Buffer &values, int64_t rows, int64_t columns, int64_t r) {
    Buffer own(rows * columns);
    for (int64_t i = 0; i < rows * columns; i++) own[i] = values[i * kRates + r];
    state.matrix(name, own, rows, columns, columns);
    for (int64_t i = 0; i < rows * columns; i++) values[i * kRates + r] = own[i];
  }

  std::vector<Rate> rates_;
  double initial_[kRates];
  std::vector<int64_t> arrival_;  // in which order the classes came; -1: not yet
  int64_t slots_ = 0, awake_ = 0;
  Buffer weights_, squares_;                    // of a feature: class by class, and one, with all lanes each
  Buffer bias_, bias_square_, score_, scaled_;  // the last two: of the row at hand
};

}  // namespace thalweg::THALWEG_LEVEL
