// A learner as Python holds it: behind a gate, with the reader of its rows.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <shared_mutex>

#include "learner.hpp"
#include "rows/row_reader.hpp"
#include "rows/sparse_rows.hpp"
#include "rows/values.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

// Learners one at a time, readers together: a model may be shared between threads.
struct Gated {
  std::shared_mutex gate;
};

// The rows of a matrix, as a learner takes them.
struct DenseAccess {
  const double *X;
  int64_t rows, p;
  const double *at(int64_t i) const { return X + i * p; }
  const double *to_learn(int64_t i) const { return X + i * p; }
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
  const double *at(int64_t i) { return X.read(i, slots, room).as_row(); }
  const double *to_learn(int64_t i) {
    const int64_t known = slots.size();
    const SparseRow &row = X.read_to_learn(i, slots, room);
    make_room(learner, slots, known);
    return row.as_row();
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
  template <class Model> const double *read_to_learn(nb::handle x, Model &learner) {
    const int64_t known = reader->slots.size();
    const SparseRow &row = reader->read_one(x, room, true);
    make_room(learner, reader->slots, known);
    return row.as_row();
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

struct Core : Gated {
  explicit Core(Learner *raw) : learner(raw), row(raw->features()), sparse(raw->features() == 0) {}
  std::unique_ptr<Learner> learner;
  RowReader row;
  SparseCore sparse;
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

  // Rows are dense or sparse as the learner takes them.
  DenseAccess access(const Matrix &X) const {
    if (sparse || int64_t(X.shape(1)) != learner->features()) throw std::invalid_argument("shapes do not agree");
    return {X.data(), int64_t(X.shape(0)), learner->features()};
  }
  SparseAccess<Learner> access(const SparseRows &X) const { return sparse.access(X, *learner); }
  // One row, kept until the next one is learned.
  const double *read_to_learn(nb::handle x) { return sparse ? sparse.read_to_learn(x, *learner) : row.read(x); }
  // One row to answer: in room of the caller's own, since there may be several.
  const double *read(nb::handle x, Scratch &own, SparseRoom &room) {
    if (sparse) return sparse.reader->read_one(x, room, false).as_row();
    std::copy_n(row.read(x), learner->features(), own.data());
    return own.data();
  }

  void check_labels(std::size_t rows, std::size_t labels, std::size_t masses) const {
    if (rows != labels || rows != masses) throw std::invalid_argument("shapes do not agree");
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
      learner->run(x, y + from, count, out.after(from, learner->classes()));
    }
    return -1;
  }

  // Test-then-train over rows that were looked at.
  void run(const DenseAccess &X, const int64_t *y, const double *masses, const Outputs &out) {
    if (masses) learner->weighted_run(X.X, y, masses, X.rows, out);
    else learner->run(X.X, y, X.rows, out);
  }
  void run(SparseAccess<Learner> X, const int64_t *y, const double *masses, const Outputs &out) {
    const int64_t classes = learner->classes(), members = learner->members();
    for (int64_t i = 0; i < X.rows; i++) {
      const double *x = X.to_learn(i);
      if (out.shares) learner->shares(out.shares + i * members);
      const double mass = masses ? masses[i] : 1;
      const int64_t given = out.scores ? learner->scored_step(x, y[i], mass, out.scores + i * classes)
                                       : learner->counted_step(x, y[i], mass);
      if (out.answers) out.answers[i] = given;
      if (out.rates) out.rates[i] = learner->rate();
    }
  }
  // Forget everything and begin from these rows.
  void begin(const DenseAccess &X, const int64_t *y, const double *masses) {
    if (masses) learner->weighted_begin(X.X, y, masses, X.rows);
    else learner->begin(X.X, y, X.rows);
  }
  void begin(const SparseAccess<Learner> &X, const int64_t *y, const double *masses) {
    learner->begin(nullptr, y, 0);
    run(X, y, masses, {});
  }

  void learn_then_test(const DenseAccess &X, const int64_t *y, const DenseAccess &test_X, const int64_t *test_y,
                       int64_t tests, int64_t *mistakes) {
    learner->learn_then_test(X.X, y, X.rows, test_X.X, test_y, tests, mistakes);
  }
  void learn_then_test(SparseAccess<Learner> X, const int64_t *y, SparseAccess<Learner> test_X, const int64_t *test_y,
                       int64_t tests, int64_t *mistakes) {
    for (int64_t i = 0; i < X.rows; i++) {
      learner->step(X.to_learn(i), y[i]);
      mistakes[i] = 0;
      for (int64_t j = i * tests; j < (i + 1) * tests; j++) mistakes[i] += learner->answer(test_X.at(j)) != test_y[j];
    }
  }

  void check_class(int64_t k) const {
    if (k < 0 || k >= learner->classes()) throw std::invalid_argument("a class that was never announced");
  }
};

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

}  // namespace thalweg::THALWEG_LEVEL
