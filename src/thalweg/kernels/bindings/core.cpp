// A compiled learner as Python sees it: one class, `Core`, whatever the algorithm.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "bindings/python_state.hpp"

namespace thalweg::THALWEG_LEVEL {

void bind_core(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<Core>(module, "Core")
      .def_prop_ro("n_features", [](const Core &c) { return c.learner->features(); })
      .def_prop_ro("n_classes", [](const Core &c) { return c.learner->classes(); })
      .def_prop_ro("rate",
                   [](const Core &c) {
                     const BriefReading together(c);
                     return c.learner->rate();
                   })
      .def_prop_ro("confidence", [](const Core &c) { return c.learner->confidence(); })
      .def_prop_ro("decides", [](const Core &c) { return c.learner->decides(); })
      .def_prop_ro("may_fail", [](const Core &c) { return c.learner->may_fail(); })
      .def(
          "name_features", [](Core &c, NamesOrVocabulary names) { c.row.name(names); }, "names"_a)
      .def(
          "announce",
          [](Core &c, int64_t at) {
            const BriefLearning alone(c);
            if (at < 0 || at > c.learner->classes()) throw std::invalid_argument("no such place for a class");
            c.learner->announce(at);
            c.codes.reset();  // places behind it have moved
          },
          "at"_a)
      .def(
          "begin",
          [](Core &c, Matrix X, Labels y, std::optional<Vector> masses) {
            const Learning alone(c);
            c.check(X.shape(0), X.shape(1), y.size(), y.data(), masses ? masses->size() : y.size());
            if (masses) c.learner->weighted_begin(X.data(), y.data(), masses->data(), X.shape(0));
            else c.learner->begin(X.data(), y.data(), X.shape(0));
          },
          "X"_a, "y"_a, "masses"_a = nb::none())
      .def(
          "run",
          [](Core &c, Matrix X, Labels y, std::optional<OutLabels> answers, std::optional<OutMatrix> scores,
             std::optional<OutVector> rates, std::optional<OutMatrix> shares, std::optional<Vector> masses,
             bool unchecked) -> int64_t {
            const Learning alone(c);  // checked inside the gate: classes may arrive until then
            c.check_shapes(X.shape(0), X.shape(1), y.size(), masses ? masses->size() : y.size());
            const auto fits = [&](const std::optional<OutMatrix> &out, int64_t columns) {
              return !out || (out->shape(0) == y.size() && int64_t(out->shape(1)) == columns);
            };
            if ((answers && answers->size() != y.size()) || (rates && rates->size() != y.size()) ||
                !fits(scores, c.learner->classes()) || !fits(shares, c.learner->members()))
              throw std::invalid_argument("shapes do not agree");
            const Outputs out{answers ? answers->data() : nullptr, scores ? scores->data() : nullptr,
                              rates ? rates->data() : nullptr, shares ? shares->data() : nullptr};
            if (unchecked) return c.run_checking(X.data(), y.data(), X.shape(0), out);
            c.check_labels(y.data(), y.size());
            if (masses) c.learner->weighted_run(X.data(), y.data(), masses->data(), X.shape(0), out);
            else c.learner->run(X.data(), y.data(), X.shape(0), out);
            return -1;
          },
          "X"_a, "y"_a, "answers"_a = nb::none(), "scores"_a = nb::none(), "rates"_a = nb::none(),
          "shares"_a = nb::none(), "masses"_a = nb::none(), nb::kw_only(), "unchecked"_a = false)
      .def(
          "follow",
          [](Core &c, Matrix X, Labels y, Labels order, OutLabels answers, std::optional<OutMatrix> scores) {
            const Learning alone(c);
            const int64_t rows = X.shape(0);
            if (int64_t(X.shape(1)) != c.learner->features() || int64_t(y.size()) != rows ||
                int64_t(answers.size()) != rows ||
                (scores && (int64_t(scores->shape(0)) != rows || int64_t(scores->shape(1)) != c.learner->classes())))
              throw std::invalid_argument("shapes do not agree");
            for (std::size_t i = 0; i < order.size(); i++) {
              const int64_t step = order.data()[i], row = step < 0 ? -1 - step : step;
              if (row >= rows) throw std::invalid_argument("no such row");
              if (step < 0) c.check_class(y.data()[row]);
            }
            const Outputs out{answers.data(), scores ? scores->data() : nullptr, nullptr, nullptr};
            c.learner->follow(X.data(), y.data(), order.data(), order.size(), out);
          },
          "X"_a, "y"_a, "order"_a, "answers"_a, "scores"_a = nb::none())
      .def("adapters",
           [](const Core &c) {
             nb::list found;
             collect_adapters(*c.learner, found);
             return AnyList(found);
           })
      .def_prop_ro("n_voices", [](const Core &c) { return c.learner->voices(); })
      .def_prop_ro("n_members", [](const Core &c) { return c.learner->members(); })
      .def("shares",
           [](const Core &c) {
             const BriefReading together(c);
             std::vector<double> shares(c.learner->members());
             c.learner->shares(shares.data());
             return owned_array(shares.data(), {shares.size()});
           })
      .def(
          "learn_then_test",
          [](Core &c, Matrix X, Labels y, Cube test_X, LabelMatrix test_y, OutLabels mistakes) {
            const Learning alone(c);
            c.check(X.shape(0), X.shape(1), y.size(), y.data(), y.size());
            if (test_X.shape(0) != X.shape(0) || test_y.shape(0) != X.shape(0) || test_y.shape(1) != test_X.shape(1) ||
                test_X.shape(2) != X.shape(1) || mistakes.size() != y.size())
              throw std::invalid_argument("shapes do not agree");
            c.learner->learn_then_test(X.data(), y.data(), X.shape(0), test_X.data(), test_y.data(), test_X.shape(1),
                                       mistakes.data());
          },
          "X"_a, "y"_a, "test_X"_a, "test_y"_a, "mistakes"_a)
      .def(
          "answers",
          [](const Core &c, Matrix X, OutLabels out) {
            const Reading together(c);
            if (int64_t(X.shape(1)) != c.learner->features() || out.size() != X.shape(0))
              throw std::invalid_argument("shapes do not agree");
            for (std::size_t i = 0; i < X.shape(0); i++) out.data()[i] = c.learner->answer(X.data() + i * X.shape(1));
          },
          "X"_a, "out"_a)
      .def(
          "scores",
          [](const Core &c, Matrix X, OutMatrix out) {
            const Reading together(c);
            if (int64_t(X.shape(1)) != c.learner->features() || out.shape(0) != X.shape(0) ||
                int64_t(out.shape(1)) != c.learner->classes())
              throw std::invalid_argument("shapes do not agree");
            for (std::size_t i = 0; i < X.shape(0); i++)
              c.learner->scores(X.data() + i * X.shape(1), out.data() + i * out.shape(1));
          },
          "X"_a, "out"_a)
      .def(
          "answer_one",
          [](Core &c, Row x) {
            const BriefReading together(c);
            Scratch own(c.learner->features());  // a member in Python may let another reader in
            std::copy_n(c.row.read(x), c.learner->features(), own.data());
            return c.learner->answer(own.data());
          },
          "x"_a.none())
      .def(
          "probabilities_one",
          [](Core &c, Row x) {
            const BriefReading together(c);
            const int64_t p = c.learner->features(), classes = c.learner->classes();
            Scratch own(p + classes);
            std::copy_n(c.row.read(x), p, own.data());
            c.learner->probabilities(own.data(), own.data() + p);
            nb::list all;
            for (int64_t k = 0; k < classes; k++) all.append(own.data()[p + k]);
            return nb::typed<nb::list, double>(all);
          },
          "x"_a.none())
      .def(
          "learn_one",
          [](Core &c, Row x, int64_t k) {
            const BriefLearning alone(c);
            c.check_class(k);
            c.learner->step(c.row.read(x), k);
          },
          "x"_a.none(), "k"_a)
      .def(
          "know",
          [](Core &c, nb::typed<nb::dict, AnyValue, int64_t> codes, nb::object types) {
            c.codes = codes;
            c.types = types;
          },
          "codes"_a, "types"_a)
      // With the label itself, where it is known; false where it is not.
      .def(
          "learn_known",
          [](Core &c, Row x, nb::handle y) {
            int64_t k = 0;
            if (!c.knows_label(y, k)) return false;
            const BriefLearning alone(c);
            c.check_class(k);
            c.learner->step(c.row.read(x), k);
            return true;
          },
          "x"_a.none(), "y"_a.none())
      .def(
          "check_one", [](Core &c, Row x) { c.row.read(x); }, "x"_a.none())
      .def("copy",
           [](const Core &c) {
             const auto copied = [&c] {
               const Reading together(c);
               return c.learner->copy();
             };
             return new Core(copied());
           })
      .def(
          "state",
          [](Core &c, std::string prefix) {
            const BriefLearning alone(c);
            StateWriter writer(std::move(prefix));
            c.learner->visit(writer);
            return writer.values;
          },
          "prefix"_a = "")
      .def(
          "restore",
          [](Core &c, StateDict values) {
            const BriefLearning alone(c);
            StateReader reader(values);
            c.codes.reset();
            c.learner->visit(reader);
          },
          "state"_a);
}

}  // namespace thalweg::THALWEG_LEVEL
