// One row from Python, in whatever form it comes: an array, a sequence of numbers, or a mapping of names to numbers.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "linear_algebra/buffer.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

class NumpyRows;

class RowReader {
 public:
  explicit RowReader(int64_t features);

  std::size_t features() const { return features_; }

  // Names that a dict must have, all and no others; or a vocabulary, of which it may lack some.
  void name(nb::object names);

  const double *read(nb::handle row);

 private:
  const double *from_numpy(nb::handle row);

  // Floats under the very names, in their order: nothing to look up. Returns how far that goes.
  int64_t read_in_order(PyObject *row);
  const double *from_dict(nb::handle row);
  const double *from_others(nb::handle row);
  void require_width(int64_t length) const;
  nb::object name_of(int64_t j) const;
  std::string column(int64_t j) const;
  static std::string text(double x);

  int64_t features_;
  Buffer copy_;
  nb::tuple names_;
  nb::object vocabulary_;
  const NumpyRows &numpy_;
};

}  // namespace thalweg::THALWEG_LEVEL
