#include "rows/sparse_rows.hpp"

#include <nanobind/stl/string.h>

#include "rows/values.hpp"
#include "bindings/python_state.hpp"
#include "rows/vocabulary.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class Index> void SparseRows::check(const Index *columns, std::size_t count) {
  const int64_t *starts = starts_.data();
  bool good = starts_.size() > 0 && width_ > 0 && starts[0] == 0 && count == values_.size();
  for (int64_t i = 0; good && i < rows(); i++) good = starts[i] <= starts[i + 1];
  if (!good || starts[rows()] > int64_t(count)) throw std::invalid_argument("no CSR matrix");
  for (int64_t i = 0; i < rows(); i++) {
    const int64_t from = starts[i], end = starts[i + 1];
    if (from == end) continue;
    bool falling = false;
    for (int64_t at = from + 1; at < end; at++) falling |= columns[at] <= columns[at - 1];
    in_order_ &= !falling;
    const auto [least, most] =
        falling ? std::minmax_element(columns + from, columns + end) : std::pair(columns + from, columns + end - 1);
    if (*least < 0 || int64_t(*most) >= width_) throw std::invalid_argument("no such column");
  }
}
template void SparseRows::check(const int32_t *, std::size_t);
template void SparseRows::check(const int64_t *, std::size_t);

template <class T> static nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu> owned(
    std::vector<T> values) {
  return nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>(moved_array(std::move(values)));
}

template <class T> static nb::object as_numpy(const T &array) { return nb::cast(nb::ndarray<nb::numpy>(array)); }

nb::tuple SparseRows::arrays() const {
  return nb::make_tuple(as_numpy(starts_), short_.is_valid() ? as_numpy(short_) : as_numpy(long_), as_numpy(values_));
}

SparseRows SparseRows::at(const std::vector<int64_t> &which) const {
  std::vector<int64_t> starts(1), columns;
  std::vector<int32_t> short_columns;
  std::vector<double> values;
  for (const int64_t row : which) {
    if (row < 0 || row >= rows()) throw std::out_of_range("no such row");
    const int64_t from = starts_.data()[row], end = starts_.data()[row + 1];
    if (short_.is_valid()) short_columns.insert(short_columns.end(), short_.data() + from, short_.data() + end);
    else columns.insert(columns.end(), long_.data() + from, long_.data() + end);
    values.insert(values.end(), values_.data() + from, values_.data() + end);
    starts.push_back(int64_t(values.size()));
  }
  SparseRows found(owned(std::move(starts)), owned(std::move(values)), width_);
  if (short_.is_valid()) found.short_ = owned(std::move(short_columns));
  else found.long_ = owned(std::move(columns));
  found.in_order_ = in_order_;
  return found;
}

std::tuple<int64_t, int64_t> SparseRows::first_bad() const {
  const int64_t *starts = starts_.data(), end = starts[rows()];
  if (are_values(values_.data(), end)) return {-1, -1};
  const int64_t at = thalweg::THALWEG_LEVEL::first_bad(values_.data(), end);
  const int64_t row = std::upper_bound(starts, starts + rows() + 1, at) - starts - 1;
  return {row, short_.is_valid() ? int64_t(short_.data()[at]) : long_.data()[at]};
}

void SparseReader::name(nb::tuple names) {
  nb::dict numbers;
  for (nb::handle name : names) numbers[name] = nb::int_(numbers.size());
  if (numbers.size() != names.size()) throw std::invalid_argument("a name twice");
  named_ = true;
  numbers_ = numbers;
  names_ = nb::list(names);
}

int64_t SparseReader::number_of(PyObject *key, nb::list &fresh) const {
  if (!named_) {
    const nb::object whole = nb::steal(PyBool_Check(key) ? nullptr : PyNumber_Index(key));
    const int64_t number = whole.is_valid() ? PyLong_AsLongLong(whole.ptr()) : -1;
    PyErr_Clear();
    if (number >= 0 && number < width) return number;
    if (number >= width)
      refuse("a row has the column " + std::to_string(number) + ", but the rows that were learned have " +
             std::to_string(width) + " columns");
    refuse("a row of a model that learned a sparse matrix must be a dict of columns' numbers, got the key " +
           nb::cast<std::string>(nb::repr(nb::handle(key))));
  }
  PyObject *found = PyDict_GetItemWithError(numbers_.ptr(), key);
  if (found) return PyLong_AsLongLong(found);
  if (PyErr_Occurred()) nb::raise_python_error();
  fresh.append(nb::handle(key));
  return int64_t(names_.size() + fresh.size()) - 1;
}

int64_t SparseReader::known_number(PyObject *key) const {
  nb::list fresh;
  const int64_t number = number_of(key, fresh);
  return fresh.size() ? -1 : number;
}

void SparseReader::sort_by_feature() {
  if (std::is_sorted(ids_.begin(), ids_.end())) return;
  std::vector<std::pair<int64_t, double>> both;
  for (std::size_t i = 0; i < ids_.size(); i++) both.emplace_back(ids_[i], values_[i]);
  std::sort(both.begin(), both.end());
  for (std::size_t i = 0; i < ids_.size(); i++) std::tie(ids_[i], values_[i]) = both[i];
}

bool SparseReader::read_plain(PyObject *row, nb::list &fresh) {
  // The items of a subclass that iterates as a dict does are what they are there.
  if (!named_ || !PyDict_Check(row) || Py_TYPE(row)->tp_iter != PyDict_Type.tp_iter) return false;
  Py_ssize_t at = 0;
  PyObject *key, *value;
  while (PyDict_Next(row, &at, &key, &value)) {
    double number;
    const bool plain =
        PyUnicode_CheckExact(key) && Vocabulary::plain_number(value, number) && std::fabs(number) <= kLargestValue;
    if (!plain) {
      ids_.clear();
      values_.clear();
      fresh = nb::list();
      return false;
    }
    ids_.push_back(number_of(key, fresh));
    values_.push_back(number);
  }
  return true;
}

void SparseReader::read_items(nb::handle row, nb::list &fresh) {
  // Items of our own: converting a value may run Python code, which may change the dict.
  const nb::object items = nb::steal(PyMapping_Items(row.ptr()));
  if (!items.is_valid()) nb::raise_python_error();
  for (nb::handle item : items) {
    PyObject *key = PyTuple_GetItem(item.ptr(), 0), *value = PyTuple_GetItem(item.ptr(), 1);
    if (!key || !value) nb::raise_python_error();
    const double number = as_number(value, key);
    if (thalweg::THALWEG_LEVEL::first_bad(&number, 1) >= 0)
      refuse("a row's values must be finite and within ±1e50, got " +
             nb::cast<std::string>(nb::repr(nb::handle(value))) + " in column " +
             nb::cast<std::string>(nb::repr(nb::handle(key))));
    ids_.push_back(number_of(key, fresh));
    values_.push_back(number);
  }
}

void SparseReader::sort_fresh(nb::list &fresh) {
  if (fresh.size() < 2) return;
  auto sorted = nb::steal<nb::list>(PyList_GetSlice(fresh.ptr(), 0, PyList_GET_SIZE(fresh.ptr())));
  if (PyList_Sort(sorted.ptr())) return PyErr_Clear();  // names that cannot be compared
  const auto known = int64_t(names_.size());
  nb::dict places;
  for (nb::handle name : sorted) places[name] = nb::int_(known + int64_t(places.size()));
  for (int64_t &id : ids_)
    if (id >= known) id = nb::cast<int64_t>(places[fresh[id - known]]);
  fresh = sorted;
}

const SparseRow &SparseReader::read_one(nb::handle row, SparseRoom &room, bool learn) {
  if (!nb::isinstance<nb::dict>(row) && !nb::hasattr(row, "keys"))
    refuse("a row of a model that learned sparse rows must be a dict of columns, by number or name, to values, got " +
           nb::cast<std::string>(nb::repr(row.type())));
  ids_.clear();
  values_.clear();
  nb::list fresh;
  if (!read_plain(row.ptr(), fresh)) read_items(row, fresh);
  sort_fresh(fresh);
  sort_by_feature();
  if (!learn) return room.read(std::as_const(slots), ids_.data(), values_.data(), int64_t(ids_.size()));
  for (nb::handle name : fresh) {
    numbers_[name] = nb::int_(names_.size());
    names_.append(name);
  }
  return room.read(slots, ids_.data(), values_.data(), int64_t(ids_.size()));
}

}  // namespace thalweg::THALWEG_LEVEL
