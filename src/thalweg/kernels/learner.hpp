// What every compiled learner can do: answer a row, learn its label, give its state out and take it back.
//
// A row is p doubles, a class is an index 0 … c - 1. A class that was announced but never seen is inert: it is
// never answered and changes nothing, so a whole chunk's classes can be announced before its first row.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

// Shares exp(-sharpness loss), made to sum to one.
void mixing_shares(const double *losses, int64_t count, double sharpness, double *out);

// The share of a row that counts `times` times, where one that counts once has this share: 1 - (1 - share)^times.
inline double repeated(double share, double times) {
  return times == 1 ? share : -std::expm1(times * std::log1p(-share));
}

// Rows are checked, before they are learned, in blocks of so many doubles (bindings/core.hpp). While a row is learned the
// one a block later is prefetched.
constexpr int64_t kBlockOfRows = 1 << 13;
THALWEG_INLINE void fetch_ahead(const double *x, int64_t p) {
  for (int64_t j = 0; j < p; j += 8) __builtin_prefetch(x + kBlockOfRows + j, 0, 2);
}

// What a test-then-train run may write, a row each; null where it is not wanted.
struct Outputs {
  int64_t *answers = nullptr;
  double *scores = nullptr;  // rows x classes, before the row
  double *rates = nullptr;   // after the row
  double *shares = nullptr;  // rows x members, before the row
  bool *sets = nullptr;      // rows x classes, whether each is in the set of the row; only with scores

  // The same behind some rows, for a learner without members.
  Outputs after(int64_t rows, int64_t classes) const {
    return {answers ? answers + rows : nullptr, scores ? scores + rows * classes : nullptr,
            rates ? rates + rows : nullptr, nullptr};
  }
};

class Learner {
 public:
  explicit Learner(int64_t features) : features_(features) {}
  virtual ~Learner();
  virtual Learner *copy() const = 0;

  int64_t features() const { return features_; }
  int64_t classes() const { return classes_; }

  // A class takes its place at index `at`; those behind it move up.
  void announce(int64_t at) {
    insert(at);
    classes_++;
  }
  // Features of sparse rows (rows/sparse_row.hpp) that were never there get the next slots; these are their numbers.
  virtual void appear(const int64_t *, int64_t) {}
  // One discriminant per class, -infinity for a class never seen.
  virtual void scores(const double *x, double *out) const = 0;
  // The class of the highest score, the lowest index at a tie, -1 where no class was seen; another where it `decides`.
  virtual int64_t answer(const double *x) const;
  virtual bool decides() const { return false; }
  // The answer to x as it would have been given before its label k, which is then learned.
  virtual int64_t step(const double *x, int64_t k) = 0;
  // The same for a row that counts as many: one that counts once is `step` to the last bit, one that counts for nothing
  // is only answered.
  int64_t counted_step(const double *x, int64_t k, double weight) {
    return weight == 1 ? step(x, k) : weight > 0 ? weighted_step(x, k, weight) : answer(x);
  }
  // `counted_step`, with what `posteriors` would have given before it: one pass where both need the same.
  virtual void judged_step(const double *x, int64_t k, double weight, double *out);
  // `counted_step`, with what `probabilities` would have given before it.
  virtual int64_t probable_step(const double *x, int64_t k, double weight, double *out);
  // `counted_step`, with what `scores` would have given before it.
  virtual int64_t scored_step(const double *x, int64_t k, double weight, double *out);
  // Forget everything and begin from these rows.
  virtual void begin(const double *X, const int64_t *y, int64_t rows) = 0;
  virtual void weighted_begin(const double *X, const int64_t *y, const double *weights, int64_t rows);
  virtual double rate() const = 0;
  // Probabilities are the softmax of the scores times this.
  virtual double confidence() const { return 1; }
  virtual void visit(State &state) = 0;
  // As one member of a committee or several, of which this is the first one's number: the next one's is left in it.
  virtual void visit_as_members(State &state, int64_t &index);
  // Of so many rows, how many are looked at before they are learned: as many as stay in the cache, or all where a look is
  // hardly felt.
  int64_t rows_to_look_at(int64_t rows) const {
    return outweighs_a_look() ? std::max<int64_t>(1, rows) : std::max<int64_t>(64, kBlockOfRows / features_);
  }
  virtual bool outweighs_a_look() const { return false; }
  virtual bool may_fail() const { return false; }  // learning may throw: a member that lives in Python

  // The probabilities of each of a learner's voices: one, unless it is a bank whose members can be told apart.
  virtual int64_t voices() const { return 1; }
  virtual void posteriors(const double *x, double *out) const;
  // The probability of each class; all alike where none was seen.
  void probabilities(const double *x, double *out) const;
  // Scores become probabilities.
  void normalise(double *scores) const;

  // What a learner keeps of a prediction until its label comes, in bytes; 0: nothing. `keep` also gives the scores.
  virtual int64_t kept_size() const { return 0; }
  virtual void keep(const double *x, double *scored, uint8_t *) const { scores(x, scored); }
  // Marks those of the bytes that stand for a class: its index + 1, 0 for none, 255 for one that has no byte.
  virtual void mark_classes(bool *) const {}
  // The next row to be learned was predicted with this.
  virtual void judge_by(const uint8_t *) {}

  // The score from which on a class is in the set of a row, for a learner that gives sets.
  virtual double least_in_set() const { return __builtin_inf(); }

  // A learner made of others: how many, and the share each has in the answer.
  virtual int64_t members() const { return 0; }
  virtual void shares(double *) const {}

  // Test-then-train.
  virtual void run(const double *X, const int64_t *y, int64_t rows, const Outputs &out);
  virtual void weighted_run(const double *X, const int64_t *y, const double *weights, int64_t rows, const Outputs &out);

  // Answers and learns in any order: i stands for "answer row i", -1 - i for "learn row i". `kept`, where it is given, has
  // kept_size() bytes for each row, at its number or its place: what was kept of rows that were answered before, and of
  // those answered now. Rows may count by `masses`.
  template <class Access>
  void follow(Access X, const int64_t *y, const double *masses, const int64_t *order, int64_t steps, const Outputs &out,
              uint8_t *kept, const int64_t *places) {
    const int64_t size = kept ? kept_size() : 0;
    const auto kept_of = [&](int64_t row) { return kept + (places ? places[row] : row) * size; };
    Buffer room(classes_);
    for (int64_t i = 0; i < steps; i++) {
      const int64_t row = order[i] < 0 ? -1 - order[i] : order[i];
      const double mass = masses ? masses[row] : 1;
      if (order[i] < 0) {
        const double *x = X.to_learn(row);
        const Judged judged{*this, size ? kept_of(row) : nullptr};
        counted_step(x, y[row], mass);
        continue;
      }
      const bool then_learned = i + 1 < steps && order[i + 1] == -1 - row;  // whose answer comes for nothing
      const double *x = then_learned ? X.to_learn(row) : X.at(row);
      i += then_learned;
      double *scored = out.scores ? out.scores + row * classes_ : nullptr;
      const double least = least_in_set();
      if (then_learned) {
        out.answers[row] = scored ? scored_step(x, y[row], mass, scored) : counted_step(x, y[row], mass);
      } else if (size) {
        double *own = scored ? scored : room.data();
        keep(x, own, kept_of(row));
        out.answers[row] = decides() ? answer(x) : highest(own, classes_);
      } else {
        if (scored) scores(x, scored);
        out.answers[row] = answer(x);
      }
      for (int64_t c = 0; out.sets && c < classes_; c++) out.sets[row * classes_ + c] = scored[c] >= least;
    }
  }

  // Train-then-test: after each row, the mistakes on that row's own `tests` test rows.
  void learn_then_test(const double *X, const int64_t *y, int64_t rows, const double *test_X, const int64_t *test_y,
                       int64_t tests, int64_t *mistakes);
  virtual int64_t mistakes_on(const double *X, const int64_t *y, int64_t rows) const;

  // The class of the highest score, the lowest index at a tie, -1 where there is none.
  static THALWEG_INLINE int64_t highest(const double *score, int64_t classes) {
    int64_t best = -1;
    double top = -__builtin_inf();
    for (int64_t c = 0; c < classes; c++) {  // without a branch: answers are hard to foresee
      const bool higher = score[c] > top;
      best = higher ? c : best;
      top = higher ? score[c] : top;
    }
    return best;
  }

 protected:
  virtual void insert(int64_t at) = 0;
  virtual int64_t weighted_step(const double *x, int64_t k, double weight);

  // The loop of `run`; a final class that passes itself has its steps inlined.
  template <class Self>
  static void run_as(Self &self, const double *X, const int64_t *y, int64_t rows, const Outputs &out) {
    const int64_t p = self.features_, c = self.classes_, members = self.members();
    if (out.answers && !out.scores && !out.rates && !out.shares) {
      for (int64_t i = 0; i < rows; i++) {
        fetch_ahead(X + i * p, p);
        out.answers[i] = self.step(X + i * p, y[i]);
      }
      return;
    }
    for (int64_t i = 0; i < rows; i++) {
      fetch_ahead(X + i * p, p);
      if (out.shares) self.shares(out.shares + i * members);
      const int64_t given =
          out.scores ? self.scored_step(X + i * p, y[i], 1, out.scores + i * c) : self.step(X + i * p, y[i]);
      if (out.answers) out.answers[i] = given;
      if (out.rates) out.rates[i] = self.rate();
    }
  }

  // Whoever restores a state learns the number of classes first.
  void visit_classes(State &state);

  template <class Vector> static void insert_row(Vector &values, int64_t at, int64_t width) {
    values.insert(values.begin() + at * width, width, 0);
  }

 private:
  // A row is judged by what was kept of it, and no other row, also where learning fails or the row has no weight.
  struct Judged {
    Learner &learner;
    const uint8_t *kept;
    Judged(Learner &learner, const uint8_t *kept) : learner(learner), kept(kept) {
      if (kept) learner.judge_by(kept);
    }
    ~Judged() {
      if (kept) learner.judge_by(nullptr);
    }
  };

  int64_t features_, classes_ = 0;
};

// A learner whose answer rests on running class means and a linear discriminant per class,
//     g_c(x) = ln P_c - m_c'w_c / 2 + w_c'x,      w_c = (its metric) m_c,
// and that lets others put other means in their place.
class MeanLearner : public Learner {
 public:
  using Learner::Learner;
  MeanLearner *copy() const override = 0;
  virtual bool starting() const = 0;                             // every row so far belongs to the start
  virtual double last_gain() const = 0;                          // by which the last row moved its class's mean
  virtual const double *mean(int64_t c) const = 0;               // as `localise` measures
  virtual void localise(const double *x, double *to) const = 0;  // a row as the means are measured
  virtual double log_prior_of(int64_t c) const = 0;              // -infinity for a class never seen
  virtual void weigh(const double *mean, double *w) = 0;         // w = (metric) mean
};

}  // namespace thalweg::THALWEG_LEVEL
