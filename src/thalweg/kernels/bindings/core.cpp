// A compiled learner as Python sees it: one class, `Core`, whatever the algorithm.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core_methods.hpp"

namespace thalweg::THALWEG_LEVEL {

// Methods that take many rows, dense (Rows is Matrix) or sparse (const SparseRows &).
template <class Rows, class TestRows> void bind_rows(nb::class_<Core> &core) {
  using namespace nb::literals;
  Binder def(core);
  def("begin", "X"_a, "y"_a, "masses"_a = nb::none()) = [](Core &c, Rows X, Labels y, std::optional<Vector> masses) {
    const Learning alone(c);
    const auto rows = c.access(X);
    c.check_labels(rows.rows, y.size(), masses ? masses->size() : y.size());
    c.check_labels(y.data(), y.size());
    c.begin(rows, y.data(), data_of(masses));
  };
  def("run", "X"_a, "y"_a, "answers"_a = nb::none(), "scores"_a = nb::none(), "rates"_a = nb::none(),
      "shares"_a = nb::none(), "masses"_a = nb::none(), nb::kw_only(), "unchecked"_a = false) =
      [](Core &c, Rows X, Labels y, std::optional<OutLabels> answers, std::optional<OutMatrix> scores,
         std::optional<OutVector> rates, std::optional<OutMatrix> shares, std::optional<Vector> masses,
         bool unchecked) -> int64_t {
    const Learning alone(c);  // checked inside the gate: classes may arrive until then
    const auto rows = c.access(X);
    c.check_labels(rows.rows, y.size(), masses ? masses->size() : y.size());
    const auto fits = [&](const std::optional<OutMatrix> &out, int64_t columns) {
      return !out || (out->shape(0) == y.size() && int64_t(out->shape(1)) == columns);
    };
    refuse_shapes((answers && answers->size() != y.size()) || (rates && rates->size() != y.size()) ||
                  !fits(scores, c.learner->classes()) || !fits(shares, c.learner->members()));
    const Outputs out{data_of(answers), data_of(scores), data_of(rates), data_of(shares)};
    if constexpr (std::is_same_v<Rows, Matrix>)
      if (unchecked) return c.run_checking(X.data(), y.data(), rows.rows, out);
    c.check_labels(y.data(), y.size());
    c.run(rows, y.data(), data_of(masses), out);
    return -1;
  };
  def("follow", "X"_a, "y"_a, "order"_a, "answers"_a, "scores"_a = nb::none(), "kept"_a = nb::none(),
      "places"_a = nb::none(), "sets"_a = nb::none(),
      "masses"_a = nb::none()) = [](Core &c, Rows X, Labels y, Labels order, OutLabels answers,
                                    std::optional<OutMatrix> scores, std::optional<OutBytes> kept,
                                    std::optional<Labels> places, std::optional<OutFlags> sets,
                                    std::optional<Vector> masses) {
    const Learning alone(c);
    const auto rows = c.access(X);
    refuse_shapes(
        int64_t(y.size()) != rows.rows || int64_t(answers.size()) != rows.rows ||
        (scores && (int64_t(scores->shape(0)) != rows.rows || int64_t(scores->shape(1)) != c.learner->classes())) ||
        (sets && (!scores || sets->shape(0) != scores->shape(0) || sets->shape(1) != scores->shape(1))) ||
        (masses && int64_t(masses->size()) != rows.rows) ||
        (kept && int64_t(kept->shape(1)) != c.learner->traits().kept_size) ||
        (kept && !places && int64_t(kept->shape(0)) != rows.rows) ||
        (kept && places &&
         (int64_t(places->size()) != rows.rows || !are_places(places->data(), rows.rows, int64_t(kept->shape(0))))));
    for (std::size_t i = 0; i < order.size(); i++) {
      const int64_t step = order.data()[i], row = step < 0 ? -1 - step : step;
      if (row >= rows.rows) throw std::invalid_argument("no such row");
      if (step < 0) c.check_class(y.data()[row]);
    }
    const Outputs out{answers.data(), data_of(scores), nullptr, nullptr, data_of(sets)};
    c.learner->follow(rows, y.data(), data_of(masses), order.data(), order.size(), out, data_of(kept), data_of(places));
  };
  def("learn_then_test", "X"_a, "y"_a, "test_X"_a, "test_y"_a,
      "mistakes"_a) = [](Core &c, Rows X, Labels y, TestRows test_X, LabelMatrix test_y, OutLabels mistakes) {
    const Learning alone(c);
    const auto rows = c.access(X), tests = c.access(test_X);
    c.check_labels(rows.rows, y.size(), mistakes.size());
    c.check_labels(y.data(), y.size());
    refuse_shapes(int64_t(test_y.shape(0)) != rows.rows || int64_t(test_y.size()) != tests.rows);
    c.learn_then_test(rows, y.data(), tests, test_y.data(), test_y.shape(1), mistakes.data());
  };
  def("answers", "X"_a, "out"_a) = [](const Core &c, Rows X, OutLabels out) {
    const Reading together(c);
    auto rows = c.access(X);
    refuse_shapes(int64_t(out.size()) != rows.rows);
    for (int64_t i = 0; i < rows.rows; i++) out.data()[i] = c.learner->answer(rows.at(i));
  };
  def("scores", "X"_a, "out"_a, "kept"_a = nb::none()) = [](const Core &c, Rows X, OutMatrix out,
                                                            std::optional<OutBytes> kept) {
    const Reading together(c);
    auto rows = c.access(X);
    const int64_t size = c.learner->traits().kept_size;
    refuse_shapes(int64_t(out.shape(0)) != rows.rows || int64_t(out.shape(1)) != c.learner->classes() ||
                  (kept && (int64_t(kept->shape(0)) != rows.rows || int64_t(kept->shape(1)) != size)));
    for (int64_t i = 0; i < rows.rows; i++) {
      double *scored = out.data() + i * out.shape(1);
      if (kept) c.learner->keep(rows.at(i), scored, kept->data() + i * size);
      else c.learner->scores(rows.at(i), scored);
    }
  };
}

static void bind_sparse_rows(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<SparseRows> core(module, "SparseRows");
  Binder def(core);
  core.def(nb::init<Labels, SparseRows::Short, Vector, int64_t>(), "starts"_a, "columns"_a, "values"_a, "width"_a);
  core.def(nb::init<Labels, Labels, Vector, int64_t>(), "starts"_a, "columns"_a, "values"_a, "width"_a);
  core.def("__len__", &SparseRows::rows);
  core.def_prop_ro("shape", [](const SparseRows &X) { return std::make_tuple(X.rows(), X.width()); });
  def("__getitem__", "rows"_a) = [](const SparseRows &X, nb::slice rows) {
    const auto [start, stop, step, count] = rows.compute(X.rows());
    std::vector<int64_t> which(count);
    for (std::size_t i = 0; i < count; i++) which[i] = int64_t(start) + int64_t(i) * int64_t(step);
    return X.at(which);
  };
  def("__getitem__", "rows"_a) = [](const SparseRows &X, Labels rows) {
    return X.at({rows.data(), rows.data() + rows.size()});
  };
  core.def_prop_ro("n_values", &SparseRows::values);
  core.def_prop_ro("arrays",
                   [](const SparseRows &X) { return nb::typed<nb::tuple, AnyArray, AnyArray, AnyArray>(X.arrays()); });
  core.def("with_values", &SparseRows::with_values, "values"_a, "The same columns with other values.");
  core.def_prop_ro("in_order", &SparseRows::in_order);
  core.def_prop_ro("first_bad", &SparseRows::first_bad);
}

void bind_core(nb::module_ &module) {
  using namespace nb::literals;
  bind_sparse_rows(module);
  nb::class_<Core> core(module, "Core");
  Binder def(core);
  bind_rows<Matrix, Matrix>(core);
  bind_rows<const SparseRows &, const SparseRows &>(core);
  bind_reader(core);
  bind_state(core);
  core.def_prop_ro("n_classes", [](const Core &c) { return c.learner->classes(); });
  core.def_prop_ro("rate", reading<Core>([](const Core &c) { return c.learner->rate(); }));
  core.def_prop_ro("confidence", [](const Core &c) { return c.learner->traits().confidence; });
  core.def_prop_ro("decides", [](const Core &c) { return c.learner->traits().decides; });
  core.def_prop_ro("may_fail", [](const Core &c) { return c.learner->traits().may_fail; });
  def("announce", "at"_a) = [](Core &c, int64_t at) {
    const BriefLearning alone(c);
    if (at < 0 || at > c.learner->classes()) throw std::invalid_argument("no such place for a class");
    c.learner->announce(at);
    c.codes.reset();  // places behind it have moved
  };
  def("adapters") = [](const Core &c) {
    nb::list found;
    collect_adapters(*c.learner, found);
    return AnyList(found);
  };
  core.def_prop_ro("n_posteriors", [](const Core &c) { return c.learner->traits().posteriors; });
  core.def_prop_ro("kept_size", [](const Core &c) { return c.learner->traits().kept_size; });
  core.def_prop_ro(
      "kept_classes",
      [](const Core &c) {
        const auto size = std::size_t(c.learner->traits().kept_size);
        const std::unique_ptr<bool[]> marks(new bool[size]());
        c.learner->mark_classes(marks.get());
        return owned_array(marks.get(), {size});
      },
      nb::rv_policy::move);
  core.def_prop_ro("n_members", [](const Core &c) { return c.learner->members(); });
  core.def("shares", reading<Core>([](const Core &c) {
             std::vector<double> shares(c.learner->members());
             c.learner->shares(shares.data());
             return owned_array(shares.data(), {shares.size()});
           }));
  def("answer_one", "x"_a.none()) = [](Core &c, Row x) {
    const OneReader reader(c);
    const int64_t p = c.learner->features(), classes = c.learner->classes();
    Scratch own(p + classes);  // a member in Python may let another reader in
    SparseRoom room;
    if (!reader.alone()) return c.learner->answer(c.read(x, own, room));
    c.learner->foresee_scores(c.read(x, own, room), own.data() + p);
    return Learner::highest(own.data() + p, classes);
  };
  def("probabilities_one", "x"_a.none()) = [](Core &c, Row x) {
    const OneReader reader(c);
    const int64_t p = c.learner->features(), classes = c.learner->classes();
    Scratch own(p + classes);
    SparseRoom room;
    const RowView row = c.read(x, own, room);
    if (reader.alone()) c.learner->foresee_scores(row, own.data() + p), c.learner->normalise(own.data() + p);
    else c.learner->probabilities(row, own.data() + p);
    nb::list all;
    for (int64_t k = 0; k < classes; k++) all.append(own.data()[p + k]);
    return nb::typed<nb::list, double>(all);
  };
  def("learn_one", "x"_a.none(), "k"_a) = [](Core &c, Row x, int64_t k) {
    const BriefLearning alone(c);
    c.check_class(k);
    c.learner->step(c.read_to_learn(x), k);
  };
  def("know", "codes"_a, "types"_a) = [](Core &c, nb::typed<nb::dict, AnyValue, int64_t> codes, nb::object types) {
    c.codes = codes;
    c.types = types;
  };
  // With the label itself, where it is known; false where it is not.
  def("learn_known", "x"_a.none(), "y"_a.none()) = [](Core &c, Row x, nb::handle y) {
    int64_t k = 0;
    if (!c.knows_label(y, k)) return false;
    const BriefLearning alone(c);
    c.check_class(k);
    c.learner->step(c.read_to_learn(x), k);
    return true;
  };
  def("copy") = [](const Core &c) {
    const auto copied = [&c] {
      const Reading together(c);
      return c.learner->copy();
    };
    auto *twin = new Core(copied());
    twin->sparse.copy_from(c.sparse);
    return twin;
  };
}

}  // namespace thalweg::THALWEG_LEVEL
