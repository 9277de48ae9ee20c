// A learner as Python holds it: behind a gate, with the reader of its rows.
#pragma once

#include <nanobind/nanobind.h>

#include <mutex>
#include <optional>
#include <shared_mutex>

#include "learner.hpp"
#include "rows/row_reader.hpp"
#include "rows/sparse_rows.hpp"
#include "rows/values.hpp"

namespace thalweg::THALWEG_LEVEL {

// Learners one at a time, readers together: a model may be shared between threads.
struct Gated {
  std::shared_mutex gate;
};

// Gives a learner room for the features that got slots meanwhile.
template <class Model> void make_room(Model &learner, const FeatureSlots &slots, int64_t known) {
  if (slots.size() > known) learner.appear(slots.ids().data() + known, slots.size() - known);
}

// The same for sparse rows: new features of those to be learned get slots, and room in the learner.
template <class Model> struct SparseAccess {
  const SparseRows &X;
  FeatureSlots &slots;
  Model &learner;
  int64_t rows = X.rows();
  SparseRoom room{};
  RowView at(int64_t i) { return X.read(i, std::as_const(slots), room); }
  RowView to_learn(int64_t i) {
    const int64_t known = slots.size();
    const SparseRow &row = X.read(i, slots, room);
    make_room(learner, slots, known);
    return row;
  }
};

// What a core of sparse rows keeps beside its learner, null where rows are dense, and the row at hand.
struct SparseCore {
  explicit SparseCore(bool wanted) : reader(wanted ? new SparseReader : nullptr) {}
  std::unique_ptr<SparseReader> reader;
  SparseRoom room;

  explicit operator bool() const { return bool(reader); }
  template <class Model> SparseAccess<Model> access(const SparseRows &X, Model &learner) const {
    if (!reader) throw std::invalid_argument("takes dense rows");
    return {X, reader->slots, learner};
  }
  template <class Model> const SparseRow &read_to_learn(nb::handle x, Model &learner) {
    const int64_t known = reader->slots.size();
    const SparseRow &row = reader->read_one(x, room, true);
    make_room(learner, reader->slots, known);
    return row;
  }
  void copy_from(const SparseCore &other) {
    if (!other) return;
    reader->slots = other.reader->slots;
    reader->width = other.reader->width;
    if (other.reader->named()) reader->name(other.reader->names());
  }
  // The features by slot. A learner that has none yet gets room for them.
  template <class Model> void visit(State &state, Model &learner) {
    if (!reader || !state.wants("feature_ids")) return;
    std::vector<int64_t> ids = reader->slots.ids();
    state.integers("feature_ids", ids);
    if (ids == reader->slots.ids()) return;
    if (reader->slots.size() || !reader->slots.restore(ids)) throw BadState("feature_ids");
    make_room(learner, reader->slots, 0);
  }
};

// A core whose rows are dense or sparse as its model takes them.
template <class Self> struct RowCore : Gated {
  explicit RowCore(int64_t features) : row(features), sparse(features == 0) {}
  RowReader row;
  SparseCore sparse;

  DenseAccess access(const Matrix &X) const {
    refuse_shapes(sparse || X.shape(1) != row.features());
    return {X.data(), int64_t(X.shape(0)), int64_t(row.features())};
  }
  auto access(const SparseRows &X) const { return sparse.access(X, static_cast<const Self &>(*this).model()); }
  // One row, kept until the next one is learned.
  RowView read_to_learn(nb::handle x) {
    if (sparse) return sparse.read_to_learn(x, static_cast<Self &>(*this).model());
    return row.read(x);
  }
  // One row to answer, kept until the next one is read.
  RowView read(nb::handle x, SparseRoom &room) {
    if (sparse) return sparse.reader->read_one(x, room, false);
    return row.read(x);
  }
};

struct Core : RowCore<Core> {
  using RowCore::read;
  explicit Core(Learner *raw) : RowCore(raw->features()), learner(raw) {}
  Learner &model() const { return *learner; }
  std::unique_ptr<Learner> learner;
  nb::object codes, types;  // the labels' places and their usual types, until another class is announced

  // Whether a label is one of these; then its place.
  bool knows_label(nb::handle y, int64_t &place) const {
    if (!codes.is_valid()) return false;
    const int usual = PySet_Contains(types.ptr(), reinterpret_cast<PyObject *>(Py_TYPE(y.ptr())));
    PyObject *found = usual > 0 ? PyDict_GetItemWithError(codes.ptr(), y.ptr()) : nullptr;
    if (found) place = PyLong_AsLongLong(found);
    else if (PyErr_Occurred()) nb::raise_python_error();
    return found;
  }

  // One row to answer: in room of the caller's own, since there may be several.
  RowView read(nb::handle x, Scratch &own, SparseRoom &room) {
    if (sparse) return RowCore::read(x, room);
    std::copy_n(row.read(x), learner->features(), own.data());
    return own.data();
  }

  void check_labels(std::size_t rows, std::size_t labels, std::size_t masses) const {
    refuse_shapes(rows != labels || rows != masses);
  }
  void check_labels(const int64_t *y, int64_t count) const {
    if (!are_places(y, count, learner->classes())) throw std::invalid_argument("a class that was never announced");
  }
  // Test-then-train over rows and labels that nobody has looked at: some are looked at, then learned while they are in
  // the cache. Where one is not good all that was learned is forgotten again. Returns the place of a value that is no
  // number, kUnknown where there is a label of no class, -1 if all were good.
  static constexpr int64_t kUnknown = -2;
  int64_t run_checking(const double *X, const int64_t *y, int64_t rows, const Outputs &out) {
    const int64_t p = learner->features(), some = learner->rows_to_look_at(rows);
    std::unique_ptr<Learner> before(some < rows ? learner->copy() : nullptr);
    for (int64_t from = 0; from < rows; from += some) {
      const int64_t count = std::min(some, rows - from);
      const double *x = X + from * p;
      if (!are_values(x, count * p) || !are_places(y + from, count, learner->classes())) {
        if (from > 0) learner = std::move(before);
        const int64_t bad = first_bad(x, count * p);
        return bad < 0 ? kUnknown : from * p + bad;
      }
      learner->run(x, y + from, nullptr, count, out.after(from, learner->classes()));
    }
    return -1;
  }

  // Test-then-train over rows that were looked at.
  template <class Access> void run(const Access &X, const int64_t *y, const double *masses, const Outputs &out) {
    if constexpr (kDense<Access>) learner->run(X.X, y, masses, X.rows, out);
    else Learner::run_as(*learner, X, y, masses, out);
  }
  // Forget everything and begin from these rows.
  template <class Access> void begin(const Access &X, const int64_t *y, const double *masses) {
    if constexpr (kDense<Access>) return learner->begin(X.X, y, masses, X.rows);
    learner->forget();
    run(X, y, masses, {});
  }
  // Train-then-test: after each row, the mistakes on that row's own `tests` test rows.
  template <class Access>
  void learn_then_test(Access X, const int64_t *y, Access test_X, const int64_t *test_y, int64_t tests,
                       int64_t *mistakes) {
    for (int64_t i = 0; i < X.rows; i++, test_y += tests) {
      learner->step(X.to_learn(i), y[i]);
      if constexpr (kDense<Access>) {
        mistakes[i] = learner->mistakes_on(test_X.at(i * tests), test_y, tests);
      } else {
        mistakes[i] = 0;
        for (int64_t j = 0; j < tests; j++) mistakes[i] += learner->answer(test_X.at(i * tests + j)) != test_y[j];
      }
    }
  }

  void visit(State &state) {
    if (state.reads()) codes.reset();
    sparse.visit(state, *learner);
    learner->visit(state);
  }

  void check_class(int64_t k) const {
    if (k < 0 || k >= learner->classes()) throw std::invalid_argument("a class that was never announced");
  }
};

// A learner that others may be made of.
inline const Learner &fresh(const Core &core) {
  if (core.learner->classes()) throw std::invalid_argument("needs a fresh learner");
  return *core.learner;
}
// The learner of a core, where it is of a kind.
template <class Kind> Kind &as(const Core &core) {
  auto *found = dynamic_cast<Kind *>(core.learner.get());
  if (!found) throw std::invalid_argument("another kind of learner");
  return *found;
}

// The members of a learner that live in Python, in their order (ensemble.cpp).
void collect_adapters(const Learner &learner, nb::list &into);

// Waits for the gate without the interpreter's lock, so that whoever is inside can finish; then works without it.
template <class Lock> class Unlocked {
 public:
  explicit Unlocked(const Gated &core) : lock_(const_cast<Gated &>(core).gate) {}

 private:
  nb::gil_scoped_release released_;
  Lock lock_;
};
using Learning = Unlocked<std::unique_lock<std::shared_mutex>>;
using Reading = Unlocked<std::shared_lock<std::shared_mutex>>;

// The same for a single row, which is not worth giving the interpreter's lock up for.
template <class Lock> class Brief {
 public:
  explicit Brief(const Gated &core) : lock_(const_cast<Gated &>(core).gate, std::try_to_lock) {
    if (lock_.owns_lock()) return;
    nb::gil_scoped_release released;
    lock_.lock();
  }

 private:
  Lock lock_;
};
using BriefLearning = Brief<std::unique_lock<std::shared_mutex>>;
using BriefReading = Brief<std::shared_lock<std::shared_mutex>>;

// Who reads a single row: alone, where nobody else is inside and the learner can make use of that.
class OneReader {
 public:
  explicit OneReader(Core &core) {
    const Traits &traits = core.learner->traits();
    if (traits.foresees && !traits.decides && !traits.may_fail) alone_ = {core.gate, std::try_to_lock};
    if (!alone()) together_.emplace(core);
  }
  bool alone() const { return alone_.owns_lock(); }

 private:
  std::unique_lock<std::shared_mutex> alone_;
  std::optional<BriefReading> together_;
};

// A getter that reads what may be learned at the same time.
template <class C, class Get> auto reading(Get get) {
  return [get](const C &c) {
    const BriefReading together(c);
    return get(c);
  };
}

}  // namespace thalweg::THALWEG_LEVEL
