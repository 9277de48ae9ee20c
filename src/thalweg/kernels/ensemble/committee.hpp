// A learner made of learners: their posteriors mixed with weights exp(-sharpness L), where L <- discount L + loss is how
// wrong a voice has been of late, and starts at a handicap. A bank among the members has a voice for each of its own.
#pragma once

#include <memory>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

struct CommitteeOptions {
  enum Loss : int64_t { kZeroOne = 0, kBrier = 1, kLog = 2 };
  double discount = 0.995, sharpness = 0.5;
  Loss loss = kZeroOne;
  std::vector<double> handicaps;  // a voice each, or none
};

class Committee final : public Learner {
 public:
  Committee(int64_t p, const std::vector<const Learner *> &given, CommitteeOptions options)
      : Learner(p), options(options) {
    for (const Learner *member : given) team.emplace_back(member->copy());
    for (const auto &member : team) voices_ += member->voices();
    if (this->options.handicaps.empty()) this->options.handicaps.assign(voices_, 0.0);
    if (int64_t(this->options.handicaps.size()) != voices_)
      throw std::invalid_argument("needs a handicap for each of the " + std::to_string(voices_) + " voices");
    losses = starting_losses();
  }
  Committee(const Committee &other)
      : Learner(other), options(other.options), voices_(other.voices_), awake(other.awake), losses(other.losses) {
    for (const auto &member : other.team) team.emplace_back(member->copy());
  }
  Learner *copy() const override { return new Committee(*this); }

  double rate() const override { return std::nan(""); }
  int64_t members() const override { return voices_; }
  void shares(double *out) const override { mixing_shares(losses.data(), voices_, options.sharpness, out); }
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
    if (!awake) {  // classes may have been announced, but nothing is known of any
      std::fill(out, out + classes(), -__builtin_inf());
      return;
    }
    Scratch room(voices_ * (classes() + 1));
    posteriors(x, room.data());
    mix(room.data(), room.data() + voices_ * classes(), out);
    for (int64_t c = 0; c < classes(); c++) out[c] = std::log(out[c]);
  }

  int64_t step(const double *x, int64_t k) override { return weighted_step(x, k, 1); }

  void begin(const double *X, const int64_t *y, int64_t rows) override {
    losses = starting_losses();
    awake = 0;
    for (auto &member : team) member->begin(X, y, 0);
    for (int64_t i = 0; i < rows; i++) step(X + i * features(), y[i]);
  }

  void visit(State &state) override;

 protected:
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    const int64_t c = classes();
    Scratch room(voices_ * (c + 1) + c);
    double *opinions = room.data(), *share = opinions + voices_ * c, *mixed = share + voices_;
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
    mix(opinions, share, mixed);
    const int64_t given = awake ? highest(mixed, c) : -1;
    for (int64_t v = 0; v < voices_; v++)  // the first row says nothing about anyone
      losses[v] = options.discount * losses[v] + weight * (awake ? loss(opinions + v * c, k) : 1);
    awake = 1;
    return given;
  }
  void insert(int64_t at) override {
    for (auto &member : team) member->announce(at);
  }

 private:
  Buffer starting_losses() const { return Buffer(options.handicaps.begin(), options.handicaps.end()); }
  void mix(const double *opinions, double *share, double *out) const {
    shares(share);
    std::fill(out, out + classes(), 0.0);
    for (int64_t v = 0; v < voices_; v++)
      for (int64_t c = 0; c < classes(); c++) out[c] += share[v] * opinions[v * classes() + c];
  }
  double loss(const double *p, int64_t k) const {
    if (options.loss == CommitteeOptions::kZeroOne) return highest(p, classes()) != k;
    if (options.loss == CommitteeOptions::kLog) return std::min(5.0, -std::log(p[k]));
    // A plain sum of products may be rounded in another way for another number of classes, and classes that were only
    // announced must not be felt to the last bit.
    double brier = 1 - 2 * p[k];
    for (int64_t c = 0; c < classes(); c++) brier = std::fma(p[c], p[c], brier);
    return brier;
  }

  CommitteeOptions options;
  std::vector<std::unique_ptr<Learner>> team;
  int64_t voices_ = 0, awake = 0;
  Buffer losses;
};

// Gives each member's state a name of its own.
struct PrefixedState final : State {
  PrefixedState(State &inner, std::string prefix) : inner(inner), prefix(std::move(prefix)) {}
  void real(const char *name, double &value) override { inner.real((prefix + name).c_str(), value); }
  void integer(const char *name, int64_t &value) override { inner.integer((prefix + name).c_str(), value); }
  void integers(const char *name, std::vector<int64_t> &values) override {
    inner.integers((prefix + name).c_str(), values);
  }
  void matrix(const char *name, Buffer &values, int64_t rows, int64_t columns, int64_t stride) override {
    inner.matrix((prefix + name).c_str(), values, rows, columns, stride);
  }
  void above_diagonal(const char *name, Buffer &values, int64_t order, int64_t stride) override {
    inner.above_diagonal((prefix + name).c_str(), values, order, stride);
  }
  void above_diagonal(const char *name, BufferOf<float> &values, int64_t order, int64_t stride) override {
    inner.above_diagonal((prefix + name).c_str(), values, order, stride);
  }
  void floats(const char *name, BufferOf<float> &values, int64_t rows, int64_t columns) override {
    inner.floats((prefix + name).c_str(), values, rows, columns);
  }
  bool wants(const std::string &name) const override { return inner.wants(prefix + name); }
  int64_t most_classes() const override { return inner.most_classes(); }
  bool trusted() const override { return inner.trusted(); }
  void words(double *values, int64_t count) override { inner.words(values, count); }
  State &inner;
  std::string prefix;
};

inline void visit_members(State &state, const std::vector<std::unique_ptr<Learner>> &team, int64_t classes) {
  for (std::size_t i = 0; i < team.size(); i++) {
    const std::string prefix = "member" + std::to_string(i) + "_";
    if (!state.wants(prefix)) continue;
    PrefixedState own(state, prefix);
    team[i]->visit(own);
    if (team[i]->classes() != classes) throw BadState("n_classes");
  }
}

inline void Committee::visit(State &state) {
  visit_classes(state);
  state.integer("awake", awake);
  state.matrix("losses", losses, 1, voices_, voices_);
  for (double loss : losses)
    if (!(loss >= 0)) throw BadState("losses");
  visit_members(state, team, classes());
}

}  // namespace thalweg::THALWEG_LEVEL
