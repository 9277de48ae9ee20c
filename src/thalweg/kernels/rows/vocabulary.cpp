#include "rows/vocabulary.hpp"

#include <nanobind/stl/string.h>

#include <stdexcept>

namespace thalweg::THALWEG_LEVEL {

void refuse(const std::string &message, const char *kind) {
  nb::object error = nb::module_::import_("thalweg.errors").attr(kind);
  PyErr_SetString(error.ptr(), message.c_str());
  throw nb::python_error();
}

double as_number(PyObject *value, nb::handle column) {
  const double x = PyFloat_AsDouble(value);
  if (x == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    refuse("a row's values must be numbers, got " + nb::cast<std::string>(nb::repr(nb::handle(value))) + " in column " +
           nb::cast<std::string>(nb::repr(column)) +
           ": TableClassifier and TableRegressor read text, categories, times and gaps");
  }
  return x;
}

void Vocabulary::add(nb::tuple more) {
  for (nb::handle name : more) columns_[name] = nb::int_(columns_.size());
  names_ = nb::tuple(names_ + more);
  if (columns_.size() != names_.size()) throw std::invalid_argument("a name twice");
  layout_.clear();
  counts_.resize(names_.size(), 0.0);
  means_.resize(names_.size(), 0.0);
  values_.resize(names_.size());
}

void Vocabulary::read(PyObject *row, double *to) {
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

void Vocabulary::observe(nb::dict row) {
  const bool whole = read_as_before(row.ptr(), values_.data());
  for (int64_t j = 0; j < size(); j++) {
    const nb::object value = whole ? nb::object() : look_up(row.ptr(), j);
    if (whole || value.is_valid()) {
      const double x = whole ? values_[j] : as_number(value.ptr(), name(j));
      means_[j] += (x - means_[j]) / ++counts_[j];
    }
  }
}

bool Vocabulary::read_as_before(PyObject *row, double *to) const {
  if (layout_.empty() || PyDict_Size(row) != size()) return false;
  Py_ssize_t at = 0;
  PyObject *key, *value;
  for (const Place *place = layout_.data(); PyDict_Next(row, &at, &key, &value); place++) {
    if (key != place->name.ptr() || !plain_number(value, to[place->column])) return false;
  }
  return true;
}

bool Vocabulary::plain_number(PyObject *value, double &to) {
  if (PyFloat_Check(value)) return to = PyFloat_AS_DOUBLE(value), true;
  if (!PyLong_Check(value)) return false;
  to = PyLong_AsDouble(value);
  if (to != -1 || !PyErr_Occurred()) return true;
  PyErr_Clear();
  return false;
}

void Vocabulary::remember(PyObject *row) {
  patience_--;
  layout_.clear();
  Py_ssize_t at = 0;
  PyObject *key, *value;
  while (PyDict_Next(row, &at, &key, &value))
    layout_.push_back({nb::borrow(key), nb::cast<int64_t>(columns_[nb::handle(key)])});
  if (int64_t(layout_.size()) != size()) layout_.clear();  // a conversion has changed the row meanwhile
}

nb::object Vocabulary::look_up(PyObject *row, int64_t j) const {
  nb::object value = nb::borrow(PyDict_GetItemWithError(row, name(j).ptr()));
  if (!value.is_valid() && PyErr_Occurred()) throw nb::python_error();
  return value;
}

void Vocabulary::refuse_strangers(nb::handle row) const {
  std::string unknown;
  for (nb::handle key : nb::borrow<nb::dict>(row).keys())
    if (!columns_.contains(key)) unknown += (unknown.empty() ? "" : ", ") + nb::cast<std::string>(nb::repr(key));
  refuse("a row must have features the model knows, got " + unknown + " too", "UnknownFeature");
}

}  // namespace thalweg::THALWEG_LEVEL
