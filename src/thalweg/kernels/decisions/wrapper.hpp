// What learners share that decide by another learner's probabilities: the learner inside, and by which of its probabilities a
// row is judged when its label comes.
//
// A row is judged by the probabilities that it was predicted with, where they were kept, else by those just before it is
// learned. Where labels come `delay` rows late the learner inside has by then learned the rows around it, which says little of
// a prediction that was made without them. So copies of the learner are kept, `kCopies` to a delay, and a row of which nothing
// was kept is judged by the youngest one that is at least `delay` rows old; the first rows are not judged.
#pragma once

#include "kept_probabilities.hpp"
#include "ensemble/committee.hpp"

namespace thalweg::THALWEG_LEVEL {

class Wrapper : public Learner {
 public:
  Wrapper(const Learner &inner, int64_t delay)
      : Learner(inner.features(), traits_of(inner.traits())), delay(delay),
        stride(std::max<int64_t>(1, delay / kCopies)) {
    team.emplace_back(inner.copy());
  }

  double rate() const override { return inside().rate(); }
  void shares(double *out) const override { inside().shares(out); }
  // The learner inside, then its copies.
  const std::vector<Owned<Learner>> &all() const { return team; }
  const Learner &inside() const { return *team[0]; }

  void scores(RowView x, double *out) const override {
    inside().probabilities(x, out);
    to_scores(out);
  }
  void mark_classes(bool *out) const override {
    inside().mark_classes(out);
    kept_own.mark_classes(out + inside().traits().kept_size);
  }
  void keep(RowView x, double *scored, uint8_t *kept) const override {
    inside().keep(x, scored, kept);
    inside().normalise(scored);
    kept += inside().traits().kept_size;
    kept_own.write(scored, scored, classes(), rows, kept);
    const float own_limit = float(limit());
    std::memcpy(kept + kept_own.size(), &own_limit, sizeof own_limit);
    to_scores(scored);
  }
  void judge_by(const uint8_t *kept) override {
    team[0]->judge_by(kept);
    said = kept ? kept + inside().traits().kept_size : nullptr;
  }
  void appear(const int64_t *ids, int64_t count) override {
    for (auto &member : team) member->appear(ids, count);
  }
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    Scratch room(2 * classes());
    double *now = room.data(), *then = now + classes();
    if (wanted.kind == Wanted::kScores) scores(x, wanted.out);
    const bool likeliest = inside().traits().posteriors == 1 && !inside().traits().decides;
    int64_t answer_inside =
        team[0]->step(x, k, weight, {likeliest ? Wanted::kPosteriors : Wanted::kProbabilities, now});
    if (likeliest) answer_inside = highest_seen(now);
    const int64_t given = decide(now, answer_inside);
    if (wanted.kind == Wanted::kProbabilities || wanted.kind == Wanted::kPosteriors) {
      std::copy_n(now, classes(), wanted.out);
      to_scores(wanted.out);
      normalise(wanted.out);
    }
    const uint8_t *kept = std::exchange(said, nullptr);
    if (kept && kept_own.is_late(kept, rows)) {
      float limit_then;
      std::memcpy(&limit_then, kept + kept_own.size(), sizeof limit_then);
      kept_own.read(kept, classes(), then);
      judge(then, k, weight, limit_then);
    } else if (delay == 0) {
      if (awake()) judge(now, k, weight, limit());
    } else if (rows >= delay + stride) {
      team[1]->probabilities(x, then);
      judge(then, k, weight, limit());
    }
    class_rows[k] += weight;
    rows++;
    if (delay) remember();
    return given;
  }
  void forget() override {
    rows = 0;
    said = nullptr;
    team.resize(1);
    team[0]->forget();
    class_rows.fill(0);
    forget_own();
  }
  void visit(State &state) override {
    visit_classes(state);
    state.matrix("class_rows", class_rows, 1, classes(), classes(), not_negative);
    state.integer("rows", rows, not_negative);
    visit_own(state);
    team.resize(std::min<std::size_t>(team.size(), 1 + copies()));
    while (int64_t(team.size()) < 1 + copies()) team.emplace_back(team[0]->copy());
    visit_members(state, team, classes());
  }

 protected:
  // What a wrapper does of its own: correct the probabilities of the learner inside, answer by them where it answers so, learn
  // what became of them, given the limit by which they were decided, make room for a class, forget, and visit the rest of the
  // state.
  virtual void correct(double *) const {}
  virtual int64_t decide(const double *p, int64_t answer_inside) const = 0;
  virtual void judge(const double *p, int64_t k, double weight, double limit_then) = 0;
  virtual double limit() const { return 0; }
  virtual void make_room(int64_t at) = 0;
  virtual void forget_own() = 0;
  virtual void visit_own(State &state) = 0;

  bool seen(int64_t c) const { return class_rows[c] > 0; }
  bool awake() const { return rows > 0; }
  // Probabilities of the learner inside become scores.
  void to_scores(double *p) const {
    correct(p);
    for (int64_t c = 0; c < classes(); c++) p[c] = awake() ? std::log(p[c]) : -__builtin_inf();
  }
  int64_t highest_seen(const double *p) const { return awake() ? highest(p, classes()) : -1; }

  void insert(int64_t at) override {
    for (auto &member : team) member->announce(at);
    insert_row(class_rows, at, 1);
    make_room(at);
  }

  Buffer class_rows;  // learned, of each class

 private:
  static constexpr int64_t kCopies = 4;

  static Traits traits_of(Traits inner) {
    inner.confidence = inner.posteriors = 1;
    inner.decides = false;
    inner.kept_size += KeptProbabilities(1).size() + int64_t(sizeof(float));
    return inner;
  }

  // Copies are taken after every `stride` rows; the oldest that is kept is the youngest of age `delay` or more.
  int64_t copies() const {
    return delay && rows >= stride ? rows / stride - std::max<int64_t>(1, (rows - delay) / stride) + 1 : 0;
  }
  void remember() {
    if (rows % stride == 0) team.emplace_back(team[0]->copy());
    while (int64_t(team.size()) > 1 + copies()) team.erase(team.begin() + 1);
  }

  std::vector<Owned<Learner>> team;
  int64_t delay, stride, rows = 0;
  KeptProbabilities kept_own{1};
  const uint8_t *said = nullptr;  // of the row that is learned next
};

// A wrapper whose answer need not be the likeliest class.
class Decider : public Wrapper {
 public:
  Decider(const Learner &inner, int64_t delay) : Wrapper(inner, delay) { traits_.decides = true; }
  int64_t answer(RowView x) const override {
    Scratch room(classes());
    inside().probabilities(x, room.data());
    return decide(room.data(), -1);
  }
};

}  // namespace thalweg::THALWEG_LEVEL
