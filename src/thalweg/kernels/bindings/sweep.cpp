// Many models over many streams, test-then-train: side by side where they go together, else one after the other.
//
// Rows and labels need not have been looked at: they are while they are in the cache. Of a model that has been run its
// words are kept in one piece, and no more: a few hundred bytes where features are few.
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "discriminant/side_by_side.hpp"

namespace thalweg::THALWEG_LEVEL {

using Answers = nb::ndarray<int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

class SweepRunner {
 public:
  // Each model runs over as many streams.
  SweepRunner(const std::vector<Core *> &models, int64_t streams) : streams_(streams), words_(models.size() * streams) {
    for (const Core *core : models) {
      if (core->learner->classes() > INT8_MAX || core->learner->traits().may_fail)
        throw std::invalid_argument("no model for this");
      models_.emplace_back(core->learner->copy());
    }
  }

  SweepRunner(const SweepRunner &) = delete;

  // Runs `first`, `first` + 1, …: model after model, each over all streams. False where a value or a label is none.
  bool run(int64_t first, Cube X, LabelMatrix y, Answers answers, OutLabels mistakes) {
    const int64_t rows = X.shape(1), features = X.shape(2), count = int64_t(answers.shape(0));
    refuse_shapes(first < 0 || first + count > int64_t(words_.size()) || int64_t(X.shape(0)) != streams_ ||
                  int64_t(y.shape(0)) != streams_ || int64_t(y.shape(1)) != rows || int64_t(answers.shape(1)) != rows ||
                  int64_t(mistakes.size()) != count || models_[0]->features() != features);
    std::vector<Run> runs;
    for (int64_t i = 0; i < count; i++) {
      const int64_t stream = (first + i) % streams_;
      runs.push_back({models_[(first + i) / streams_].get(), X.data() + stream * rows * features,
                      y.data() + stream * rows, answers.data() + i * rows});
    }
    nb::gil_scoped_release released;
    if (!run_all<1>(runs, features, rows)) return false;
    for (int64_t i = 0; i < count; i++) {
      mistakes.data()[i] = runs[i].mistakes;
      words_[first + i] = std::move(runs[i].words);
    }
    return true;
  }

  // The model at the end of a run.
  Core *core(int64_t run) const {
    if (run < 0 || run >= int64_t(words_.size()) || words_[run].empty()) throw std::invalid_argument("no such run");
    auto core = std::make_unique<Core>(models_[run / streams_]->copy());
    FlatReader words(words_[run].data(), int64_t(words_[run].size()));
    core->learner->visit(words);
    return core.release();
  }

 private:
  static constexpr std::size_t kWorth = 3;  // runs that are faster together than one after the other

  static bool run_alone(Run &run, int64_t rows) {
    const int64_t p = run.model->features(), some = run.model->rows_to_look_at(rows);
    const std::unique_ptr<Learner> learner(run.model->copy());
    std::vector<int64_t> answers(std::min(some, rows));
    for (int64_t from = 0; from < rows; from += some) {
      const int64_t count = std::min(some, rows - from), *y = run.y + from;
      if (!are_values(run.X + from * p, count * p) || !are_places(y, count, learner->classes())) return false;
      learner->run(run.X + from * p, y, nullptr, count, {answers.data()});
      for (int64_t i = 0; i < count; i++) {
        run.answers[from + i] = int8_t(answers[i]);
        run.mistakes += answers[i] != y[i];
      }
    }
    FlatWriter words;
    learner->visit(words);
    run.words.assign(words.words(), words.words() + words.count());
    return true;
  }

  // Those that go together, in their order.
  THALWEG_NOINLINE static std::vector<std::vector<Run *>> grouped(std::vector<Run> &runs,
                                                                  const std::vector<const AnyDiscriminant *> &models) {
    std::vector<std::vector<Run *>> groups;
    std::vector<const AnyDiscriminant *> kinds;
    for (std::size_t i = 0; i < runs.size(); i++) {
      std::size_t g = 0;
      while (g < groups.size() && !(models[i] && kinds[g] && kinds[g]->goes_with(*models[i]))) g++;
      if (g == groups.size()) {
        groups.emplace_back();
        kinds.push_back(models[i]);
      }
      groups[g].push_back(&runs[i]);
    }
    return groups;
  }
  template <int P> static bool run_together(std::vector<Run> &runs, int64_t rows) {
    std::vector<const AnyDiscriminant *> models;
    for (const Run &run : runs) models.push_back(SideBySide<P>::fitting(run.model));
    SideBySide<P> beside;
    for (const std::vector<Run *> &group : grouped(runs, models))
      if (!(group.size() >= kWorth ? beside.run(group, rows) : run_singly(group, rows))) return false;
    return true;
  }
  static bool run_singly(const std::vector<Run *> &runs, int64_t rows) {
    return std::all_of(runs.begin(), runs.end(), [&](Run *run) { return run_alone(*run, rows); });
  }
  template <int P> static bool run_all(std::vector<Run> &runs, int64_t features, int64_t rows) {
    if constexpr (P > kFew) {
      return std::all_of(runs.begin(), runs.end(), [&](Run &run) { return run_alone(run, rows); });
    } else {
      return features == P ? run_together<P>(runs, rows) : run_all<P + 1>(runs, features, rows);
    }
  }

  int64_t streams_;
  std::vector<std::unique_ptr<Learner>> models_;
  std::vector<std::vector<double>> words_;  // by run
};

void bind_sweep(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<SweepRunner>(module, "SweepRunner")
      .def(nb::init<const std::vector<Core *> &, int64_t>(), "models"_a, "streams"_a)
      .def("run", &SweepRunner::run, "first"_a, "X"_a, "y"_a, "answers"_a, "mistakes"_a)
      .def("core", &SweepRunner::core, "run"_a, nb::rv_policy::take_ownership);
}

}  // namespace thalweg::THALWEG_LEVEL
