// The names of a model whose features come and go: name to column, and what stands in where a row lacks one.
//
// A row is a dict. A feature it lacks is read as 0, or as the feature's running mean; a name not known yet is an error
// of its own, so that whoever learns can make room for it first.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "python_state.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

[[noreturn]] inline void refuse(const std::string &message, const char *kind = "InvalidInput") {
  nb::object error = nb::module_::import_("thalweg.errors").attr(kind);
  PyErr_SetString(error.ptr(), message.c_str());
  throw nb::python_error();
}

inline double as_number(PyObject *value, nb::handle column) {
  const double x = PyFloat_AsDouble(value);
  if (x == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    refuse("a row's values must be numbers, got " + nb::cast<std::string>(nb::repr(nb::handle(value))) + " in column " +
           nb::cast<std::string>(nb::repr(column)));
  }
  return x;
}

class Vocabulary {
 public:
  Vocabulary(nb::tuple names, bool by_mean) : names_(nb::tuple()), by_mean_(by_mean) { add(names); }

  int64_t size() const { return int64_t(means_.size()); }
  nb::tuple names() const { return names_; }

  void add(nb::tuple more) {
    for (nb::handle name : more) columns_[name] = nb::int_(columns_.size());
    names_ = nb::tuple(names_ + more);
    if (columns_.size() != names_.size()) throw std::invalid_argument("a name twice");
    layout_.clear();
    counts_.resize(names_.size(), 0.0);
    means_.resize(names_.size(), 0.0);
    values_.resize(names_.size());
  }

  void read(PyObject *row, double *to) {
    if (read_as_before(row, to)) return;
    const int64_t known = size();  // as it was: converting a value may run Python code, which may teach us names
    int64_t found = 0;
    for (int64_t j = 0; j < known; j++) {
      const nb::object value = look_up(row, j);
      found += value.is_valid();
      to[j] = value.is_valid() ? as_number(value.ptr(), name(j)) : by_mean_ ? means_[j] : 0.0;
    }
    if (found != PyDict_Size(row)) refuse_strangers(row);
    if (found == known && patience_ > 0) remember(row);
  }

  // A row that is learned moves the means of the features it has.
  void observe(nb::dict row) {
    const bool whole = read_as_before(row.ptr(), values_.data());
    for (int64_t j = 0; j < size(); j++) {
      const nb::object value = whole ? nb::object() : look_up(row.ptr(), j);
      if (whole || value.is_valid()) {
        const double x = whole ? values_[j] : as_number(value.ptr(), name(j));
        means_[j] += (x - means_[j]) / ++counts_[j];
      }
    }
  }

  std::vector<double> &counts() { return counts_; }
  std::vector<double> &means() { return means_; }

 private:
  nb::handle name(int64_t j) const { return PyTuple_GET_ITEM(names_.ptr(), j); }

  // Most rows have their names in the order of the row before and as the very same objects: nothing to look up then.
  bool read_as_before(PyObject *row, double *to) const {
    if (layout_.empty() || PyDict_Size(row) != size()) return false;
    Py_ssize_t at = 0;
    PyObject *key, *value;
    for (const Place *place = layout_.data(); PyDict_Next(row, &at, &key, &value); place++) {
      if (key != place->name.ptr() || !plain_number(value, to[place->column])) return false;
    }
    return true;
  }

  // A number that can be had without running Python code.
  static bool plain_number(PyObject *value, double &to) {
    if (PyFloat_Check(value)) return to = PyFloat_AS_DOUBLE(value), true;
    if (!PyLong_Check(value)) return false;
    to = PyLong_AsDouble(value);
    if (to != -1 || !PyErr_Occurred()) return true;
    PyErr_Clear();
    return false;
  }

  void remember(PyObject *row) {
    patience_--;
    layout_.clear();
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(row, &at, &key, &value))
      layout_.push_back({nb::borrow(key), nb::cast<int64_t>(columns_[nb::handle(key)])});
    if (int64_t(layout_.size()) != size()) layout_.clear();  // a conversion has changed the row meanwhile
  }

  // Held, since converting a value may run Python code, which may change the dict.
  nb::object look_up(PyObject *row, int64_t j) const {
    nb::object value = nb::borrow(PyDict_GetItemWithError(row, name(j).ptr()));
    if (!value.is_valid() && PyErr_Occurred()) throw nb::python_error();
    return value;
  }

  [[noreturn]] void refuse_strangers(nb::handle row) const {
    std::string unknown;
    for (nb::handle key : nb::borrow<nb::dict>(row).keys())
      if (!columns_.contains(key)) unknown += (unknown.empty() ? "" : ", ") + nb::cast<std::string>(nb::repr(key));
    refuse("a row must have features the model knows, got " + unknown + " too", "UnknownFeature");
  }

  struct Place {
    nb::object name;
    int64_t column;
  };

  nb::tuple names_;
  nb::dict columns_;  // of each name
  bool by_mean_;
  std::vector<Place> layout_;  // of a row that had all features
  int64_t patience_ = 64;      // layouts still tried: where names are made anew for each row, looking up is quicker
  std::vector<double> counts_, means_;  // per feature: rows that had it, and their mean
  std::vector<double> values_;          // of the row at hand
};

inline void bind_vocabulary(nb::module_ &module) {
  using namespace nb::literals;
  using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig>;
  const auto take = [](std::vector<double> &to, const Numbers &from) {
    if (from.size() != to.size()) throw std::invalid_argument("one number for each name");
    std::copy_n(from.data(), from.size(), to.begin());
  };
  nb::class_<Vocabulary>(module, "Vocabulary")
      .def(nb::init<nb::tuple, bool>(), "names"_a, "by_mean"_a)
      .def_prop_ro("names", &Vocabulary::names)
      .def("add", &Vocabulary::add, "names"_a)
      .def("observe", &Vocabulary::observe, "x"_a)
      .def("means",
           [](Vocabulary &v) {
             return nb::make_tuple(owned_array(v.counts().data(), {v.counts().size()}),
                                   owned_array(v.means().data(), {v.means().size()}));
           })
      .def(
          "take_means",
          [take](Vocabulary &v, Numbers counts, Numbers means) {
            take(v.counts(), counts);
            take(v.means(), means);
          },
          "counts"_a, "means"_a);
}

}  // namespace thalweg::THALWEG_LEVEL
