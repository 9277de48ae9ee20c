// Files of sparse rows: lines of text as arrays.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "rows/sparse_lines.hpp"

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
}

}  // namespace thalweg::THALWEG_LEVEL
