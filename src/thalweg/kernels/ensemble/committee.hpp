// A learner made of learners: their posteriors mixed with the weights of mixing.hpp. Of a bank among them each of its own
// members is one here.
#pragma once

#include "ensemble/mixing.hpp"
#include "learner.hpp"

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
    mixing.mix(opinions, mixing.weights().data(), mixed);
    const int64_t given = learned ? highest(mixed, c) : -1;
    mixing.judge(opinions, k, weight, learned, std::exchange(said, nullptr));
    if (!shows && wanted.kind != Wanted::kNothing) {
      to_scores(mixed);
      show_scores(mixed, wanted);
    }
    learned++;
    return given;
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
