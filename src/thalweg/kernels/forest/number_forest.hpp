// A forest over the last rows of a stream whose targets are numbers: groves of trees (grove.hpp) over one window of coded rows
// (row_window.hpp). Each grove gives three answers, its votes and two refinements of them (number_leaves.hpp).
//
// O(T depth + p) a row. The limit is the latency of T walks from the root, of which five wait for memory together.
#pragma once

#include "forest/grove.hpp"
#include "forest/number_leaves.hpp"

namespace thalweg::THALWEG_LEVEL {

struct NumberForestOptions {
  std::vector<GroveOptions> groves;
  int64_t rows;  // held; a power of two
  uint64_t seed;
  bool of_rest;  // what simpler learners leave of the target
};

class NumberForest {
 public:
  NumberForest(int64_t p, const NumberForestOptions &options)
      : window(p, options.rows), chance(options.seed), row(p), opinions(options.groves.size()) {
    for (const GroveOptions &grove : options.groves) groves.emplace_back(p, grove);
  }

  static int64_t members_of(const NumberForestOptions &options) {
    return NumberLeaves::kAnswers * int64_t(options.groves.size());
  }
  int64_t members() const { return NumberLeaves::kAnswers * int64_t(groves.size()); }
  void begin() {
    window.forget();
    chance.forget();
    for (auto &grove : groves) grove.forget();
  }
  // What each grove makes of a row.
  void answers(const double *x, double *out) const {
    BufferOf<float> own(window.features());
    std::vector<Opinion> made(groves.size());
    judge(x, own.data(), made, out);
  }
  void answers(const double *x, double *out) { judge(x, row.data(), opinions, out); }
  // The row that was just answered.
  void learn(double target, double times) {
    window.add(row.data(), target, times);
    for (std::size_t i = 0; i < groves.size(); i++) groves[i].learn(window, target, times, opinions[i], chance);
  }

  void visit(State &state) {
    if (state.reads())
      for (auto &grove : groves) grove.forget();
    state.part("chance_", chance);
    state.under("window_", [&] { window.visit(state, finite); });
    for (std::size_t i = 0; i < groves.size(); i++) state.part("grove" + std::to_string(i) + "_", groves[i]);
  }

 private:
  using Opinion = NumberLeaves::Opinion;

  void judge(const double *x, float *rounded, std::vector<Opinion> &made, double *out) const {
    RowWindow::round(x, window.features(), rounded);
    for (std::size_t i = 0; i < groves.size(); i++) {
      groves[i].judge(rounded, made[i]);
      out = std::copy_n(made[i].answers, NumberLeaves::kAnswers, out);
    }
  }

  RowWindow window;
  std::vector<Grove<NumberLeaves>> groves;
  Chance chance;
  BufferOf<float> row;  // room
  std::vector<Opinion> opinions;
};

}  // namespace thalweg::THALWEG_LEVEL
