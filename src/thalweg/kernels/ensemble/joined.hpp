// Learners side by side, as one with the probabilities of them all. O(1) a row beside the members.
#pragma once

#include "ensemble/committee.hpp"
#include "ensemble/equals.hpp"

namespace thalweg::THALWEG_LEVEL {

class Joined final : public Equals {
 public:
  Joined(int64_t p, const std::vector<const Learner *> &given) : Equals(p) {
    traits_.posteriors = 0;
    for (const Learner *member : given) {
      team.emplace_back(member->copy());
      traits_.posteriors += member->traits().posteriors;
    }
  }
  Joined *copy() const override { return new Joined(*this); }

  void posteriors(RowView x, double *out) const override {
    for (const auto &member : team) {
      member->posteriors(x, out);
      out += member->traits().posteriors * classes();
    }
  }
  void foresee(RowView x, double *out) override {
    for (auto &member : team) {
      member->foresee(x, out);
      out += member->traits().posteriors * classes();
    }
  }
  void learn_rows(const RowsToLearn &some, double *said, int64_t apart) override {
    for (auto &member : team) {
      member->learn_rows(some, said, apart);
      said += member->traits().posteriors * classes();
    }
    for (int64_t i = 0; i < some.rows; i++)
      if (!some.weights || some.weights[i] > 0) wake();
  }
  void forget() override {
    Equals::forget();
    for (auto &member : team) member->forget();
  }
  void visit(State &state) override {
    Equals::visit(state);
    visit_members(state, team, classes());
  }

 protected:
  void learn(RowView x, int64_t k, double weight, double *said) override {
    Fetches fetches;
    for (std::size_t i = 0; i < team.size(); i++) {
      fetches.rest();
      if (i + 1 < team.size()) team[i + 1]->expect(x, fetches);
      team[i]->step(x, k, weight, {Wanted::kPosteriors, said, &fetches});
      said += team[i]->traits().posteriors * classes();
    }
  }
  void insert(int64_t at) override {
    for (auto &member : team) member->announce(at);
  }

 private:
  std::vector<Owned<Learner>> team;
};

}  // namespace thalweg::THALWEG_LEVEL
