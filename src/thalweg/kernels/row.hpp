// One row from Python, in whatever form it comes: an array, a sequence of numbers, or a mapping of names to numbers.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <cstring>
#include <string>

#include "learner.hpp"
#include "numpy_row.hpp"
#include "values.hpp"
#include "vocabulary.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

class RowReader {
 public:
  explicit RowReader(int64_t features)
      : features_(features), copy_(features), names_(nb::tuple()), numpy_(NumpyRows::get()) {}

  std::size_t features() const { return features_; }

  // Names that a dict must have, all and no others; or a vocabulary, of which it may lack some.
  void name(nb::object names) {
    const bool open = nb::isinstance<Vocabulary>(names);
    nb::tuple all = open ? nb::cast<Vocabulary &>(names).names() : nb::cast<nb::tuple>(names);
    if (int64_t(all.size()) != features_) refuse("the number of feature names and of features differ");
    names_ = all;
    vocabulary_ = open ? names : nb::object();
  }

  const double *read(nb::handle row) {
    const double *values = numpy_.knows(row.ptr())         ? from_numpy(row)
                           : nb::isinstance<nb::dict>(row) ? from_dict(row)
                                                           : from_others(row);
    const int64_t bad = first_bad(values, features_);
    if (bad >= 0)
      refuse("a row's values must be finite and within ±1e50, got " + text(values[bad]) + " in column " + column(bad));
    return values;
  }

 private:
  const double *from_numpy(nb::handle row) {
    require_width(NumpyRows::length(row.ptr()));
    NumpyRows::copy(row.ptr(), copy_.data());
    return copy_.data();
  }

  // Floats under the very names, in their order: nothing to look up. Returns how far that goes.
  int64_t read_in_order(PyObject *row) {
    Py_ssize_t at = 0;
    PyObject *key, *value;
    int64_t j = 0;
    for (; PyDict_Next(row, &at, &key, &value); j++) {
      if (key != PyTuple_GET_ITEM(names_.ptr(), j) || !PyFloat_CheckExact(value)) break;
      copy_[j] = PyFloat_AS_DOUBLE(value);
    }
    return j;
  }

  const double *from_dict(nb::handle row) {
    if (vocabulary_.is_valid()) {
      Vocabulary &known = *nb::inst_ptr<Vocabulary>(vocabulary_);
      if (known.size() != features_) refuse("the vocabulary has grown beyond the model");
      known.read(row.ptr(), copy_.data());
      return copy_.data();
    }
    if (int64_t(names_.size()) != features_) refuse("a row given as a dict needs a model that knows its feature names");
    if (PyDict_Size(row.ptr()) != features_)
      refuse("a row must have the model's " + std::to_string(features_) + " features, got " +
             std::to_string(PyDict_Size(row.ptr())));
    for (int64_t j = read_in_order(row.ptr()); j < features_; j++) {
      // held: converting a value may run Python code, which may change the dict
      nb::object value = nb::borrow(PyDict_GetItemWithError(row.ptr(), PyTuple_GET_ITEM(names_.ptr(), j)));
      if (!value.is_valid()) {
        PyErr_Clear();
        refuse("a row must have every feature the model knows; " + column(j) + " is missing");
      }
      copy_[j] = as_number(value.ptr(), PyTuple_GET_ITEM(names_.ptr(), j));
    }
    return copy_.data();
  }

  const double *from_others(nb::handle row) {
    Py_buffer view;
    if (PyObject_CheckBuffer(row.ptr())) {
      if (PyObject_GetBuffer(row.ptr(), &view, PyBUF_FORMAT | PyBUF_ND) == 0) {
        const bool doubles = view.ndim == 1 && view.format && std::strcmp(view.format, "d") == 0;
        const int64_t length = view.ndim == 1 ? view.shape[0] : -1;
        if (doubles && length == features_) std::memcpy(copy_.data(), view.buf, features_ * sizeof(double));
        PyBuffer_Release(&view);
        if (doubles) return require_width(length), copy_.data();
      } else {
        PyErr_Clear();
      }
    }
    // Any other mapping, and a pandas Series too, is read by its names wherever the model has names.
    if (nb::hasattr(row, "keys") && (int64_t(names_.size()) == features_ || !nb::hasattr(row, "to_numpy")))
      return from_dict(nb::module_::import_("builtins").attr("dict")(row));
    nb::object items = nb::steal(PySequence_Tuple(row.ptr()));  // a tuple of our own: nobody can change it meanwhile
    if (!items.is_valid() || nb::isinstance<nb::str>(row) || nb::isinstance<nb::bytes>(row)) {
      PyErr_Clear();
      refuse("a row must be an array, a sequence of numbers or a dict, got " +
             std::string(nb::cast<std::string>(nb::repr(row.type()))));
    }
    require_width(PyTuple_GET_SIZE(items.ptr()));
    for (int64_t j = 0; j < features_; j++) copy_[j] = as_number(PyTuple_GET_ITEM(items.ptr(), j), name_of(j));
    return copy_.data();
  }

  void require_width(int64_t length) const {
    if (length != features_)
      refuse("a row must have the model's " + std::to_string(features_) + " features, got " + std::to_string(length));
  }

  nb::object name_of(int64_t j) const {
    return int64_t(names_.size()) == features_ ? nb::object(names_[j]) : nb::object(nb::int_(j));
  }
  std::string column(int64_t j) const { return nb::cast<std::string>(nb::repr(name_of(j))); }
  static std::string text(double x) { return nb::cast<std::string>(nb::repr(nb::float_(x))); }

  int64_t features_;
  Buffer copy_;
  nb::tuple names_;
  nb::object vocabulary_;
  const NumpyRows &numpy_;
};

}  // namespace thalweg::THALWEG_LEVEL
