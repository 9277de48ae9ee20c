// A row that is an array of NumPy's, looked at directly: asking it for a buffer takes longer than learning it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

// How every array of NumPy begins: a part of its binary interface, which compiled extensions rely on.
struct NumpyArray {
  PyObject_HEAD
  char *data;
  int dimensions;
  Py_ssize_t *shape, *strides;
  PyObject *base, *dtype;
};

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

}  // namespace thalweg::THALWEG_LEVEL
