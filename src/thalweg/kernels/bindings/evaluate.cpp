// Scores of a stream that need more than an average: the areas under the ROC and the precision-recall curve.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/python_state.hpp"
#include "evaluate/running_auc.hpp"

namespace thalweg::THALWEG_LEVEL {

using namespace nb::literals;

namespace {

using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void check(const Vector &scores, const Flags &positive) {
  refuse_shapes(positive.size() != scores.size());
  for (std::size_t i = 0; i < scores.size(); i++)
    if (scores.data()[i] != scores.data()[i]) throw std::invalid_argument("a score is not a number");
}

void push(RecentAuc &auc, Vector scores, Flags positive) {
  check(scores, positive);
  for (std::size_t i = 0; i < scores.size(); i++) auc.push(scores.data()[i], positive.data()[i]);
}

auto push_and_score(RecentAuc &auc, Vector scores, Flags positive, Labels at) {
  check(scores, positive);
  std::vector<double> roc(scores.size()), precision;
  for (std::size_t i = 0, point = 0; i < scores.size(); i++) {
    auc.push(scores.data()[i], positive.data()[i]);
    roc[i] = auc.roc_auc();
    for (; point < at.size() && at.data()[point] == int64_t(i); point++) precision.push_back(auc.average_precision());
  }
  return std::make_tuple(owned_array(roc.data(), {roc.size()}), owned_array(precision.data(), {precision.size()}));
}

}  // namespace

void bind_evaluate(nb::module_ &module) {
  nb::class_<RecentAuc> core(module, "RecentAuc");
  Binder def(core);
  core.def(nb::init<int64_t, double>(), "rows"_a = std::numeric_limits<int64_t>::max(), "factor"_a = 1.0);
  core.def("push", &push, "scores"_a, "positive"_a);
  core.def("push_and_score", &push_and_score, "scores"_a, "positive"_a, "at"_a,
           "Add rows; the ROC AUC after each, and the average precision after those at these places, which rise.");
  core.def("roc_auc", &RecentAuc::roc_auc).def("average_precision", &RecentAuc::average_precision);
  def("rows") = [](const RecentAuc &auc) {
    std::vector<double> scores;
    std::vector<int64_t> positive;
    for (const ScoredRow &row : auc.rows()) {
      scores.push_back(row.score);
      positive.push_back(row.positive);
    }
    return std::make_tuple(moved_array(std::move(scores)), moved_array(std::move(positive)));
  };
}

}  // namespace thalweg::THALWEG_LEVEL
