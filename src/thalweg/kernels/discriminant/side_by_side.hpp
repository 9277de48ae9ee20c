// Streams of a few features side by side, eight discriminants in the lanes of the processor's vectors: for sweeps.
//
// A lane does what the learner by itself would do, in the same lines (row.hpp), and so ends with the same
// bits. The rows of the start are left to the learner. Rates may differ from lane to lane; two classes, and one rate for
// all lanes, are the fast cases. O(p^2 + classes p) a row; at p = 2 and two classes 262 instructions for eight rows, of which
// 150 work on vectors, two of them at a time.
#pragma once

#include "discriminant/discriminant.hpp"
#include "fleet/flat_state.hpp"
#include "rows/values.hpp"

namespace thalweg::THALWEG_LEVEL {

// A model, rows, labels, where answers go; how many of them were wrong, and the words of the model after the last row.
struct Run {
  const Learner *model;
  const double *X;
  const int64_t *y;
  int8_t *answers;
  int64_t mistakes = 0;
  std::vector<double> words = {};
};

THALWEG_NOINLINE inline void put_in_lane(const Buffer &from, double *to) {
  for (std::size_t i = 0; i < from.size(); i++) to[i * Lanes::kCount] = from[i];
}
THALWEG_NOINLINE inline void take_from_lane(const double *from, Buffer &to) {
  for (std::size_t i = 0; i < to.size(); i++) to[i] = from[i * Lanes::kCount];
}

template <int P> class SideBySide {
 public:
  // The model, where its runs can go side by side.
  static const AnyDiscriminant *fitting(const Learner *model) {
    const auto *found = dynamic_cast<const Lone *>(model);
    return found && found->is_plain() ? found : nullptr;
  }

  // Test-then-train over as many rows each; false where a value or a label is none.
  bool run(const std::vector<Run *> &runs, int64_t rows) {
    for (std::size_t from = 0; from < runs.size(); from += kCount)
      if (!run_eight(&runs[from], int(std::min<std::size_t>(runs.size() - from, kCount)), rows)) return false;
    return true;
  }

 private:
  using Lone = Discriminant<P>;
  template <class S>
  using Two = DiscriminantRow<P, Lanes, S, TwoClassState<P, Lanes, S>, SmallFactor<P, Lanes, BareEntries<P, Lanes>>>;
  using Many = DiscriminantRow<P, Lanes, Lanes>;
  static constexpr int kCount = Lanes::kCount;
  static constexpr int64_t kBlock = 64;  // rows that are turned at a time

  // A learner that is reused by one run after another, and the words of its model before the first row. It is held as a
  // `Learner`: what it does by itself is compiled elsewhere.
  struct Slot {
    const Learner *model = nullptr;
    std::unique_ptr<Learner> learner;
    FlatWriter fresh;
  };

  static const Lone &model(const Run &run) { return static_cast<const Lone &>(*run.model); }

  bool run_eight(Run *const *runs, int count, int64_t rows) {
    const int64_t start = std::min(rows, model(*runs[0]).warm_left);
    for (int i = 0; i < count; i++)
      if (!begin(*runs[i], slots_[i], start)) return false;
    if (start < rows && !(kLanes > 2 && model(*runs[0]).classes() == 2 ? run_two_classes(runs, count, start, rows)
                                                                       : learn<Many>(runs, count, start, rows)))
      return false;
    for (int i = 0; i < count; i++) {
      words_.restart();
      slots_[i].learner->visit(words_);
      runs[i]->words.assign(words_.words(), words_.words() + words_.count());
    }
    return true;
  }
  // Specialised for two classes: constant places, and a scalar rate if all lanes share one. It gains nothing with two-lane
  // vectors and is not compiled there.
  bool run_two_classes(Run *const *runs, int count, int64_t start, int64_t rows) {
    if constexpr (kLanes > 2) {
      using OneRate = Two<std::conditional_t<kLanes == kCount, double, Lanes>>;
      return have_one_rate(runs, count) ? learn<OneRate>(runs, count, start, rows)
                                        : learn<Two<Lanes>>(runs, count, start, rows);
    }
    return false;
  }
  static bool have_one_rate(Run *const *runs, int count) {
    for (int i = 0; i < count; i++)
      if (model(*runs[i]).rate_.kind() != Rate::kConstant || model(*runs[i]).rate_.value != model(*runs[0]).rate_.value)
        return false;
    return true;
  }
  static bool begin(Run &run, Slot &slot, int64_t start) {
    if (!are_values(run.X, start * P) || !are_places(run.y, start, run.model->classes())) return false;
    if (slot.model == run.model) {
      FlatReader fresh(slot.fresh.words(), slot.fresh.count());
      slot.learner->visit(fresh);
    } else {
      slot.model = run.model;
      slot.learner.reset(run.model->copy());
      slot.fresh.restart();
      slot.learner->visit(slot.fresh);
    }
    for (int64_t t = 0; t < start; t++) {
      const int64_t given = slot.learner->step(run.X + t * P, run.y[t]);
      run.answers[t] = int8_t(given);
      run.mistakes += given != run.y[t];
    }
    return true;
  }
  template <class Row> bool learn(Run *const *runs, int count, int64_t start, int64_t rows) {
    Group<Row> group(runs, slots_, count);
    for (int64_t at = start; at < rows; at += kBlock)
      if (!group.run(at, std::min(kBlock, rows - at))) return false;
    group.give_back(rows - start);
    return true;
  }

  // Up to eight runs; lanes without one repeat the last, for nothing.
  template <class Row> class Group {
    using S = typename Row::Shared;

   public:
    THALWEG_NOINLINE Group(Run *const *runs, const Slot *slots, int count)
        : runs_(runs), slots_(slots), count_(count),
          row_(Row::width_for(P), Row::width_for(P).stride(), model(*runs[0]).options) {
      for (int64_t c = 0; c < model(*runs[0]).classes(); c++) row_.insert_class(c);
      S rates{};
      for (int lane = 0; lane < kCount; lane++) {
        take(lane);
        set(rates, lane, learner(lane).rate_.value);
        constant_ &= learner(lane).rate_.kind() == Rate::kConstant;
      }
      always_ = ShareOf<S>::once(rates);
    }

    THALWEG_NOINLINE bool run(int64_t at, int64_t rows) {
      const void *X[kCount], *y[kCount];
      int8_t *answers[kCount];
      for (int lane = 0; lane < kCount; lane++) {
        X[lane] = run_of(lane).X + at * P;
        y[lane] = run_of(lane).y + at;
        answers[lane] = run_of(lane).answers + at;  // the same several times where lanes repeat a run
      }
      Transpose::in(X, rows * P, X_);
      Transpose::in(y, rows, y_);
      if (!are_good(rows)) return false;
      for (int64_t t = 0; t < rows; t++) {
        fetch(run_of(t % kCount), at + kBlock, t / kCount);
        step(t);
      }
      Transpose::bytes_out(answers_, rows, answers);
      return true;
    }
    void give_back(int64_t rows) {
      for (int lane = 0; lane < count_; lane++) give_back(lane, rows);
    }

   private:
    // Of a run in the next block: so many streams at once the processor does not foresee, and all of them at once would
    // keep it waiting.
    static THALWEG_INLINE void fetch(const Run &run, int64_t at, int64_t part) {
      for (int64_t i = 0; i < P; i++) __builtin_prefetch(run.X + (at + part * 8) * P + 8 * i);
      __builtin_prefetch(run.y + at + part * 8);
    }
    const Run &run_of(int lane) const { return *runs_[std::min(lane, count_ - 1)]; }
    Lone &learner(int lane) const { return static_cast<Lone &>(*slots_[std::min(lane, count_ - 1)].learner); }

    // Whether all values that were turned are numbers and all labels places of classes.
    bool are_good(int64_t rows) const {
      return are_values(X_, rows * P * kCount) && are_places(y_, rows * kCount, row_.known);
    }

    THALWEG_INLINE void step(int64_t t) {
      alignas(64) double z[P * kCount];
      const LaneIndex k = LaneIndex::load(y_ + t * kCount);
      row_.width.difference(X_ + t * P * kCount, row_.origin.data(), z);
      const LaneIndex given = row_.answer_to(z);
      given.store_bytes(answers_ + t * kCount);
      const LaneMask wrong = given != k;
      mistakes_ = mistakes_ + pick(wrong, LaneIndex(1), LaneIndex(0));
      const MoveOf<Lanes, S> move(row_.options, k, row_.count_of(k), row_.total, constant_ ? always_ : share(wrong));
      row_.tidy(row_.follow(z, move));
      row_.count_row(move);
    }
    ShareOf<S> share(const LaneMask &wrong) {
      S rates{};
      for (int lane = 0; lane < count_; lane++) set(rates, lane, learner(lane).rate_.next(is_set(wrong, lane)));
      for (int lane = count_; lane < kCount; lane++) set(rates, lane, learner(lane).rate_.value);
      return ShareOf<S>::once(rates);
    }

    THALWEG_NOINLINE void take(int lane) {
      each_array(learner(lane), row_, [&](const Buffer &from, auto &to) { put_in_lane(from, to.data() + lane); });
      each_number(learner(lane), row_, [&](auto from, auto &to) { set(to, lane, from); });
    }
    THALWEG_NOINLINE void give_back(int lane, int64_t rows) {
      learner(lane).rows += rows;
      runs_[lane]->mistakes += mistakes_[lane];
      each_array(learner(lane), row_, [&](Buffer &to, const auto &from) { take_from_lane(from.data() + lane, to); });
      each_number(learner(lane), row_, [&](auto &to, const auto &from) { to = get(from, lane); });
    }
    static void set(LaneIndex &to, int lane, int64_t value) { to.set(lane, value); }
    static int64_t get(const LaneIndex &from, int lane) { return from[lane]; }
    static void set(double &to, int, double value) { to = value; }
    static void set(Lanes &to, int lane, double value) { to.v[lane / kLanes][lane % kLanes] = value; }
    static double get(double from, int) { return from; }
    static double get(const Lanes &from, int lane) { return from[lane]; }

    Run *const *runs_;
    const Slot *slots_;
    int count_;
    bool constant_ = true;  // no rate waits for the answers
    Row row_;
    ShareOf<S> always_;
    LaneIndex mistakes_ = 0;
    alignas(64) double X_[kBlock * P * kCount];
    alignas(64) int64_t y_[kBlock * kCount];
    alignas(64) int8_t answers_[kBlock * kCount];
  };

  Slot slots_[kCount];
  FlatWriter words_;
};

}  // namespace thalweg::THALWEG_LEVEL
