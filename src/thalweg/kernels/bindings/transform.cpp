// The compiled transformers as Python sees them: one class, `TransformerCore`, and one maker per algorithm.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "bindings/python_state.hpp"
#include "rows/vocabulary.hpp"
#include "sparse_scale.hpp"
#include "transform/ccipca.hpp"
#include "transform/random_features.hpp"
#include "transform/random_tilings.hpp"
#include "transform/scaler.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

struct TransformerCore : Gated {
  explicit TransformerCore(Transformer *raw) : transformer(raw), row(raw->features()) {}
  std::unique_ptr<Transformer> transformer;
  RowReader row;

  void check(const Matrix &X) const {
    if (int64_t(X.shape(1)) != transformer->features()) throw std::invalid_argument("shapes do not agree");
  }
  void check(const Matrix &X, const std::optional<Vector> &masses) const {
    check(X);
    if (masses && masses->size() != X.shape(0)) throw std::invalid_argument("shapes do not agree");
  }
  void check(const Matrix &X, const OutMatrix &out) const {
    check(X);
    if (out.shape(0) != X.shape(0) || int64_t(out.shape(1)) != transformer->outputs())
      throw std::invalid_argument("shapes do not agree");
  }
  void learn(const Matrix &X, const std::optional<Vector> &masses) {
    const double *x = X.data(), *mass = masses ? masses->data() : nullptr;
    for (std::size_t i = 0; i < X.shape(0); i++, x += X.shape(1))
      if (!mass) transformer->learn(x, 1);
      else if (mass[i] > 0) transformer->learn(x, mass[i]);
  }
  // Whatever comes out may go into a learner: it is within the bounds of a row's values.
  void transform(const double *X, int64_t rows, double *out) const {
    transformer->transform(X, rows, out);
    for (int64_t i = 0; i < rows * transformer->outputs(); i++)
      out[i] = std::clamp(out[i], -kLargestValue, kLargestValue);
  }
};

// A scaler of sparse rows. What comes out has the columns that came in, so only the values are given.
struct SparseScalerCore : Gated {
  SparseScalerCore(double most_rows, double clip, bool robust) : scale(most_rows, robust), clip(clip) {}
  SparseCore sparse{true};
  SparseScale scale;
  double clip, rows = 0;

  static void check(const SparseRows &X, const std::optional<Vector> &masses) {
    if (masses && int64_t(masses->size()) != X.rows()) throw std::invalid_argument("shapes do not agree");
  }
  static void check(const SparseRows &X, const OutVector &out) {
    if (int64_t(out.size()) != X.values()) throw std::invalid_argument("shapes do not agree");
  }
  void learn(const double *x, double weight) {
    const SparseRow &row = SparseRow::of(x);
    rows += weight;
    for (int64_t i = 0; i < row.count; i++) scale.learn(row.slots[i], row.values[i], weight);
  }
  // With `out`, each row is transformed by what was known before it.
  void learn(const SparseRows &X, const double *masses, double *out) {
    auto access = sparse.access(X, scale);
    for (int64_t i = 0; i < X.rows(); i++) {
      if (out) transform(X, i, out);
      const double weight = masses ? masses[i] : 1;
      if (weight > 0) learn(access.to_learn(i), weight);
    }
  }
  double scaled(int64_t feature, double value) const {
    const int32_t slot = feature < 0 ? -1 : sparse.reader->slots.find(feature);
    const double scaled = slot < 0 ? SparseScale::scaled_unseen(value) : scale.scaled(slot, value);
    return std::clamp(scaled, -clip, clip);
  }
  void transform(const SparseRows &X, int64_t i, double *out) const {
    X.each(i, [&](int64_t feature, double value, int64_t at) { out[at] = scaled(feature, value); });
  }
  void check_one(nb::handle x) {
    SparseRoom room;
    sparse.reader->read_one(x, room, false);
  }
  void visit(State &state) {
    sparse.visit(state, scale);
    scale.visit(state);
    state.real("rows", rows);
    if (!(rows >= 0 && std::isfinite(rows))) throw BadState("rows");
  }
};

void bind_sparse_scaler(nb::module_ &module) {
  using namespace nb::literals;
  using S = SparseScalerCore;
  nb::class_<S>(module, "SparseScalerCore")
      .def(nb::init<double, double, bool>(), "most_rows"_a, "clip"_a, "robust"_a = false)
      .def_prop_ro("is_sparse", [](const S &) { return true; })
      .def_prop_ro("n_features", [](const S &) { return 0; })
      .def_prop_ro("n_outputs", [](const S &) { return 0; })
      .def(
          "name_features", [](S &c, Names names) { c.sparse.reader->name(names); }, "names"_a)
      .def(
          "begin",
          [](S &c, const SparseRows &X, std::optional<Vector> masses) {
            const Learning alone(c);
            S::check(X, masses);
            c.scale.forget();
            c.rows = 0;
            c.learn(X, masses ? masses->data() : nullptr, nullptr);
          },
          "X"_a, "masses"_a = nb::none())
      .def(
          "learn",
          [](S &c, const SparseRows &X, std::optional<Vector> masses) {
            const Learning alone(c);
            S::check(X, masses);
            c.learn(X, masses ? masses->data() : nullptr, nullptr);
          },
          "X"_a, "masses"_a = nb::none())
      .def(
          "run",
          [](S &c, const SparseRows &X, OutVector out, std::optional<Vector> masses) {
            const Learning alone(c);
            S::check(X, masses);
            S::check(X, out);
            c.learn(X, masses ? masses->data() : nullptr, out.data());
          },
          "X"_a, "out"_a, "masses"_a = nb::none(), "Transform each row by what was known before it, then learn it.")
      .def(
          "transform",
          [](const S &c, const SparseRows &X, OutVector out) {
            const Reading together(c);
            S::check(X, out);
            for (int64_t i = 0; i < X.rows(); i++) c.transform(X, i, out.data());
          },
          "X"_a, "out"_a)
      .def(
          "learn_one",
          [](S &c, Row x) {
            const BriefLearning alone(c);
            c.learn(c.sparse.read_to_learn(x, c.scale), 1);
          },
          "x"_a.none())
      .def(
          "transform_one",
          [](S &c, Row x) {
            const BriefReading together(c);
            c.check_one(x);
            nb::dict out;
            for (nb::handle item : nb::steal(PyMapping_Items(x.ptr()))) {
              PyObject *key = PyTuple_GetItem(item.ptr(), 0), *value = PyTuple_GetItem(item.ptr(), 1);
              out[nb::handle(key)] = c.scaled(c.sparse.reader->known_number(key), as_number(value, key));
            }
            return nb::typed<nb::dict, AnyValue, double>(out);
          },
          "x"_a.none())
      .def(
          "check_one", [](S &c, Row x) { c.check_one(x); }, "x"_a.none())
      .def("state",
           [](S &c) {
             const BriefLearning alone(c);
             StateWriter writer;
             c.visit(writer);
             return writer.values;
           })
      .def(
          "restore",
          [](S &c, StateDict values) {
            const BriefLearning alone(c);
            StateReader reader(values);
            c.visit(reader);
          },
          "state"_a);
}

void bind_transforms(nb::module_ &module) {
  using namespace nb::literals;
  bind_sparse_scaler(module);
  using T = TransformerCore;
  nb::class_<T>(module, "TransformerCore")
      .def_prop_ro("n_features", [](const T &c) { return c.transformer->features(); })
      .def_prop_ro("n_outputs", [](const T &c) { return c.transformer->outputs(); })
      .def(
          "name_features", [](T &c, NamesOrVocabulary names) { c.row.name(names); }, "names"_a)
      .def(
          "begin",
          [](T &c, Matrix X, std::optional<Vector> masses) {
            const Learning alone(c);
            c.check(X, masses);
            c.transformer->forget();
            c.learn(X, masses);
          },
          "X"_a, "masses"_a = nb::none())
      .def(
          "learn",
          [](T &c, Matrix X, std::optional<Vector> masses) {
            const Learning alone(c);
            c.check(X, masses);
            c.learn(X, masses);
          },
          "X"_a, "masses"_a = nb::none())
      .def(
          "run",
          [](T &c, Matrix X, OutMatrix out, std::optional<Vector> masses) {
            const Learning alone(c);
            c.check(X, masses);
            c.check(X, out);
            const double *x = X.data(), *mass = masses ? masses->data() : nullptr;
            for (std::size_t i = 0; i < X.shape(0); i++, x += X.shape(1)) {
              c.transform(x, 1, out.data() + i * out.shape(1));
              if (!mass || mass[i] > 0) c.transformer->learn(x, mass ? mass[i] : 1);
            }
          },
          "X"_a, "out"_a, "masses"_a = nb::none(), "Transform each row by what was known before it, then learn it.")
      .def(
          "transform",
          [](const T &c, Matrix X, OutMatrix out) {
            const Reading together(c);
            c.check(X, out);
            c.transform(X.data(), X.shape(0), out.data());
          },
          "X"_a, "out"_a)
      .def(
          "learn_one",
          [](T &c, Row x) {
            const BriefLearning alone(c);
            c.transformer->learn(c.row.read(x), 1);
          },
          "x"_a.none())
      .def(
          "transform_one",
          [](T &c, Row x) {
            const BriefReading together(c);
            std::vector<double> out(c.transformer->outputs());
            c.transform(c.row.read(x), 1, out.data());
            return owned_array(out.data(), {out.size()});
          },
          "x"_a.none())
      .def(
          "transform_named",
          [](T &c, Row x, Names names) {
            const BriefReading together(c);
            std::vector<double> out(c.transformer->outputs());
            if (names.size() != out.size()) throw std::invalid_argument("a name for every output");
            c.transform(c.row.read(x), 1, out.data());
            nb::dict named;
            for (std::size_t j = 0; j < out.size(); j++) named[names[j]] = out[j];
            return nb::typed<nb::dict, AnyValue, double>(named);
          },
          "x"_a.none(), "names"_a, "One row transformed, as a dict.")
      .def(
          "check_one", [](T &c, Row x) { c.row.read(x); }, "x"_a.none())
      .def("state",
           [](T &c) {
             const BriefLearning alone(c);
             StateWriter writer;
             c.transformer->visit(writer);
             return writer.values;
           })
      .def(
          "restore",
          [](T &c, StateDict values) {
            const BriefLearning alone(c);
            StateReader reader(values);
            c.transformer->visit(reader);
          },
          "state"_a);

  module.def(
      "scaler",
      [](int64_t p, bool with_mean, bool with_std, double forgetting, double clip, bool robust) {
        return new T(new Scaler(p, ScalerOptions{with_mean, with_std, forgetting, clip, robust}));
      },
      "features"_a, "with_mean"_a, "with_std"_a, "forgetting"_a, "clip"_a, "robust"_a = false);
  module.def(
      "principal",
      [](int64_t p, int64_t components, double amnesic, double forgetting, bool unit) {
        return new T(new Principal(p, components, PrincipalOptions{amnesic, forgetting, unit}));
      },
      "features"_a, "components"_a, "amnesic"_a, "forgetting"_a, "unit"_a);
  module.def(
      "orthonormal_axes",
      [](const T &core) {
        const auto *principal = dynamic_cast<const Principal *>(core.transformer.get());
        if (!principal) throw std::invalid_argument("needs principal components");
        const BriefReading together(core);
        const std::size_t k = principal->outputs(), p = principal->features();
        Buffer basis(k * principal->stride(), 0.0);
        principal->orthonormalise(basis.data());
        std::vector<double> dense(k * p);
        for (std::size_t c = 0; c < k; c++)
          std::copy_n(basis.data() + c * principal->stride(), p, dense.data() + c * p);
        return owned_array(dense.data(), {k, p});
      },
      "core"_a);
  module.def(
      "random_features",
      [](int64_t outputs, Matrix frequencies) {
        if (outputs < 1 || int64_t(frequencies.shape(0)) != (outputs + 1) / 2)
          throw std::invalid_argument("a frequency for every two outputs");
        return new T(new RandomFeatures(frequencies.shape(1), outputs, frequencies.data()));
      },
      "outputs"_a, "frequencies"_a);
  module.def(
      "random_tilings",
      [](int64_t p, int64_t tilings, int64_t depth, uint64_t seed) {
        if (p < 1 || tilings < 1 || depth < 1 || depth > Grids::kDepth)
          throw std::invalid_argument("tilings of 1 to 3 features");
        return new T(new RandomTilings(p, Grids(p, tilings, depth, seed, false)));
      },
      "features"_a, "tilings"_a, "depth"_a, "seed"_a);
}

}  // namespace thalweg::THALWEG_LEVEL
