// A learner made of learners: their posteriors mixed with the weights of mixing.hpp. Of a bank among them each of its own
// members is one here.
#pragma once

#include <atomic>

#include "ensemble/mixing.hpp"
#include "learner.hpp"
#include "threads.hpp"

namespace thalweg::THALWEG_LEVEL {

class Committee final : public Learner {
 public:
  Committee(int64_t p, const std::vector<const Learner *> &given, MixingOptions options)
      : Learner(p), mixing(with_handicaps(given, std::move(options))) {
    traits_.members = traits_.posteriors = mixing.members();
    traits_.kept_size = mixing.kept_size();
    traits_.outweighs_a_look = traits_.foresees = true;
    for (const Learner *member : given) {
      team.emplace_back(member->copy());
      traits_.kept_size += member->traits().kept_size;
      traits_.may_fail |= member->traits().may_fail;
    }
  }
  Learner *copy() const override { return new Committee(*this); }

  void shares(double *out) const override { std::copy(mixing.weights().begin(), mixing.weights().end(), out); }
  const std::vector<Owned<Learner>> &all() const { return team; }

  void posteriors(RowView x, double *out) const override {
    for (const auto &member : team) {
      member->posteriors(x, out);
      out += member->traits().posteriors * classes();
    }
  }
  void scores(RowView x, double *out) const override {
    Scratch room(members() * classes());
    posteriors(x, room.data());
    mix(room.data(), out);
  }
  void foresee(RowView x, double *out) override {
    for (auto &member : team) {
      member->foresee(x, out);
      out += member->traits().posteriors * classes();
    }
  }
  void foresee_scores(RowView x, double *out) override {
    Scratch room(members() * classes());
    foresee(x, room.data());
    mix(room.data(), out);
  }
  // What members keep of their own comes after what is kept of them.
  void mark_classes(bool *out) const override {
    mixing.mark_classes(out);
    out += mixing.kept_size();
    for (const auto &member : team) {
      member->mark_classes(out);
      out += member->traits().kept_size;
    }
  }
  void keep(RowView x, double *scored, uint8_t *out) const override {
    uint8_t *own = out + mixing.kept_size();
    for (const auto &member : team) {
      if (member->traits().kept_size) member->keep(x, scored, own);
      own += member->traits().kept_size;
    }
    Scratch room(members() * classes());
    posteriors(x, room.data());
    mixing.keep(room.data(), learned, out);
    mix(room.data(), scored);
  }
  void judge_by(const uint8_t *kept) override {
    said = kept;
    if (kept) kept += mixing.kept_size();
    for (const auto &member : team) {
      member->judge_by(kept);
      if (kept) kept += member->traits().kept_size;
    }
  }
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    const int64_t c = classes();
    const bool shows = wanted.kind == Wanted::kPosteriors;
    Scratch room(c + (shows ? 0 : members() * c));
    double *mixed = room.data(), *opinions = shows ? wanted.out : mixed + c;
    const auto each = [&](bool fallible, auto &&act) {
      double *at = opinions;
      for (auto &member : team) {
        if (member->traits().may_fail == fallible) act(*member, at);
        at += member->traits().posteriors * c;
      }
    };
    // Members that may fail go first: if one does, no other has learned the row.
    each(true, [&](Learner &member, double *at) { member.posteriors(x, at); });
    each(true, [&](Learner &member, double *) { member.step(x, k, weight); });
    each(false, [&](Learner &member, double *at) { member.step(x, k, weight, {Wanted::kPosteriors, at}); });
    const int64_t given = conclude(opinions, k, weight, mixed, wanted.kind != Wanted::kNothing && !shows);
    if (!shows) show_scores(mixed, wanted);
    return given;
  }
  // Member by member over some rows, so that what a member needs stays in the cache meanwhile.
  void run(const double *X, const int64_t *y, const double *weights, int64_t rows, const Outputs &out) override {
    if (traits_.may_fail) return Learner::run(X, y, weights, rows, out);
    const int64_t c = classes(), wide = members() * c, most = std::clamp<int64_t>(kOpinions / wide, 16, 256);
    Buffer opinions(most * wide), mixed(c);
    for (int64_t from = 0; from < rows; from += most) {
      const RowsToLearn some{X + from * features(), y + from, weights ? weights + from : nullptr,
                             std::min(most, rows - from)};
      learn_members(some, opinions.data(), wide);
      for (int64_t i = 0; i < some.rows; i++) {
        const Outputs own = out.after(from + i, c, members());
        if (own.shares) shares(own.shares);
        const int64_t given = conclude(opinions.data() + i * wide, y[from + i], some.weights ? some.weights[i] : 1,
                                       mixed.data(), own.scores);
        if (own.answers) *own.answers = given;
        if (own.scores) std::copy(mixed.begin(), mixed.end(), own.scores);
        if (own.rates) *own.rates = rate();
      }
    }
  }
  void learn_rows(const RowsToLearn &some, double *out, int64_t apart) override {
    if (traits_.may_fail) return Learner::learn_rows(some, out, apart);
    learn_members(some, out, apart);
    Scratch mixed(classes());
    for (int64_t i = 0; i < some.rows; i++)
      conclude(out + i * apart, some.y[i], some.weights ? some.weights[i] : 1, mixed.data(), false);
  }
  void begin(const double *X, const int64_t *y, const double *weights, int64_t rows) override {
    forget();
    run(X, y, weights, rows, {});
  }

  void appear(const int64_t *ids, int64_t count) override {
    for (auto &member : team) member->appear(ids, count);
  }
  void forget() override {
    mixing.reset();
    learned = 0;
    said = nullptr;
    for (auto &member : team) member->forget();
  }

  void visit(State &state) override;

 protected:
  void insert(int64_t at) override {
    for (auto &member : team) member->announce(at);
    mixing.insert_class(at);
  }

 private:
  static constexpr int64_t kOpinions = 1 << 16;  // of members on classes that are kept at a time
  static constexpr int64_t kWorthAThread = 16;   // rows

  // Each thread takes the next member that no thread has taken.
  void learn_members(const RowsToLearn &some, double *opinions, int64_t apart) {
    std::vector<double *> at;
    for (const auto &member : team) {
      at.push_back(opinions);
      opinions += member->traits().posteriors * classes();
    }
    std::atomic<std::size_t> next{0};
    on_threads(some.rows >= kWorthAThread, [&] {
      for (std::size_t i; (i = next++) < team.size();) team[i]->learn_rows(some, at[i], apart);
    });
  }
  // What members said of a row becomes scores, a prediction, and their weights; a row without weight is only predicted.
  int64_t conclude(const double *opinions, int64_t k, double weight, double *mixed, bool wants_scores) {
    mixing.mix(opinions, mixing.weights().data(), mixed);
    if (!(weight > 0)) {
      to_scores(mixed);
      return highest(mixed, classes());
    }
    const int64_t given = learned ? highest(mixed, classes()) : -1;
    mixing.judge(opinions, k, weight, learned, std::exchange(said, nullptr));
    if (wants_scores) to_scores(mixed);
    learned++;
    return given;
  }
  void mix(const double *opinions, double *out) const {
    mixing.mix(opinions, mixing.weights().data(), out);
    to_scores(out);
  }
  // Classes may have been announced, but before the first row nothing is known of any.
  void to_scores(double *mixed) const {
    for (int64_t c = 0; c < classes(); c++) mixed[c] = learned ? std::log(mixed[c]) : -__builtin_inf();
  }

  static MixingOptions with_handicaps(const std::vector<const Learner *> &given, MixingOptions options) {
    int64_t count = 0;
    for (const Learner *member : given) count += member->traits().posteriors;
    if (options.handicaps.empty()) options.handicaps.assign(count, 0.0);
    if (int64_t(options.handicaps.size()) != count)
      throw std::invalid_argument("needs a handicap for each of the " + std::to_string(count) + " members");
    return options;
  }

  Mixing mixing;
  std::vector<Owned<Learner>> team;
  int64_t learned = 0;            // rows
  const uint8_t *said = nullptr;  // of the row that is learned next
};

inline void visit_members(State &state, const std::vector<Owned<Learner>> &team, int64_t classes) {
  int64_t index = 0;
  for (const auto &member : team) {
    const bool wanted = state.wants("member" + std::to_string(index) + "_");
    member->visit_as_members(state, index);
    if (wanted && member->classes() != classes) throw BadState("n_classes");
  }
}

inline void Committee::visit(State &state) {
  visit_classes(state);
  state.integer("learned", learned, not_negative);
  mixing.visit(state);
  visit_members(state, team, classes());
}

}  // namespace thalweg::THALWEG_LEVEL
