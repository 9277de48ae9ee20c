// How the members of a committee are weighted: by exp(-sharpness L), where L <- discount L + loss starts at a handicap.
//
// Several discounts give as many sets of weights, from short memories to long ones. The weights in force are their mixture,
// each set weighted by the same rule for the mistakes of its own mixture.
//
// The loss kAuto is the zero-one loss, unless classes are rare: where nearly all rows belong to one class, a member that
// never names another one makes few mistakes. With q the share of the rows that do not belong to the most frequent class,
// the weights go over, between q = 0.1 and q = 0.05, to those by log-loss, discounted by 1 - q / 20, so that about twenty
// rows of the rare classes count. Where the best mixture makes about as many mistakes as the most frequent class (`skill`), the
// weights go over to those by log-loss with a long memory: mistakes do not distinguish members in noise.
//
// Late labels. A member with a short memory has learned the neighbours of a row by the time its label comes, so that what it
// would say then flatters it; what it said when the row was predicted is what a user got, but old after an abrupt change. So
// there are six judges: two losses (zero-one, and the log-loss cut at 6), each of what was said, of what would be said, and of
// half of both. Each judge has its weights by each discount, and the mixtures of all are weighted by the mistakes that they
// made as predicted. The judges beside the first begin with the first label that comes late; labels that come with their
// rows are judged as above.
//
// What was said of a row is kept in a few bytes (`keep`): of each member the class that it gave, as class + 1, and the
// probability of that class, in steps of the log-loss; of each mixture its class; and how many rows had been learned. The
// rest of the probability is taken to be that of the label, where it is another class.
//
// O(members discounts) a row, times six where labels are late.
#pragma once

#include <numeric>

#include "kept_probabilities.hpp"
#include "learner.hpp"
#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

struct MixingOptions {
  enum Loss : int64_t { kZeroOne = 0, kBrier = 1, kLog = 2, kAuto = 3 };
  std::vector<double> discounts{0.995};
  double sharpness = 0.5;
  Loss loss = kZeroOne;
  std::vector<double> handicaps;  // a member each
};

class Mixing {
 public:
  explicit Mixing(MixingOptions given)
      : options(std::move(given)), shares(memories() * members()), in_force(members()) {
    if (memories() < 1 || memories() > kMostMemories) throw std::invalid_argument("needs one to eight discounts");
    reset();
  }

  int64_t members() const { return int64_t(options.handicaps.size()); }
  const Buffer &weights() const { return in_force; }

  void reset() {
    const Buffer start(options.handicaps.begin(), options.handicaps.end());
    losses.clear();
    for (int64_t i = 0; i < memories(); i++) losses.insert(losses.end(), start.begin(), start.end());
    memory_losses.assign(memories(), 0.0);
    rare_losses = long_losses = start;
    counts.assign(counts.size(), 0.0);
    late_losses.clear();
    mixture_losses.clear();
    judged = 0;
    weigh();
  }
  void insert_class(int64_t at) {
    counts.insert(counts.begin() + at, 0.0);
    classes_++;
  }

  // Probabilities of the members, by these weights.
  void mix(const double *opinions, const double *share, double *out) const {
    const int64_t n = members();
    constexpr int kSums = 4;  // that do not wait for one another
    for (int64_t c = 0; c < classes_; c++) {
      const double *p = opinions + c;
      double sum[kSums]{};
      int64_t v = 0;
      for (; v + kSums <= n; v += kSums)
        for (int i = 0; i < kSums; i++) sum[i] += share[v + i] * p[(v + i) * classes_];
      for (; v < n; v++) sum[0] += share[v] * p[v * classes_];
      out[c] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
  }

  // What is kept of a prediction until its label comes, in bytes.
  int64_t kept_size() const { return 2 * members() + mixtures() + Kept::kCountBytes; }
  void mark_classes(bool *out) const { std::fill_n(out, members() + mixtures(), true); }
  // What the members say, after so many rows; a model that has learned none says nothing.
  void keep(const double *opinions, int64_t learned, uint8_t *out) const {
    const int64_t n = members();
    if (!Kept::begin(out, kept_size(), learned)) return;
    for (int64_t v = 0; v < n; v++) {
      const double *p = opinions + v * classes_;
      const int64_t said = Learner::highest(p, classes_);
      out[v] = Kept::code_of(said);
      if (said < 0) continue;  // no number among its probabilities
      out[n + mixtures() + v] = uint8_t(std::lround(std::min(1.0, -std::log(1 - p[said] + kFloor) / kMostLevel) * 255));
    }
    Scratch room(classes_);
    for (int64_t r = 0; r < mixtures(); r++) {
      if (!late() && r >= memories()) {
        out[n + r] = out[n + r % memories()];
        continue;
      }
      mix(opinions, shares_of(r), room.data());
      out[n + r] = Kept::code_of(Learner::highest(room.data(), classes_));
    }
  }

  // The members' probabilities of each class, before the row of class k, and what was kept when it was predicted, or null.
  // The first row of all says nothing about anyone.
  void judge(const double *opinions, int64_t k, double weight, int64_t learned, const uint8_t *kept) {
    const int64_t n = members();
    const bool first = learned == 0;
    const uint8_t *said = kept && kept[0] && Kept::is_late(kept, kept_size(), learned) ? kept : nullptr;
    if (said && !late()) begin_late();
    if (late()) judge_late(opinions, k, weight, said);
    else if (memories() > 1) judge_memories(opinions, k, weight, first);
    for (int64_t i = 0; i < memories(); i++)
      for (int64_t v = 0; v < n; v++) losses[i * n + v] *= options.discounts[i];
    for (int64_t v = 0; v < n; v++) {
      const double lost = weight * (first ? 1 : loss(opinions + v * classes_, k));
      for (int64_t i = 0; i < memories(); i++) losses[i * n + v] += lost;
    }
    judged = (late() ? kMixturesDiscount : kMemoriesDiscount) * judged + weight;
    if (options.loss == MixingOptions::kAuto) judge_by_log_loss(opinions, k, weight, first, said);
    weigh();
  }

  void visit(State &state) {
    const int64_t n = members();
    state.matrix("losses", losses, memories(), n, n, not_negative);
    if (memories() > 1) state.matrix("memory_losses", memory_losses, 1, memories(), memories(), not_negative);
    if (options.loss == MixingOptions::kAuto) {
      state.matrix("recent_class_rows", counts, 1, classes_, classes_, not_negative);
      state.matrix("rare_losses", rare_losses, 1, n, n, not_negative);
      state.matrix("long_losses", long_losses, 1, n, n, not_negative);
      state.real("judged", judged, not_negative);
    }
    int64_t is_late = late();
    state.integer("late", is_late, within<int64_t>(0, 1));
    mixture_losses.resize(is_late * mixtures());
    late_losses.resize(is_late * mixtures() * n);
    if (is_late) {
      state.matrix("late_losses", late_losses, mixtures(), n, n, not_negative);
      state.matrix("mixture_losses", mixture_losses, 1, mixtures(), mixtures(), not_negative);
    }
    weigh();
  }

 private:
  static constexpr int64_t kMostMemories = 8;
  static constexpr double kMemoriesDiscount = 0.998;
  static constexpr double kMixturesDiscount = 0.999;
  static constexpr double kHandicap = 4, kSkilled = 0.85, kUnskilled = 0.95, kPriorMistakes = 10;
  static constexpr double kFloor = 1e-3;                   // added to probabilities, so that the log-loss is finite
  static constexpr double kMostLevel = 6.907755278982137;  // -ln kFloor
  struct Judge {
    bool log;
    double said, would;  // the shares of what was said, and of what would be said; errors of late predictions come in
                         // series, so that what was said counts less
  };
  static constexpr Judge kJudges[] = {{false, 0, 1},      {true, 0, 1},    {false, 0.25, 0.25},
                                      {true, 0.25, 0.25}, {false, 0.3, 0}, {true, 0.3, 0}};
  static constexpr int64_t kJudgeCount = std::size(kJudges);
  static constexpr double kRare = 0.05, kBalanced = 0.1, kWatched = 0.15, kRowsToCount = 20;
  static constexpr double kCountsDiscount = 0.9999, kPriorRows = 100, kMostLogLoss = 6;

  int64_t memories() const { return int64_t(options.discounts.size()); }
  int64_t mixtures() const { return kJudgeCount * memories(); }
  bool late() const { return !mixture_losses.empty(); }
  // The weights of a mixture; those of the first judge come first.
  const double *shares_of(int64_t r) const {
    return late()           ? late_shares.data() + r * members()
           : memories() > 1 ? shares.data() + r * members()
                            : in_force.data();
  }

  // Of what was said: whether it was wrong, and its log-loss.
  bool was_wrong(uint8_t code, int64_t k) const { return code == Kept::kOther || int64_t(code) != k + 1; }
  double log_loss_said(const uint8_t *said, int64_t v, int64_t k) const {
    const double rest = std::max(0.0, std::exp(-kMostLevel * said[members() + mixtures() + v] / 255) - kFloor);
    const double p = was_wrong(said[v], k) ? rest : 1 - rest;
    return log_loss(p + kFloor, kMostLogLoss);
  }

  // How far the mixtures are ahead of the most frequent class: 0 where they make kUnskilled times as many mistakes or more, 1
  // at kSkilled times as many. Before there is evidence, it is 0 where labels are late and 1 where they are not.
  double skill() const {
    if (options.loss != MixingOptions::kAuto || memories() == 1) return 1;
    const Buffer &mistakes = late() ? mixture_losses : memory_losses;
    const double least = *std::min_element(mistakes.begin(), mistakes.end());
    const double ratio = (least + kPriorMistakes * late()) / (judged * rest() + kPriorMistakes);
    return std::clamp((kUnskilled - ratio) / (kUnskilled - kSkilled), 0.0, 1.0);
  }

  void begin_late() {
    const int64_t n = members();
    mixture_losses.resize(mixtures());
    late_losses.resize(mixtures() * n);
    for (int64_t r = 0; r < mixtures(); r++) {
      mixture_losses[r] = memories() > 1 ? memory_losses[r % memories()] : 0;
      std::copy_n(losses.data() + r % memories() * n, n, late_losses.data() + r * n);
    }
    weigh_late();
  }
  // `said` is null for a row of which nothing was said, or what would be said still.
  void judge_late(const double *opinions, int64_t k, double weight, const uint8_t *said) {
    const int64_t n = members();
    Scratch room(std::max(classes_, 4 * n));
    for (int64_t r = 0; r < mixtures(); r++) {
      bool wrong;
      if (said) {
        wrong = was_wrong(said[n + r], k);
      } else {
        mix(opinions, shares_of(r), room.data());
        wrong = Learner::highest(room.data(), classes_) != k;
      }
      mixture_losses[r] = kMixturesDiscount * mixture_losses[r] + weight * wrong;
    }
    double *would[] = {room.data(), room.data() + n}, *before[] = {room.data() + 2 * n, room.data() + 3 * n};
    for (int64_t v = 0; v < n; v++) {
      const double *p = opinions + v * classes_;
      would[0][v] = Learner::highest(p, classes_) != k;
      would[1][v] = log_loss(p[k] + kFloor, kMostLogLoss);
      before[0][v] = said ? was_wrong(said[v], k) : would[0][v];
      before[1][v] = said ? log_loss_said(said, v, k) : would[1][v];
    }
    for (int64_t r = 0; r < mixtures(); r++) {
      const Judge &by = kJudges[r / memories()];
      const double keep = options.discounts[r % memories()];
      double *own = late_losses.data() + r * n;
      for (int64_t v = 0; v < n; v++)
        own[v] = keep * own[v] + weight * (by.said * before[by.log][v] + by.would * would[by.log][v]);
    }
  }

  static double log_loss(double p, double most) { return std::max(0.0, std::min(most, -std::log(p))); }
  // Of a probability that each member gives; one that is no number counts as zero.
  void log_losses(const double *p, double *out) const {
    const int64_t n = members();
    for (int64_t v = 0; v < n; v++) out[v] = std::max(std::exp(-kMostLogLoss - 1), p[v * classes_]);
    std::fill(out + n, out + whole_lanes(n), 1.0);
    for (int64_t v = 0; v < n; v += Lanes::kCount) {
      const Lanes lost = Lanes(0.0) - logarithm(Lanes::load(out + v));
      greatest(lost, 0.0).store(out + v);
    }
    for (int64_t v = 0; v < n; v++) out[v] = std::min(out[v], kMostLogLoss);
  }
  static int64_t whole_lanes(int64_t count) { return (count + Lanes::kCount - 1) / Lanes::kCount * Lanes::kCount; }
  double loss(const double *p, int64_t k) const {
    if (options.loss == MixingOptions::kLog) return log_loss(p[k], 5);
    if (options.loss != MixingOptions::kBrier) return Learner::highest(p, classes_) != k;
    // A plain sum of products may be rounded in another way for another number of classes, and classes that were only
    // announced must not be felt to the last bit.
    double brier = 1 - 2 * p[k];
    for (int64_t c = 0; c < classes_; c++) brier = std::fma(p[c], p[c], brier);
    return brier;
  }

  void judge_memories(const double *opinions, int64_t k, double weight, bool first) {
    Scratch room(classes_);
    for (int64_t i = 0; i < memories(); i++) {
      mix(opinions, shares.data() + i * members(), room.data());
      memory_losses[i] =
          kMemoriesDiscount * memory_losses[i] + weight * (first || Learner::highest(room.data(), classes_) != k);
    }
  }
  void judge_by_log_loss(const double *opinions, int64_t k, double weight, bool first, const uint8_t *said) {
    for (double &rows : counts) rows *= kCountsDiscount;
    counts[k] += weight;
    const double q = rest();
    Scratch would(whole_lanes(members()));
    log_losses(opinions + k, would.data());
    for (int64_t v = 0; v < members(); v++) {
      const double now = would.data()[v];
      const double lost = first ? 0 : weight * (said ? 0.5 * (now + log_loss_said(said, v, k)) : now);
      rare_losses[v] = q >= kWatched ? options.handicaps[v] : (1 - q / kRowsToCount) * rare_losses[v] + lost;
      long_losses[v] = kMixturesDiscount * long_losses[v] + lost;
    }
  }
  // The share of the rows that are not of the most frequent class, a half before there are any.
  double rest() const {
    double whole = kPriorRows, most = 0;
    for (double rows : counts) {
      whole += rows;
      most = std::max(most, rows);
    }
    return (whole - most - 0.5 * kPriorRows) / whole;
  }

  void weigh() {
    const int64_t n = members();
    if (late()) {
      weigh_late();
    } else if (memories() == 1) {
      mixing_shares(losses.data(), n, options.sharpness, in_force.data());
    } else {
      weigh_memories();
    }
    if (options.loss != MixingOptions::kAuto) return;
    go_over(long_losses, (late() ? 0.5 : 1.0) * (1 - skill()));  // half of them judge late labels by log-loss anyway
    go_over(rare_losses, std::min(1.0, (kBalanced - rest()) / (kBalanced - kRare)));
  }
  // A share of the weights goes over to those by other losses.
  void go_over(const Buffer &to, double share) {
    if (share <= 0) return;
    const int64_t n = members();
    Scratch weights(n);
    mixing_shares(to.data(), n, options.sharpness, weights.data());
    for (int64_t v = 0; v < n; v++) in_force[v] += share * (weights.data()[v] - in_force[v]);
  }
  void weigh_memories() {
    const int64_t n = members();
    double of[kMostMemories];
    mixing_shares(memory_losses.data(), memories(), options.sharpness, of);
    in_force.fill(0);
    for (int64_t i = 0; i < memories(); i++) {
      double *own = shares.data() + i * n;
      const double part = of[i] / mixing_odds(losses.data() + i * n, n, options.sharpness, own);
      for (int64_t v = 0; v < n; v++) in_force[v] += part * own[v];
    }
  }

  void weigh_late() {
    const int64_t n = members();
    late_shares.resize(mixtures() * n);
    Scratch charged(mixtures()), of(mixtures());
    const double skilled = skill();
    for (int64_t r = 0; r < mixtures(); r++)
      charged.data()[r] = mixture_losses[r] + kHandicap * (kJudges[r / memories()].log ? skilled : 1 - skilled);
    mixing_shares(charged.data(), mixtures(), options.sharpness, of.data());
    in_force.fill(0);
    for (int64_t r = 0; r < mixtures(); r++) {
      double *own = late_shares.data() + r * n;
      const double part = of.data()[r] / mixing_odds(late_losses.data() + r * n, n, options.sharpness, own);
      for (int64_t v = 0; v < n; v++) in_force[v] += part * own[v];
    }
  }

  MixingOptions options;
  int64_t classes_ = 0;
  Buffer losses, memory_losses;             // a member each for every discount; a discount each
  Buffer rare_losses, long_losses, counts;  // a member each, by log-loss; rows of each class
  Buffer late_losses, mixture_losses,
      late_shares;          // a member each for every mixture, and a mixture each; empty: not late
  double judged = 0;        // rows, fading as the mistakes of mixtures do
  Buffer shares, in_force;  // weights by each discount, not summing to one; their mixture, which does
};

}  // namespace thalweg::THALWEG_LEVEL
