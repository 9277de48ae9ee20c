// Files of sparse rows: lines of text as arrays.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/python_state.hpp"
#include "rows/sparse_lines.hpp"
#include "rows/sparse_rows.hpp"
#include "rows/tidy_rows.hpp"

namespace thalweg::THALWEG_LEVEL {

using namespace nb::literals;

namespace {

template <class T> auto view(const Growing<T> &content) {
  return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(content.data(), {content.size()});
}

auto bytes_of(const Growing<char> &content) {
  return nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>(content.data(), {content.size()});
}

template <SparseLines (*reader)(const char *, std::size_t)> SparseLines read(nb::bytes text) {
  const char *content = text.c_str();
  const std::size_t size = text.size();
  nb::gil_scoped_release released;  // a run learns a block while the next one is read
  return reader(content, size);
}

}  // namespace

void bind_sparse_lines(nb::module_ &module) {
  constexpr auto inside = nb::rv_policy::reference_internal;
  nb::class_<SparseLines>(module, "SparseLines")
      .def_ro("rows", &SparseLines::rows)
      .def_prop_ro(
          "labels", [](const SparseLines &l) { return bytes_of(l.labels); }, inside)
      .def_prop_ro(
          "label_offsets", [](const SparseLines &l) { return view(l.label_offsets); }, inside)
      .def_prop_ro(
          "has_label", [](const SparseLines &l) { return view(l.has_label); }, inside)
      .def_prop_ro(
          "offsets", [](const SparseLines &l) { return view(l.offsets); }, inside)
      .def_prop_ro(
          "indices", [](const SparseLines &l) { return view(l.indices); }, inside)
      .def_prop_ro(
          "names", [](const SparseLines &l) { return bytes_of(l.names); }, inside)
      .def_prop_ro(
          "name_offsets", [](const SparseLines &l) { return view(l.name_offsets); }, inside)
      .def_prop_ro(
          "values", [](const SparseLines &l) { return view(l.values); }, inside)
      .def_prop_ro(
          "bad",
          [](const SparseLines &l) {
            std::vector<std::tuple<int64_t, nb::str, std::size_t, std::size_t>> found;
            for (const BadLine &bad : l.bad) found.emplace_back(bad.row, nb::str(bad.reason), bad.begin, bad.end);
            return found;
          },
          "Row, reason as a template of `str.format`, and the bytes that it is about.");
  module.def("read_svmlight", &read<read_svmlight>, "text"_a);
  module.def("read_vowpal_wabbit", &read<read_vowpal_wabbit>, "text"_a);
  module.def(
      "tidy_rows",
      [](Labels starts, SparseRows::Short indices, Vector values) {
        const auto rows = int64_t(starts.size()) - 1;
        bool good = rows >= 0 && starts.data()[0] == 0 && indices.size() == values.size();
        for (int64_t i = 0; good && i < rows; i++) good = starts.data()[i] <= starts.data()[i + 1];
        if (!good || starts.data()[rows] > int64_t(indices.size())) throw std::invalid_argument("no compressed rows");
        const TidyRows found = [&] {
          nb::gil_scoped_release released;
          return tidy_rows(starts.data(), rows, indices.data(), values.data());
        }();
        return std::make_tuple(owned_array(found.starts.data(), {found.starts.size()}),
                               owned_array(found.indices.data(), {found.indices.size()}),
                               owned_array(found.values.data(), {found.values.size()}));
      },
      "starts"_a, "indices"_a, "values"_a,
      "Entries of each row sorted by index, those of one index added up, and without zeros.");
}

}  // namespace thalweg::THALWEG_LEVEL
