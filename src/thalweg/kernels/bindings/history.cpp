// What is kept of earlier rows, as Python sees it: a table of keys, and rows and targets in the order in which they come.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/python_state.hpp"
#include "history/past_table.hpp"

namespace thalweg::THALWEG_LEVEL {

using namespace nb::literals;

namespace {

constexpr int64_t kMostSteps = 1 << 16;

int64_t place_in(const std::vector<std::string> &names, const std::string &name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::invalid_argument("no such call: " + name);
  return found - names.begin();
}

// What, span, input, whether of the target, length, steps, buckets.
using Call = std::tuple<std::string, std::string, int64_t, bool, double, int64_t, int64_t>;

std::vector<CallOptions> options_of(const std::vector<Call> &calls) {
  std::vector<CallOptions> found;
  for (const auto &[what, span, input, of_target, length, steps, buckets] : calls) {
    if (steps < 0 || steps > kMostSteps || buckets < 2 || buckets > kMostSteps || !(length >= 0))
      throw std::invalid_argument("a call that cannot be");
    found.push_back(
        {Past(place_in({"count", "sum", "mean", "std", "min", "max", "last", "lag", "since_last", "distinct"}, what)),
         Span(place_in({"ever", "rows", "clock", "fading rows", "fading clock"}, span)), input, of_target, length,
         steps, buckets});
  }
  return found;
}

void follow(PastTable &table, Labels keys, Matrix values, Labels clock, Labels order, int64_t now, OutMatrix out) {
  const int64_t rows = keys.size(), inputs = values.shape(1);
  refuse_shapes(int64_t(values.shape(0)) != rows || int64_t(clock.size()) != rows || inputs < table.inputs() ||
                int64_t(out.shape(0)) != rows || int64_t(out.shape(1)) != table.calls());
  for (std::size_t k = 0; k < order.size(); k++) {
    const int64_t step = order.data()[k], row = step < 0 ? ~step : step;
    if (row >= rows) throw std::invalid_argument("a step beyond the rows");
  }
  for (std::size_t k = 0; k < order.size(); k++) {
    const int64_t step = order.data()[k], row = step < 0 ? ~step : step;
    if (step >= 0) {
      now = clock.data()[row];
      table.read(keys.data()[row], now, out.data() + row * table.calls());
    }
    table.add(keys.data()[row], now, values.data() + row * inputs, step < 0);
  }
}

}  // namespace

void bind_history(nb::module_ &module) {
  nb::class_<PastTable> core(module, "PastTable");
  Binder def(core);
  def("__init__", "calls"_a, "most_bytes"_a) = [](PastTable *self, const std::vector<Call> &calls, int64_t most_bytes) {
    new (self) PastTable(options_of(calls), most_bytes);
  };
  core.def_prop_ro("keys", &PastTable::keys).def_prop_ro("most_keys", &PastTable::most_keys);
  core.def("follow", &follow, "keys"_a, "values"_a, "clock"_a, "order"_a, "now"_a, "out"_a,
           "Step i writes what is known before row i and adds the row, ~i adds its target; key 0 is that of none.");
  core.def("mark", &PastTable::mark, "Changes from here on can be taken back.");
  core.def("undo", &PastTable::undo, "Take back the changes since `mark`.");
  def("state") = [](const PastTable &table) { return moved_array(table.kept()); };
  def("restore", "kept"_a) = [](PastTable &table, Labels kept) {
    refuse_shapes(int64_t(kept.size()) % table.width() != 0);
    table.restore(kept.data(), int64_t(kept.size()) / table.width());
  };
}

}  // namespace thalweg::THALWEG_LEVEL
