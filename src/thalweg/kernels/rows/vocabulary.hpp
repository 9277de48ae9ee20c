// The names of a model whose features come and go: name to column, and what stands in where a row lacks one.
//
// A row is a dict. A feature it lacks is read as 0, or as the feature's running mean; a name not known yet is an error
// of its own, so that whoever learns can make room for it first.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

// Raises one of `thalweg.errors`.
[[noreturn]] void refuse(const std::string &message, const char *kind = "InvalidInput");

double as_number(PyObject *value, nb::handle column);

class Vocabulary {
 public:
  Vocabulary(nb::tuple names, bool by_mean) : names_(nb::tuple()), by_mean_(by_mean) { add(names); }

  int64_t size() const { return int64_t(means_.size()); }
  nb::tuple names() const { return names_; }

  void add(nb::tuple more);

  void read(PyObject *row, double *to);

  // A number that can be had without running Python code.
  static bool plain_number(PyObject *value, double &to);

  // A row that is learned moves the means of the features it has.
  void observe(nb::dict row);

  std::vector<double> &counts() { return counts_; }
  std::vector<double> &means() { return means_; }

 private:
  nb::handle name(int64_t j) const { return PyTuple_GET_ITEM(names_.ptr(), j); }

  // Most rows have their names in the order of the row before and as the very same objects: nothing to look up then.
  bool read_as_before(PyObject *row, double *to) const;

  void remember(PyObject *row);

  // Held, since converting a value may run Python code, which may change the dict.
  nb::object look_up(PyObject *row, int64_t j) const;

  [[noreturn]] void refuse_strangers(nb::handle row) const;

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

}  // namespace thalweg::THALWEG_LEVEL
