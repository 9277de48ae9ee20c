// Files of sparse rows: lines of text as arrays.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "rows/sparse_lines.hpp"

namespace thalweg::THALWEG_LEVEL {

using namespace nb::literals;

namespace {

// Letters are bytes.
template <class T> auto view(const Growing<T> &content) {
  using Seen = std::conditional_t<std::is_same_v<T, char>, uint8_t, T>;
  return nb::ndarray<nb::numpy, const Seen, nb::ndim<1>>(content.data(), {content.size()});
}

template <SparseLines (*reader)(const char *, std::size_t)> SparseLines read(nb::bytes text) {
  const char *content = text.c_str();
  const std::size_t size = text.size();
  nb::gil_scoped_release released;  // a run learns a block while the next one is read
  return reader(content, size);
}

}  // namespace

void bind_sparse_lines(nb::module_ &module) {
  nb::class_<SparseLines> lines(module, "SparseLines");
  lines.def_ro("rows", &SparseLines::rows);
  const auto show = [&](const char *name, auto SparseLines::*content) {
    const auto get = [content](const SparseLines &l) { return view(l.*content); };
    lines.def_prop_ro(name, get, nb::rv_policy::reference_internal);
  };
  show("labels", &SparseLines::labels);
  show("label_offsets", &SparseLines::label_offsets);
  show("has_label", &SparseLines::has_label);
  show("offsets", &SparseLines::offsets);
  show("indices", &SparseLines::indices);
  show("names", &SparseLines::names);
  show("name_offsets", &SparseLines::name_offsets);
  show("values", &SparseLines::values);
  lines.def_prop_ro(
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
