// What every compiled learner can do: answer a row, learn its label, give its state out and take it back.
//
// A row is p doubles, a class is an index 0 … c - 1. A class that was announced but never seen is inert: it is
// never answered and changes nothing, so a whole chunk's classes can be announced before its first row.
#pragma once

#include "owned.hpp"
#include "rows/sparse_row.hpp"
#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

// Odds exp(-sharpness loss), relative to those of the least loss; returns their sum. And shares, which sum to one.
double mixing_odds(const double *losses, int64_t count, double sharpness, double *out);
void mixing_shares(const double *losses, int64_t count, double sharpness, double *out);

// The share of a row that counts `times` times, where one that counts once has this share: 1 - (1 - share)^times.
inline double repeated(double share, double times) {
  return times == 1 ? share : -std::expm1(times * std::log1p(-share));
}

// How many threads may learn in one call: what THALWEG_THREADS says, else one.
int threads_of_a_call();

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

  // The same behind some rows.
  Outputs after(int64_t rows, int64_t classes, int64_t members = 0) const {
    return {answers ? answers + rows : nullptr, scores ? scores + rows * classes : nullptr,
            rates ? rates + rows : nullptr, shares ? shares + rows * members : nullptr};
  }
};

// The rows of a matrix, as a learner takes them.
struct DenseAccess {
  const double *X;
  int64_t rows, p;
  const double *at(int64_t i) const { return X + i * p; }
  const double *to_learn(int64_t i) const {
    fetch_ahead(at(i), p);
    return at(i);
  }
};

template <class Access> constexpr bool kDense = std::is_same_v<Access, DenseAccess>;

// What is the same for a learner's whole life.
struct Traits {
  double confidence = 1;          // probabilities are the softmax of the scores times this
  int64_t members = 0;            // of a learner made of others: how many have a share in the answer
  int64_t posteriors = 1;         // sets of probabilities: one, unless it is a bank whose members can be told apart
  int64_t kept_size = 0;          // bytes that it keeps of a prediction until its label comes; 0: nothing
  bool decides = false;           // it may answer another class than that of the highest score
  bool outweighs_a_look = false;  // learning a row takes so long that looking at it before is hardly felt
  bool may_fail = false;          // learning may throw: a member that lives in Python
  bool foresees = false;          // what it finds out of a row to be predicted can serve to learn it
};

// Rows that are learned one after the other; null weights: each counts once.
struct RowsToLearn {
  const double *X;
  const int64_t *y;
  const double *weights;
  int64_t rows;
};

// Memory that the next learner of a row needs, asked for little by little while another one works: all at once it is waited for.
struct Fetches {
  const float *const *next = nullptr, *const *end = nullptr;
  THALWEG_INLINE void some(int64_t count) {
    for (; count > 0 && next != end; count--) __builtin_prefetch(*next++, 1);
  }
  void rest() { some(end - next); }
};

// What a step gives of before it, beside the answer, in `out`; and what is fetched meanwhile, or null.
struct Wanted {
  enum Kind { kNothing, kScores, kProbabilities, kPosteriors } kind = kNothing;
  double *out = nullptr;
  Fetches *meanwhile = nullptr;
};

class Learner {
 public:
  explicit Learner(int64_t features, const Traits &traits = {}) : traits_(traits), features_(features) {}
  virtual ~Learner();
  virtual Learner *copy() const = 0;

  int64_t features() const { return features_; }
  int64_t classes() const { return classes_; }
  const Traits &traits() const { return traits_; }
  int64_t members() const { return traits_.members; }

  // A class takes its place at index `at`; those behind it move up.
  void announce(int64_t at) {
    insert(at);
    classes_++;
  }
  // Features of sparse rows (rows/sparse_row.hpp) that were never there get the next slots; these are their numbers.
  virtual void appear(const int64_t *, int64_t) {}
  // One discriminant per class, -infinity for a class never seen.
  virtual void scores(RowView x, double *out) const = 0;
  // The class of the highest score, the lowest index at a tie, -1 where no class was seen; another where it `decides`.
  virtual int64_t answer(RowView x) const;
  // The answer to x as it would have been given before its label k, which is then learned as that of a row that counts
  // `weight` times; one that counts for nothing is only answered. Where posteriors are wanted the answer may be missing.
  int64_t step(RowView x, int64_t k, double weight = 1, const Wanted &wanted = {}) {
    if (weight > 0) return take_step(x, k, weight, wanted);
    show(x, wanted);
    return answer(x);
  }
  // The same of a row that counts for something.
  virtual int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) = 0;
  // Learns rows; the posteriors of each, just before it was learned, are left `apart` from those of the next.
  virtual void learn_rows(const RowsToLearn &some, double *said, int64_t apart);
  // As before the first row, but for the classes.
  virtual void forget() = 0;
  // Forget everything and begin from these rows; null weights: each counts once.
  virtual void begin(const double *X, const int64_t *y, const double *weights, int64_t rows);
  virtual double rate() const { return std::nan(""); }
  virtual void visit(State &state) = 0;
  // As one member of a committee or several, of which this is the first one's number: the next one's is left in it.
  virtual void visit_as_members(State &state, int64_t &index);
  // Of so many rows, how many are looked at before they are learned: as many as stay in the cache, or all where a look is
  // hardly felt.
  int64_t rows_to_look_at(int64_t rows) const {
    return traits_.outweighs_a_look ? std::max<int64_t>(1, rows) : std::max<int64_t>(64, kBlockOfRows / features_);
  }

  // Scores and posteriors of a row that may be the next one to be learned: what is found out of it may be kept until then.
  // Nobody else reads meanwhile. What the learner knows does not change.
  virtual void foresee_scores(RowView x, double *out) { scores(x, out); }
  virtual void foresee(RowView x, double *out) { posteriors(x, out); }
  // This row will be learned next, once another learner has done so: the memory that it needs.
  virtual void expect(RowView, Fetches &) {}

  // The sets of probabilities of a learner, one after the other.
  virtual void posteriors(RowView x, double *out) const;
  // The probability of each class; all alike where none was seen.
  void probabilities(RowView x, double *out) const;
  // Scores become probabilities.
  void normalise(double *scores) const;

  // Writes what it keeps of a prediction. `keep` also gives the scores.
  virtual void keep(RowView x, double *scored, uint8_t *) const { scores(x, scored); }
  // Marks those of the bytes that stand for a class: its index + 1, 0 for none, 255 for one that has no byte.
  virtual void mark_classes(bool *) const {}
  // The next row to be learned was predicted with this.
  virtual void judge_by(const uint8_t *) {}

  // The score from which on a class is in the set of a row, for a learner that gives sets.
  virtual double least_in_set() const { return __builtin_inf(); }

  // The share each member has in the answer.
  virtual void shares(double *) const {}

  // Test-then-train.
  virtual void run(const double *X, const int64_t *y, const double *weights, int64_t rows, const Outputs &out);
  // The same over rows of any kind; a final class that passes itself has its steps inlined.
  template <class Self, class Access>
  static void run_as(Self &self, Access X, const int64_t *y, const double *weights, const Outputs &out) {
    const int64_t c = self.classes_, members = self.members();
    if (out.answers && !out.scores && !out.rates && !out.shares && !weights) {
      for (int64_t i = 0; i < X.rows; i++) out.answers[i] = self.take_step(X.to_learn(i), y[i], 1, {});
      return;
    }
    for (int64_t i = 0; i < X.rows; i++) {
      const RowView x = X.to_learn(i);
      const double weight = weights ? weights[i] : 1;
      if (out.shares) self.shares(out.shares + i * members);
      const int64_t given =
          out.scores ? self.step(x, y[i], weight, {Wanted::kScores, out.scores + i * c}) : self.step(x, y[i], weight);
      if (out.answers) out.answers[i] = given;
      if (out.rates) out.rates[i] = self.rate();
    }
  }

  // Answers and learns in any order: i stands for "answer row i", -1 - i for "learn row i". `kept`, where it is given, has
  // kept_size() bytes for each row, at its number or its place: what was kept of rows that were answered before, and of
  // those answered now. Rows may count by `masses`.
  template <class Access>
  void follow(Access X, const int64_t *y, const double *masses, const int64_t *order, int64_t steps, const Outputs &out,
              uint8_t *kept, const int64_t *places) {
    const int64_t size = kept ? traits_.kept_size : 0;
    const auto kept_of = [&](int64_t row) { return kept + (places ? places[row] : row) * size; };
    Buffer room(classes_);
    for (int64_t i = 0; i < steps; i++) {
      const int64_t row = order[i] < 0 ? -1 - order[i] : order[i];
      const double mass = masses ? masses[row] : 1;
      if (order[i] < 0) {
        const RowView x = X.to_learn(row);
        const Judged judged{*this, size ? kept_of(row) : nullptr};
        step(x, y[row], mass);
        continue;
      }
      const bool then_learned = i + 1 < steps && order[i + 1] == -1 - row;  // whose answer comes for nothing
      const RowView x = then_learned ? X.to_learn(row) : X.at(row);
      i += then_learned;
      double *scored = out.scores ? out.scores + row * classes_ : nullptr;
      const double least = least_in_set();
      if (then_learned) {
        out.answers[row] = step(x, y[row], mass, {scored ? Wanted::kScores : Wanted::kNothing, scored});
      } else if (size) {
        double *own = scored ? scored : room.data();
        keep(x, own, kept_of(row));
        out.answers[row] = traits_.decides ? answer(x) : highest(own, classes_);
      } else {
        if (scored) scores(x, scored);
        out.answers[row] = answer(x);
      }
      for (int64_t c = 0; out.sets && c < classes_; c++) out.sets[row * classes_ + c] = scored[c] >= least;
    }
  }

  // How many of these rows it would answer wrongly.
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

  // What is wanted of a row, as it is now; and out of its scores, by a learner with one set of probabilities.
  THALWEG_INLINE void show(RowView x, const Wanted &wanted) const {
    if (wanted.kind != Wanted::kNothing) show_now(x, wanted);
  }
  THALWEG_INLINE void show_scores(const double *scores, const Wanted &wanted) const {
    if (wanted.kind != Wanted::kNothing) show_scores_now(scores, wanted);
  }

  // Whoever restores a state learns the number of classes first.
  void visit_classes(State &state);

  template <class Vector> static void insert_row(Vector &values, int64_t at, int64_t width) {
    values.insert(values.begin() + at * width, width, 0);
  }

  Traits traits_;

 private:
  void show_now(RowView x, const Wanted &wanted) const;
  void show_scores_now(const double *scores, const Wanted &wanted) const;

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
