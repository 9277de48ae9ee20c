// What Python sees of all cores alike: their state, and how they read rows.
#pragma once

#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
#include "bindings/core.hpp"
#include "bindings/python_state.hpp"
#include "rows/vocabulary.hpp"

namespace thalweg::THALWEG_LEVEL {

// Of a core with `visit`.
template <class C> void bind_state(nb::class_<C> &core) {
  using namespace nb::literals;
  Binder def(core);
  def("state", "prefix"_a = "", "What is known, as arrays by name: all of it, or that under names that begin so.") =
      [](C &c, std::string prefix) {
        const BriefLearning alone(c);
        StateWriter writer(std::move(prefix));
        c.visit(writer);
        return writer.values;
      };
  def("restore", "state"_a) = [](C &c, StateDict values) {
    const BriefLearning alone(c);
    StateReader reader(values);
    c.visit(reader);
  };
}

// Of a RowCore.
template <class C> void bind_reader(nb::class_<C> &core) {
  using namespace nb::literals;
  Binder def(core);
  core.def_prop_ro("n_features", [](const C &c) { return c.row.features(); });
  core.def_prop_ro("is_sparse", [](const C &c) { return bool(c.sparse); });
  core.def_prop_ro("feature_names",
                   [](const C &c) { return Names(c.sparse ? c.sparse.reader->names() : nb::tuple()); });
  def("limit_columns", "width"_a,
      "Single rows with a column beyond this width are refused, where rows are sparse.") = [](C &c, int64_t width) {
    if (c.sparse) c.sparse.reader->width = width;
  };
  def("name_features", "names"_a) = [](C &c, NamesOrVocabulary names) {
    if (c.sparse) c.sparse.reader->name(nb::cast<nb::tuple>(names));
    else c.row.name(names);
  };
  def("check_one", "x"_a.none()) = [](C &c, Row x) {
    SparseRoom room;
    c.read(x, room);
  };
}

}  // namespace thalweg::THALWEG_LEVEL
