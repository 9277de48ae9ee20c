// Sparse rows from Python: a matrix in CSR form, or one row as a dict of the values that are not zero.
#pragma once

#include <limits>
#include <tuple>

#include "bindings/arrays.hpp"
#include "rows/feature_slots.hpp"

namespace thalweg::THALWEG_LEVEL {

// The three arrays of a CSR matrix, which are looked at once: every number must be that of a column, in rising order.
class SparseRows {
 public:
  using Starts = Labels;
  using Short = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

  SparseRows(Starts starts, Short columns, Vector values, int64_t width)
      : SparseRows(std::move(starts), std::move(values), width) {
    short_ = columns;
    check(columns.data(), columns.size());
  }
  SparseRows(Starts starts, Labels columns, Vector values, int64_t width)
      : SparseRows(std::move(starts), std::move(values), width) {
    long_ = columns;
    check(columns.data(), columns.size());
  }

  int64_t rows() const { return int64_t(starts_.size()) - 1; }
  int64_t width() const { return width_; }
  bool in_order() const { return in_order_; }
  int64_t values() const { return starts_.data()[rows()]; }
  // The same columns with other values.
  SparseRows with_values(Vector values) const {
    refuse_shapes(int64_t(values.size()) < this->values());
    SparseRows other = *this;
    other.values_ = std::move(values);
    return other;
  }
  // Starts, columns and values, as NumPy's.
  nb::tuple arrays() const;
  // These rows alone, copied.
  SparseRows at(const std::vector<int64_t> &which) const;
  // Calls `act(column, value, place)` for each value of a row; the place is that among the values of all rows.
  template <class Act> void each(int64_t i, Act act) const {
    const int64_t from = starts_.data()[i], end = starts_.data()[i + 1];
    for (int64_t at = from; at < end; at++)
      act(short_.is_valid() ? int64_t(short_.data()[at]) : long_.data()[at], values_.data()[at], at);
  }
  // Row and column of the first value that may not be learned; (-1, -1) where there is none.
  std::tuple<int64_t, int64_t> first_bad() const;

  // Features without a slot get one, unless the slots are constant.
  template <class Slots> const SparseRow &read(int64_t i, Slots &features, SparseRoom &room) const {
    const int64_t from = starts_.data()[i], count = starts_.data()[i + 1] - from;
    return short_.is_valid() ? room.read(features, short_.data() + from, values_.data() + from, count)
                             : room.read(features, long_.data() + from, values_.data() + from, count);
  }

 private:
  SparseRows(Starts starts, Vector values, int64_t width)
      : starts_(std::move(starts)), values_(std::move(values)), width_(width) {}
  template <class Index> void check(const Index *columns, std::size_t count);

  Starts starts_;
  Short short_;
  Labels long_;
  Vector values_;
  int64_t width_;
  bool in_order_ = true;
};

// What a core of sparse rows keeps beside its learner: the slots of the features, and their names where rows are dicts.
class SparseReader {
 public:
  FeatureSlots slots;
  int64_t width = std::numeric_limits<int64_t>::max();  // of the rows, where it is known

  // A dict of numbers of features to values; of names where there are names, of which those that are new get numbers when
  // their row is learned.
  const SparseRow &read_one(nb::handle row, SparseRoom &room, bool learn);
  bool named() const { return named_; }
  // -1 for a name that no learned row had.
  int64_t known_number(PyObject *key) const;
  nb::tuple names() const { return nb::tuple(names_); }
  void name(nb::tuple names);

 private:
  int64_t number_of(PyObject *key, nb::list &fresh) const;
  // A dict of words and plain numbers, of which nothing runs Python code; false, and nothing read, where it is none.
  bool read_plain(PyObject *row, nb::list &fresh);
  void read_items(nb::handle row, nb::list &fresh);
  // Numbers the new names of a row in their own order, whatever that of the dict: starting weights are drawn by number.
  void sort_fresh(nb::list &fresh);
  void sort_by_feature();

  bool named_ = false;
  nb::dict numbers_;  // of the names
  nb::list names_;    // in the order of their numbers
  std::vector<int64_t> ids_;
  std::vector<double> values_;
};

}  // namespace thalweg::THALWEG_LEVEL
