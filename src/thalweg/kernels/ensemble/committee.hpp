// A learner made of learners: their posteriors mixed with the weights of mixing.hpp. A bank among the members has a voice for
// each of its own.
#pragma once

#include <memory>
#include <utility>

#include "ensemble/mixing.hpp"
#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class Committee final : public Learner {
 public:
  Committee(int64_t p, const std::vector<const Learner *> &given, MixingOptions options)
      : Learner(p), mixing(with_handicaps(given, std::move(options))), voices_(mixing.members()) {
    for (const Learner *member : given) team.emplace_back(member->copy());
  }
  Committee(const Committee &other)
      : Learner(other), mixing(other.mixing), voices_(other.voices_), learned(other.learned) {
    for (const auto &member : other.team) team.emplace_back(member->copy());
  }
  Learner *copy() const override { return new Committee(*this); }

  double rate() const override { return std::nan(""); }
  int64_t members() const override { return voices_; }
  void shares(double *out) const override { std::copy(mixing.weights().begin(), mixing.weights().end(), out); }
  int64_t voices() const override { return voices_; }
  const std::vector<std::unique_ptr<Learner>> &all() const { return team; }
  bool may_fail() const override {
    return std::any_of(team.begin(), team.end(), [](const auto &member) { return member->may_fail(); });
  }

  void posteriors(const double *x, double *out) const override {
    for (const auto &member : team) {
      member->posteriors(x, out);
      out += member->voices() * classes();
    }
  }
  void scores(const double *x, double *out) const override {
    if (!learned) {  // classes may have been announced, but nothing is known of any
      std::fill(out, out + classes(), -__builtin_inf());
      return;
    }
    Scratch room(voices_ * classes());
    posteriors(x, room.data());
    mixing.mix(room.data(), mixing.weights().data(), out);
    for (int64_t c = 0; c < classes(); c++) out[c] = std::log(out[c]);
  }
  // What members keep of their own comes after what is kept of them.
  int64_t kept_size() const override {
    int64_t size = mixing.kept_size();
    for (const auto &member : team) size += member->kept_size();
    return size;
  }
  void mark_classes(bool *out) const override {
    mixing.mark_classes(out);
    out += mixing.kept_size();
    for (const auto &member : team) {
      member->mark_classes(out);
      out += member->kept_size();
    }
  }
  void keep(const double *x, double *scored, uint8_t *out) const override {
    uint8_t *own = out + mixing.kept_size();
    for (const auto &member : team) {
      if (member->kept_size()) member->keep(x, scored, own);
      own += member->kept_size();
    }
    Scratch room(voices_ * classes());
    posteriors(x, room.data());
    mixing.keep(room.data(), learned, out);
    mixing.mix(room.data(), mixing.weights().data(), scored);
    for (int64_t c = 0; c < classes(); c++) scored[c] = learned ? std::log(scored[c]) : -__builtin_inf();
  }
  void judge_by(const uint8_t *kept) override {
    said = kept;
    if (kept) kept += mixing.kept_size();
    for (const auto &member : team) {
      member->judge_by(kept);
      if (kept) kept += member->kept_size();
    }
  }
  void judged_step(const double *x, int64_t k, double weight, double *out) override {
    if (weight == 0) return Learner::judged_step(x, k, weight, out);
    Scratch mixed(classes());
    mixed_step(x, k, weight, mixed.data(), out);
  }
  int64_t probable_step(const double *x, int64_t k, double weight, double *out) override {
    if (!learned || weight == 0) return Learner::probable_step(x, k, weight, out);
    const int64_t given = scored_step(x, k, weight, out);
    normalise(out);
    return given;
  }
  int64_t scored_step(const double *x, int64_t k, double weight, double *out) override {
    if (!learned || weight == 0) return Learner::scored_step(x, k, weight, out);
    Scratch opinions(voices_ * classes());
    const int64_t given = mixed_step(x, k, weight, out, opinions.data());
    for (int64_t c = 0; c < classes(); c++) out[c] = std::log(out[c]);
    return given;
  }

  void appear(const int64_t *ids, int64_t count) override {
    for (auto &member : team) member->appear(ids, count);
  }
  int64_t step(const double *x, int64_t k) override { return weighted_step(x, k, 1); }

  void begin(const double *X, const int64_t *y, int64_t rows) override {
    mixing.reset();
    learned = 0;
    said = nullptr;
    for (auto &member : team) member->begin(X, y, 0);
    for (int64_t i = 0; i < rows; i++) step(X + i * features(), y[i]);
  }

  void visit(State &state) override;

 protected:
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    Scratch room(classes() + voices_ * classes());
    return mixed_step(x, k, weight, room.data(), room.data() + classes());
  }
  void insert(int64_t at) override {
    for (auto &member : team) member->announce(at);
    mixing.insert_class(at);
  }

 private:
  // A step that leaves the members' probabilities before it in `opinions`, and their mixture in `mixed`.
  int64_t mixed_step(const double *x, int64_t k, double weight, double *mixed, double *opinions) {
    const int64_t c = classes();
    const auto each = [&](bool fallible, auto &&act) {
      double *at = opinions;
      for (auto &member : team) {
        if (member->may_fail() == fallible) act(*member, at);
        at += member->voices() * c;
      }
    };
    // Members that may fail go first: if one does, no other has learned the row.
    each(true, [&](Learner &member, double *at) { member.posteriors(x, at); });
    each(true, [&](Learner &member, double *) { member.counted_step(x, k, weight); });
    each(false, [&](Learner &member, double *at) { member.judged_step(x, k, weight, at); });
    mixing.mix(opinions, mixing.weights().data(), mixed);
    const int64_t given = learned ? highest(mixed, c) : -1;
    mixing.judge(opinions, k, weight, learned, std::exchange(said, nullptr));
    learned++;
    return given;
  }

  static MixingOptions with_handicaps(const std::vector<const Learner *> &given, MixingOptions options) {
    int64_t voices = 0;
    for (const Learner *member : given) voices += member->voices();
    if (options.handicaps.empty()) options.handicaps.assign(voices, 0.0);
    if (int64_t(options.handicaps.size()) != voices)
      throw std::invalid_argument("needs a handicap for each of the " + std::to_string(voices) + " voices");
    return options;
  }

  Mixing mixing;
  std::vector<std::unique_ptr<Learner>> team;
  int64_t voices_, learned = 0;   // rows
  const uint8_t *said = nullptr;  // of the row that is learned next
};

inline void visit_members(State &state, const std::vector<std::unique_ptr<Learner>> &team, int64_t classes) {
  int64_t index = 0;
  for (const auto &member : team) {
    const bool wanted = state.wants("member" + std::to_string(index) + "_");
    member->visit_as_members(state, index);
    if (wanted && member->classes() != classes) throw BadState("n_classes");
  }
}

inline void Committee::visit(State &state) {
  visit_classes(state);
  state.integer("learned", learned);
  if (learned < 0) throw BadState("learned");
  mixing.visit(state);
  visit_members(state, team, classes());
}

}  // namespace thalweg::THALWEG_LEVEL
