// A forest over the last rows of a stream: groves of trees (grove.hpp) over one window of coded rows (row_window.hpp).
//
// It is not a forest of Hoeffding trees: leaves keep no statistics of features, only which rows they got, and a cut is sought
// among these. Hence a tree can be grown at once from rows that are held, and nothing is lost at a cut.
//
// Each grove gives two sets of probabilities, its votes and its refinement. Classes get numbers in the order in which they are first seen; those beyond kMostClasses are predicted by their
// frequency alone.
//
// O(T (depth + c) + p) a row. The limit is the latency of T walks from the root, of which ten wait for memory together.
#pragma once

#include "ensemble/equals.hpp"
#include "forest/class_leaves.hpp"
#include "forest/grove.hpp"
#include "foreseen.hpp"

namespace thalweg::THALWEG_LEVEL {

class Forest final : public Equals {
 public:
  Forest(int64_t p, const std::vector<GroveOptions> &given, int64_t rows, uint64_t seed)
      : Equals(p), window(p, rows), chance(seed), row(p) {
    for (const GroveOptions &options : given) groves.emplace_back(p, options);
    traits_.posteriors = 2 * int64_t(given.size());
    opinions.resize(given.size());
  }
  Forest *copy() const override { return new Forest(*this); }

  void posteriors(RowView x, double *out) const override {
    BufferOf<float> own(features());
    std::vector<Grove<ClassLeaves>::Opinion> made(groves.size());
    judge(x, own.data(), made);
    say(made, out);
  }
  void foresee(RowView x, double *out) override {
    judge(x, row.data(), opinions);
    say(opinions, out);
    foreseen.remember(x, features());
  }
  void forget() override {
    Equals::forget();
    foreseen.forget();
    arrivals.clear();
    std::fill(column.begin(), column.end(), -1);
    std::fill(rows.begin(), rows.end(), 0.0);
    window.forget();
    chance.forget();
    for (auto &grove : groves) grove.forget();
  }
  void visit(State &state) override {
    foreseen.forget();
    Equals::visit(state);
    state.integers("arrivals", arrivals);
    state.matrix("class_rows", rows, 1, classes(), classes(), amount);
    if (int64_t(arrivals.size()) > kMostClasses) throw BadState("arrivals");
    std::fill(column.begin(), column.end(), -1);
    for (int64_t i = 0; i < int64_t(arrivals.size()); i++) {
      const int64_t k = arrivals[i];
      if (k < 0 || k >= classes() || column[k] >= 0) throw BadState("arrivals");
      column[k] = i;
    }
    if (state.reads())
      for (auto &grove : groves) {
        grove.forget();
        for (std::size_t i = 0; i < arrivals.size(); i++) grove.widen();
      }
    state.part("chance_", chance);
    state.under("window_", [&] {
      window.visit(state, [this](double label) {
        return label >= 0 && label == std::floor(label) && label < std::max(double(arrivals.size()), 1.0);
      });
    });
    for (std::size_t i = 0; i < groves.size(); i++) state.part("grove" + std::to_string(i) + "_", groves[i]);
  }

 protected:
  void learn(RowView x, int64_t k, double weight, double *said) override {
    if (!foreseen.take(x)) judge(x, row.data(), opinions);
    say(opinions, said);
    rows[k] += weight;
    if (column[k] < 0 && int64_t(arrivals.size()) < kMostClasses) welcome(k);
    if (column[k] < 0) return;
    window.add(row.data(), double(column[k]), weight);
    for (std::size_t i = 0; i < groves.size(); i++)
      groves[i].learn(window, double(column[k]), weight, opinions[i], chance);
  }
  void insert(int64_t at) override {
    foreseen.forget();
    column.insert(column.begin() + at, -1);
    insert_row(rows, at, 1);
    for (int64_t &k : arrivals) k += k >= at;
  }

 private:
  static constexpr int64_t kMostClasses = 256;

  // What each grove says of a row, as numbers of single precision in `rounded`.
  void judge(const double *x, float *rounded, std::vector<Grove<ClassLeaves>::Opinion> &made) const {
    RowWindow::round(x, features(), rounded);
    for (std::size_t i = 0; !arrivals.empty() && i < groves.size(); i++) groves[i].judge(rounded, made[i]);
  }
  // The probabilities of all classes by that.
  void say(const std::vector<Grove<ClassLeaves>::Opinion> &made, double *out) const {
    const int64_t c = classes(), n = int64_t(arrivals.size());
    std::fill(out, out + traits_.posteriors * c, n ? 0 : 1 / double(c));
    const double known = share_of_known(out);
    for (std::size_t i = 0; n && i < groves.size(); i++) {
      double *votes = out + 2 * i * c, *refined = votes + c;
      for (int64_t j = 0; j < n; j++) {
        votes[arrivals[j]] = known * double(made[i].votes[j]);
        refined[arrivals[j]] = known * double(made[i].refined[j]);
      }
    }
  }
  // The share of the classes that trees know; that of the others goes to each set of probabilities.
  double share_of_known(double *out) const {
    const int64_t c = classes();
    if (int64_t(arrivals.size()) < kMostClasses) return 1;
    double all = 0, others = 0;
    for (int64_t k = 0; k < c; k++) {
      all += rows[k];
      others += column[k] < 0 ? rows[k] : 0;
    }
    for (int64_t v = 0; v < traits_.posteriors; v++)
      for (int64_t k = 0; k < c; k++)
        if (column[k] < 0) out[v * c + k] = rows[k] / all;
    return 1 - others / all;
  }
  void welcome(int64_t k) {
    column[k] = int64_t(arrivals.size());
    arrivals.push_back(k);
    for (std::size_t i = 0; i < groves.size(); i++) {
      groves[i].widen();
      groves[i].judge(row.data(), opinions[i]);
    }
  }

  RowWindow window;
  std::vector<Grove<ClassLeaves>> groves;
  Chance chance;
  std::vector<int64_t> column, arrivals;  // of each class its number among those seen, and back
  Buffer rows;                            // of each class
  BufferOf<float> row;                    // room
  std::vector<Grove<ClassLeaves>::Opinion> opinions;
  Foreseen foreseen;  // in `row` and `opinions`
};

}  // namespace thalweg::THALWEG_LEVEL
