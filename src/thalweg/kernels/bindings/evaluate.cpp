// Scores of a stream that need more than an average: the areas under the ROC and the precision-recall curve.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/python_state.hpp"
#include "evaluate/running_auc.hpp"

namespace thalweg::THALWEG_LEVEL {

using namespace nb::literals;

namespace {

using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void check(const Vector &scores, const Flags &positive) {
  if (positive.size() != scores.size()) throw std::invalid_argument("shapes do not agree");
  for (std::size_t i = 0; i < scores.size(); i++)
    if (scores.data()[i] != scores.data()[i]) throw std::invalid_argument("a score is not a number");
}

template <class Weight> void push(RecentAuc<Weight> &auc, Vector scores, Flags positive) {
  check(scores, positive);
  for (std::size_t i = 0; i < scores.size(); i++) auc.push(scores.data()[i], positive.data()[i]);
}

template <class Weight> auto push_and_score(RecentAuc<Weight> &auc, Vector scores, Flags positive, Labels at) {
  check(scores, positive);
  std::vector<double> roc(scores.size()), precision;
  for (std::size_t i = 0, point = 0; i < scores.size(); i++) {
    auc.push(scores.data()[i], positive.data()[i]);
    roc[i] = auc.roc_auc();
    for (; point < at.size() && at.data()[point] == int64_t(i); point++) precision.push_back(auc.average_precision());
  }
  return std::make_tuple(owned_array(roc.data(), {roc.size()}), owned_array(precision.data(), {precision.size()}));
}

template <class Weight> auto bind_auc(nb::module_ &module, const char *name) {
  using Auc = RecentAuc<Weight>;
  return nb::class_<Auc>(module, name)
      .def("push", &push<Weight>, "scores"_a, "positive"_a)
      .def("push_and_score", &push_and_score<Weight>, "scores"_a, "positive"_a, "at"_a,
           "Add rows; the ROC AUC after each, and the average precision after those at these places, which rise.")
      .def("roc_auc", &Auc::roc_auc)
      .def("average_precision", &Auc::average_precision);
}

}  // namespace

void bind_evaluate(nb::module_ &module) {
  bind_auc<int64_t>(module, "WindowedAuc")
      .def(nb::init<int64_t>(), "rows"_a)
      .def("rows", [](const RecentAuc<int64_t> &auc) {
        std::vector<double> scores;
        std::vector<int64_t> positive;
        for (const auto &row : auc.rows()) {
          scores.push_back(row.score);
          positive.push_back(row.positive);
        }
        return std::make_tuple(owned_array(scores.data(), {scores.size()}),
                               owned_array(positive.data(), {positive.size()}));
      });
  bind_auc<double>(module, "FadingAuc").def(nb::init<double>(), "factor"_a);
}

}  // namespace thalweg::THALWEG_LEVEL
