// The compiled transformers as Python sees them: one class, `TransformerCore`, and one maker per algorithm.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core_methods.hpp"
#include "sparse_scale.hpp"
#include "transform/ccipca.hpp"
#include "transform/random_features.hpp"
#include "transform/random_tilings.hpp"
#include "transform/scaler.hpp"

namespace thalweg::THALWEG_LEVEL {

void check_masses(int64_t rows, const std::optional<Vector> &masses) {
  refuse_shapes(masses && int64_t(masses->size()) != rows);
}

struct TransformerCore : Gated {
  using Rows = Matrix;
  using Out = OutMatrix;
  explicit TransformerCore(Transformer *raw) : transformer(raw), row(raw->features()) {}
  std::unique_ptr<Transformer> transformer;
  RowReader row;

  void check(const Matrix &X, const std::optional<Vector> &masses) const {
    refuse_shapes(int64_t(X.shape(1)) != transformer->features());
    check_masses(X.shape(0), masses);
  }
  void check(const Matrix &X, const OutMatrix &out) const {
    refuse_shapes(out.shape(0) != X.shape(0) || int64_t(out.shape(1)) != transformer->outputs());
  }
  void check_one(nb::handle x) { row.read(x); }
  void forget() { transformer->forget(); }
  void learn_one(nb::handle x) { transformer->learn(row.read(x), 1); }
  // With `out`, each row is transformed by what was known before it.
  void learn(const Matrix &X, const double *masses, double *out) {
    const double *x = X.data();
    for (std::size_t i = 0; i < X.shape(0); i++, x += X.shape(1)) {
      if (out) transform(x, 1, out + i * transformer->outputs());
      if (!masses || masses[i] > 0) transformer->learn(x, masses ? masses[i] : 1);
    }
  }
  void transform(const Matrix &X, double *out) const { transform(X.data(), X.shape(0), out); }
  // Whatever comes out may go into a learner: it is within the bounds of a row's values.
  void transform(const double *X, int64_t rows, double *out) const {
    transformer->transform(X, rows, out);
    for (int64_t i = 0; i < rows * transformer->outputs(); i++)
      out[i] = std::clamp(out[i], -kLargestValue, kLargestValue);
  }
  void visit(State &state) { transformer->visit(state); }
};

// A scaler of sparse rows. What comes out has the columns that came in, so only the values are given.
struct SparseScalerCore : Gated {
  using Rows = const SparseRows &;
  using Out = OutVector;
  SparseScalerCore(double most_rows, double clip, bool robust) : scale(most_rows, robust), clip(clip) {}
  SparseCore sparse{true};
  SparseScale scale;
  double clip, rows = 0;

  static void check(const SparseRows &X, const std::optional<Vector> &masses) { check_masses(X.rows(), masses); }
  static void check(const SparseRows &X, const OutVector &out) { refuse_shapes(int64_t(out.size()) != X.values()); }
  void check_one(nb::handle x) {
    SparseRoom room;
    sparse.reader->read_one(x, room, false);
  }
  void forget() {
    scale.forget();
    rows = 0;
  }
  void learn_one(nb::handle x) { learn(sparse.read_to_learn(x, scale), 1); }
  void learn(const SparseRow &row, double weight) {
    rows += weight;
    for (int64_t i = 0; i < row.count; i++) scale.learn(row.slots[i], row.values[i], weight);
  }
  // With `out`, each row is transformed by what was known before it.
  void learn(const SparseRows &X, const double *masses, double *out) {
    auto access = sparse.access(X, scale);
    for (int64_t i = 0; i < X.rows(); i++) {
      if (out) transform(X, i, out);
      const double weight = masses ? masses[i] : 1;
      if (weight > 0) learn(access.to_learn(i).sparse(), weight);
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
  void transform(const SparseRows &X, double *out) const {
    for (int64_t i = 0; i < X.rows(); i++) transform(X, i, out);
  }
  void visit(State &state) {
    sparse.visit(state, scale);
    scale.visit(state);
    state.real("rows", rows, amount);
  }
};

// What both do with rows.
template <class C> void bind_rows(nb::class_<C> &core) {
  using namespace nb::literals;
  Binder def(core);
  using Rows = typename C::Rows;
  bind_state(core);
  def("begin", "X"_a, "masses"_a = nb::none()) = [](C &c, Rows X, std::optional<Vector> masses) {
    const Learning alone(c);
    c.check(X, masses);
    c.forget();
    c.learn(X, data_of(masses), nullptr);
  };
  def("learn", "X"_a, "masses"_a = nb::none()) = [](C &c, Rows X, std::optional<Vector> masses) {
    const Learning alone(c);
    c.check(X, masses);
    c.learn(X, data_of(masses), nullptr);
  };
  def("run", "X"_a, "out"_a, "masses"_a = nb::none(),
      "Transform each row by what was known before it, then learn it.") = [](C &c, Rows X, typename C::Out out,
                                                                             std::optional<Vector> masses) {
    const Learning alone(c);
    c.check(X, masses);
    c.check(X, out);
    c.learn(X, data_of(masses), out.data());
  };
  def("transform", "X"_a, "out"_a) = [](const C &c, Rows X, typename C::Out out) {
    const Reading together(c);
    c.check(X, std::nullopt);
    c.check(X, out);
    c.transform(X, out.data());
  };
  def("learn_one", "x"_a.none()) = [](C &c, Row x) {
    const BriefLearning alone(c);
    c.learn_one(x);
  };
  def("check_one", "x"_a.none()) = [](C &c, Row x) { c.check_one(x); };
}

static void bind_sparse_scaler(nb::module_ &module) {
  using namespace nb::literals;
  using S = SparseScalerCore;
  nb::class_<S> core(module, "SparseScalerCore");
  Binder def(core);
  bind_rows(core);
  core.def(nb::init<double, double, bool>(), "most_rows"_a, "clip"_a, "robust"_a = false);
  core.def_prop_ro("is_sparse", [](const S &) { return true; });
  core.def_prop_ro("n_features", [](const S &) { return 0; });
  core.def_prop_ro("n_outputs", [](const S &) { return 0; });
  def("name_features", "names"_a) = [](S &c, Names names) { c.sparse.reader->name(names); };
  def("transform_one", "x"_a.none()) = [](S &c, Row x) {
    const BriefReading together(c);
    c.check_one(x);
    nb::dict out;
    for (nb::handle item : nb::steal(PyMapping_Items(x.ptr()))) {
      PyObject *key = PyTuple_GetItem(item.ptr(), 0), *value = PyTuple_GetItem(item.ptr(), 1);
      out[nb::handle(key)] = c.scaled(c.sparse.reader->known_number(key), as_number(value, key));
    }
    return nb::typed<nb::dict, AnyValue, double>(out);
  };
}

static void bind_transformer(nb::module_ &module) {
  using namespace nb::literals;
  using T = TransformerCore;
  nb::class_<T> core(module, "TransformerCore");
  Binder def(core);
  bind_rows(core);
  core.def_prop_ro("n_features", [](const T &c) { return c.transformer->features(); });
  core.def_prop_ro("n_outputs", [](const T &c) { return c.transformer->outputs(); });
  def("name_features", "names"_a) = [](T &c, NamesOrVocabulary names) { c.row.name(names); };
  def("transform_one", "x"_a.none()) = [](T &c, Row x) {
    const BriefReading together(c);
    std::vector<double> out(c.transformer->outputs());
    c.transform(c.row.read(x), 1, out.data());
    return owned_array(out.data(), {out.size()});
  };
  def("transform_named", "x"_a.none(), "names"_a, "One row transformed, as a dict.") = [](T &c, Row x, Names names) {
    const BriefReading together(c);
    std::vector<double> out(c.transformer->outputs());
    if (names.size() != out.size()) throw std::invalid_argument("a name for every output");
    c.transform(c.row.read(x), 1, out.data());
    nb::dict named;
    for (std::size_t j = 0; j < out.size(); j++) named[names[j]] = out[j];
    return nb::typed<nb::dict, AnyValue, double>(named);
  };
}

void bind_transforms(nb::module_ &module) {
  using namespace nb::literals;
  Binder def(module);
  bind_sparse_scaler(module);
  bind_transformer(module);
  def("scaler", "features"_a, "with_mean"_a, "with_std"_a, "forgetting"_a, "clip"_a,
      "robust"_a = false) = [](int64_t p, bool with_mean, bool with_std, double forgetting, double clip, bool robust) {
    return new TransformerCore(new Scaler(p, ScalerOptions{with_mean, with_std, forgetting, clip, robust}));
  };
  def("principal", "features"_a, "components"_a, "amnesic"_a, "forgetting"_a,
      "unit"_a) = [](int64_t p, int64_t components, double amnesic, double forgetting, bool unit) {
    return new TransformerCore(new Principal(p, components, PrincipalOptions{amnesic, forgetting, unit}));
  };
  def("orthonormal_axes", "core"_a) = [](const TransformerCore &core) {
    const auto *principal = dynamic_cast<const Principal *>(core.transformer.get());
    if (!principal) throw std::invalid_argument("needs principal components");
    const BriefReading together(core);
    const std::size_t k = principal->outputs(), p = principal->features();
    Buffer basis(k * principal->stride(), 0.0);
    principal->orthonormalise(basis.data());
    std::vector<double> dense(k * p);
    for (std::size_t c = 0; c < k; c++) std::copy_n(basis.data() + c * principal->stride(), p, dense.data() + c * p);
    return owned_array(dense.data(), {k, p});
  };
  def("random_features", "outputs"_a, "frequencies"_a) = [](int64_t outputs, Matrix frequencies) {
    if (outputs < 1 || int64_t(frequencies.shape(0)) != (outputs + 1) / 2)
      throw std::invalid_argument("a frequency for every two outputs");
    return new TransformerCore(new RandomFeatures(frequencies.shape(1), outputs, frequencies.data()));
  };
  def("random_tilings", "features"_a, "tilings"_a, "depth"_a, "seed"_a) = [](int64_t p, int64_t tilings, int64_t depth,
                                                                             uint64_t seed) {
    if (p < 1 || tilings < 1 || depth < 1 || depth > Grids::kDepth)
      throw std::invalid_argument("tilings of 1 to 3 features");
    return new TransformerCore(new RandomTilings(p, Grids(p, tilings, depth, seed, false)));
  };
}

}  // namespace thalweg::THALWEG_LEVEL
