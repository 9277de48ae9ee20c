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

template <class Auc> void push(Auc &auc, Vector scores, Flags positive) {
  check(scores, positive);
  for (std::size_t i = 0; i < scores.size(); i++) auc.push({scores.data()[i], positive.data()[i]});
}

template <class Auc> auto push_and_score(Auc &auc, Vector scores, Flags positive, Labels at) {
  check(scores, positive);
  std::vector<double> roc(scores.size()), precision;
  for (std::size_t i = 0, point = 0; i < scores.size(); i++) {
    auc.push({scores.data()[i], positive.data()[i]});
    roc[i] = auc.roc_auc();
    for (; point < at.size() && at.data()[point] == int64_t(i); point++) precision.push_back(auc.average_precision());
  }
  return std::make_tuple(owned_array(roc.data(), {roc.size()}), owned_array(precision.data(), {precision.size()}));
}

auto windowed_areas(Vector scores, Flags positive, int64_t window, Labels ends) {
  check(scores, positive);
  std::vector<double> roc, precision;
  SortedAreas areas;
  for (std::size_t i = 0; i < ends.size(); i++) {
    const int64_t end = ends.data()[i], begin = std::max<int64_t>(0, end - window);
    if (end < 0 || end > int64_t(scores.size())) throw std::invalid_argument("no such row");
    const Areas found = areas.of(scores.data() + begin, positive.data() + begin, end - begin);
    roc.push_back(found.roc);
    precision.push_back(found.precision);
  }
  return std::make_tuple(owned_array(roc.data(), {roc.size()}), owned_array(precision.data(), {precision.size()}));
}

template <class Auc> auto bind_auc(nb::module_ &module, const char *name) {
  return nb::class_<Auc>(module, name)
      .def("push", &push<Auc>, "scores"_a, "positive"_a)
      .def("push_and_score", &push_and_score<Auc>, "scores"_a, "positive"_a, "at"_a,
           "Add rows; the ROC AUC after each, and the average precision after those at these places, which rise.")
      .def("roc_auc", &Auc::roc_auc)
      .def("average_precision", &Auc::average_precision);
}

}  // namespace

void bind_evaluate(nb::module_ &module) {
  bind_auc<WindowedAuc>(module, "WindowedAuc")
      .def(nb::init<int64_t>(), "rows"_a)
      .def("rows", [](const WindowedAuc &auc) {
        std::vector<double> scores;
        std::vector<int64_t> positive;
        for (const ScoredRow &row : auc.rows()) {
          scores.push_back(row.score);
          positive.push_back(row.positive);
        }
        return std::make_tuple(owned_array(scores.data(), {scores.size()}),
                               owned_array(positive.data(), {positive.size()}));
      });
  bind_auc<FadingAuc>(module, "FadingAuc").def(nb::init<double>(), "factor"_a);
  module.def("windowed_areas", &windowed_areas, "scores"_a, "positive"_a, "window"_a, "ends"_a,
             "ROC AUC and average precision of the rows of the window before each of these ends.");
}

}  // namespace thalweg::THALWEG_LEVEL
