// Streams of a few features side by side, eight discriminants in the lanes of the processor's vectors: for sweeps.
//
// A lane does what the learner by itself would do, in the same lines (discriminant_row.hpp), and so ends with the same
// bits. The rows of the start are left to the learner.
#pragma once

#include <array>

#include "discriminant.hpp"

namespace thalweg::THALWEG_LEVEL {

// A learner, its rows, its labels, and where its answers go.
struct Stream {
  Learner *learner;
  const double *X;
  const int64_t *y;
  int64_t *answers;
};

template <int P> class SideBySide {
 public:
  // Test-then-train over streams of as many rows each; false, and nothing done, where they do not go together.
  static bool run(const std::vector<Stream> &streams, int64_t rows) {
    if (streams.size() < 2) return false;
    for (const Stream &stream : streams)
      if (!fits(stream) || !alike(lone(streams[0]), lone(stream))) return false;
    const bool one_rate = lone(streams[0]).rate_.kind() == Rate::kConstant;
    one_rate ? run_all<double>(streams, rows) : run_all<Lanes>(streams, rows);
    return true;
  }

 private:
  using Lone = Discriminant<P>;
  static constexpr int kCount = Lanes::kCount;
  static constexpr int64_t kBlock = 64;  // rows that are turned at a time

  static Lone &lone(const Stream &stream) { return static_cast<Lone &>(*stream.learner); }
  static bool fits(const Stream &stream) {
    const auto *found = dynamic_cast<const Lone *>(stream.learner);
    return found && found->rows == 0 && !(found->options.ridge > 0);
  }
  // The same but for an error-driven rate, which goes its own way in each lane.
  static bool alike(const Lone &a, const Lone &b) {
    return a.options.soft_counts == b.options.soft_counts && a.options.covariance_2008 == b.options.covariance_2008 &&
           a.options.warmup == b.options.warmup && a.classes() == b.classes() && a.rate_.kind() == b.rate_.kind() &&
           a.rate_.value == b.rate_.value;
  }

  template <class S> static void run_all(const std::vector<Stream> &streams, int64_t rows) {
    const int64_t start = std::min(rows, lone(streams[0]).warm_left);
    for (const Stream &stream : streams)
      for (int64_t t = 0; t < start; t++) stream.answers[t] = lone(stream).step(stream.X + t * P, stream.y[t]);
    if (start == rows) return;
    for (std::size_t from = 0; from < streams.size(); from += kCount) {
      Group<S> group(&streams[from], streams.size() - from);
      for (int64_t at = start; at < rows; at += kBlock) group.run(at, std::min(kBlock, rows - at));
      group.give_back(rows - start);
    }
  }

  // Up to eight streams; lanes without one repeat the last, for nothing.
  template <class S> class Group {
   public:
    THALWEG_APART Group(const Stream *streams, std::size_t left)
        : streams_(streams), count_(int(std::min<std::size_t>(left, kCount))), row_(Row::width_for(P), Row::width_for(P).stride(), lone(streams[0]).options) {
      for (int64_t c = 0; c < lone(streams[0]).classes(); c++) row_.insert_class(c);
      for (int lane = 0; lane < kCount; lane++) take(lane);
      if constexpr (std::is_same_v<S, double>) always_ = ShareOf<S>::once(lone(streams[0]).rate_.value);
    }

    void run(int64_t at, int64_t rows) {
      const void *X[kCount], *y[kCount];
      void *answers[kCount];
      for (int lane = 0; lane < kCount; lane++) {
        const Stream &stream = streams_[std::min(lane, count_ - 1)];
        X[lane] = stream.X + at * P;
        y[lane] = stream.y + at;
        answers[lane] = stream.answers + at;  // the same several times where lanes repeat a stream
      }
      Turned::in(X, rows * P, X_);
      Turned::in(y, rows, y_);
      for (int lane = 0; lane < count_; lane++) fetch(streams_[lane], at);
      for (int64_t t = 0; t < rows; t++) step(t);
      Turned::out(answers_, rows, answers);
    }
    void give_back(int64_t rows) {
      for (int lane = 0; lane < count_; lane++) give_back(lane, rows);
    }

   private:
    // The next block's rows, and room for this one's answers: so many streams at once the processor does not foresee.
    static void fetch(const Stream &stream, int64_t at) {
      for (int64_t i = 0; i < kBlock * P; i += 8) __builtin_prefetch(stream.X + (at + kBlock) * P + i);
      for (int64_t t = 0; t < kBlock; t += 8) {
        __builtin_prefetch(stream.y + at + kBlock + t);
        __builtin_prefetch(stream.answers + at + t, 1);
      }
    }
    Lone &learner(int lane) const { return lone(streams_[std::min(lane, count_ - 1)]); }

    THALWEG_INLINE void step(int64_t t) {
      alignas(64) double z[P * kCount];
      const LaneIndex k = LaneIndex::load(y_ + t * kCount);
      row_.width.difference(X_ + t * P * kCount, row_.origin.data(), z);
      row_.answer_to(z).store(answers_ + t * kCount);
      const MoveOf<Lanes, S> move(row_.options, k, row_.count_of(k), row_.total, share(t));
      row_.tidy(row_.follow(z, move));
      row_.count_row(move);
    }

    THALWEG_INLINE ShareOf<S> share(int64_t t) {
      if constexpr (std::is_same_v<S, double>) return always_;
      else return ShareOf<S>::once(rates(t));
    }
    Lanes rates(int64_t t) {
      alignas(64) double lambda[kCount];
      for (int lane = 0; lane < kCount; lane++) {
        const int64_t at = t * kCount + lane;
        lambda[lane] = lane < count_ ? learner(lane).rate_.next(answers_[at] != y_[at]) : lambda[count_ - 1];
      }
      return Lanes::load(lambda);
    }

    using Row = DiscriminantRow<P, Lanes, S>;
    THALWEG_APART void take(int lane) {
      each_array(learner(lane), row_, [&](const Buffer &from, Buffer &to) {
        for (std::size_t i = 0; i < from.size(); i++) to[i * kCount + lane] = from[i];
      });
      each_number(learner(lane), row_, [&](auto from, auto &to) { set(to, lane, from); });
    }
    THALWEG_APART void give_back(int lane, int64_t rows) {
      learner(lane).rows += rows;
      each_array(learner(lane), row_, [&](Buffer &to, const Buffer &from) {
        for (std::size_t i = 0; i < to.size(); i++) to[i] = from[i * kCount + lane];
      });
      each_number(learner(lane), row_, [&](auto &to, const auto &from) { to = get(from, lane); });
    }
    static void set(LaneIndex &to, int lane, int64_t value) { to.set(lane, value); }
    static int64_t get(const LaneIndex &from, int lane) { return from[lane]; }
    static void set(double &to, int, double value) { to = value; }
    static void set(Lanes &to, int lane, double value) { to.v[lane / kLanes][lane % kLanes] = value; }
    static double get(double from, int) { return from; }
    static double get(const Lanes &from, int lane) { return from[lane]; }

    const Stream *streams_;
    int count_;
    Row row_;
    ShareOf<S> always_;
    alignas(64) double X_[kBlock * P * kCount];
    alignas(64) int64_t y_[kBlock * kCount], answers_[kBlock * kCount];
  };
};

template <int P> bool run_streams(const std::vector<Stream> &streams, int64_t features, int64_t rows) {
  if constexpr (P > kFew || kLanes < 4) return false;  // vectors of two gain nothing
  else return features == P ? SideBySide<P>::run(streams, rows) : run_streams<P + 1>(streams, features, rows);
}

}  // namespace thalweg::THALWEG_LEVEL
