#include "rows/row_reader.hpp"

#include <nanobind/stl/string.h>

#include <cstring>

#include "rows/values.hpp"
#include "rows/vocabulary.hpp"

namespace thalweg::THALWEG_LEVEL {

// How every array of NumPy begins: a part of its binary interface, which compiled extensions rely on.
struct NumpyArray {
  PyObject_HEAD
  char *data;
  int dimensions;
  Py_ssize_t *shape, *strides;
  PyObject *base, *dtype;
};

// A row that is an array of NumPy's, looked at directly: asking it for a buffer takes longer than learning it.
class NumpyRows {
 public:
  static const NumpyRows &get() {
    static const NumpyRows known;
    return known;
  }

  // Whether an object is a one-dimensional array of doubles; then its length and its values.
  bool knows(PyObject *row) const {
    if (Py_TYPE(row) != type_) return false;
    const auto *array = reinterpret_cast<const NumpyArray *>(row);
    return array->dimensions == 1 && array->dtype == doubles_;
  }
  static Py_ssize_t length(PyObject *row) { return reinterpret_cast<const NumpyArray *>(row)->shape[0]; }
  static void copy(PyObject *row, double *to) {
    const auto *array = reinterpret_cast<const NumpyArray *>(row);
    const Py_ssize_t count = array->shape[0], step = array->strides[0];
    if (step == sizeof *to) std::memcpy(to, array->data, count * sizeof *to);
    else
      for (Py_ssize_t j = 0; j < count; j++) std::memcpy(to + j, array->data + j * step, sizeof *to);
  }

 private:
  // Kept for good, as NumPy itself is. Where NumPy is not loaded, or arrays should ever begin otherwise, none is known.
  NumpyRows() {
    nb::dict modules = nb::borrow<nb::dict>(nb::module_::import_("sys").attr("modules"));
    if (!modules.contains("numpy")) return;
    nb::object numpy = modules["numpy"];
    nb::object sample = numpy.attr("arange")(1.0, 4.0), type = numpy.attr("ndarray"), doubles = sample.attr("dtype");
    type_ = reinterpret_cast<PyTypeObject *>(type.ptr());
    doubles_ = doubles.release().ptr();
    double values[3] = {};
    if (knows(sample.ptr()) && length(sample.ptr()) == 3) copy(sample.ptr(), values);
    if (values[0] == 1 && values[1] == 2 && values[2] == 3) Py_INCREF(type_);
    else type_ = nullptr;
  }

  PyTypeObject *type_ = nullptr;
  PyObject *doubles_ = nullptr;
};

RowReader::RowReader(int64_t features)
    : features_(features), copy_(features), names_(nb::tuple()), numpy_(NumpyRows::get()) {}

void RowReader::name(nb::object names) {
  const bool open = nb::isinstance<Vocabulary>(names);
  nb::tuple all = open ? nb::cast<Vocabulary &>(names).names() : nb::cast<nb::tuple>(names);
  if (int64_t(all.size()) != features_) refuse("the number of feature names and of features differ");
  names_ = all;
  vocabulary_ = open ? names : nb::object();
}

const double *RowReader::read(nb::handle row) {
  const double *values = numpy_.knows(row.ptr())         ? from_numpy(row)
                         : nb::isinstance<nb::dict>(row) ? from_dict(row)
                                                         : from_others(row);
  const int64_t bad = first_bad(values, features_);
  if (bad >= 0)
    refuse("a row's values must be finite and within ±1e50, got " + text(values[bad]) + " in column " + column(bad));
  return values;
}

const double *RowReader::from_numpy(nb::handle row) {
  require_width(NumpyRows::length(row.ptr()));
  NumpyRows::copy(row.ptr(), copy_.data());
  return copy_.data();
}

int64_t RowReader::read_in_order(PyObject *row) {
  Py_ssize_t at = 0;
  PyObject *key, *value;
  int64_t j = 0;
  for (; PyDict_Next(row, &at, &key, &value); j++) {
    if (key != PyTuple_GET_ITEM(names_.ptr(), j) || !PyFloat_CheckExact(value)) break;
    copy_[j] = PyFloat_AS_DOUBLE(value);
  }
  return j;
}

const double *RowReader::from_dict(nb::handle row) {
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

const double *RowReader::from_others(nb::handle row) {
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

void RowReader::require_width(int64_t length) const {
  if (length != features_)
    refuse("a row must have the model's " + std::to_string(features_) + " features, got " + std::to_string(length));
}

nb::object RowReader::name_of(int64_t j) const {
  return int64_t(names_.size()) == features_ ? nb::object(names_[j]) : nb::object(nb::int_(j));
}

std::string RowReader::column(int64_t j) const { return nb::cast<std::string>(nb::repr(name_of(j))); }

std::string RowReader::text(double x) { return nb::cast<std::string>(nb::repr(nb::float_(x))); }

}  // namespace thalweg::THALWEG_LEVEL
