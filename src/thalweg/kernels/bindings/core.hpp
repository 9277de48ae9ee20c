// A learner as Python holds it: behind a gate, with the reader of its rows.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <shared_mutex>

#include "learner.hpp"
#include "rows/row_reader.hpp"
#include "rows/values.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

// Learners one at a time, readers together: a model may be shared between threads.
struct Gated {
  std::shared_mutex gate;
};

struct Core : Gated {
  explicit Core(Learner *raw) : learner(raw), row(raw->features()) {}
  std::unique_ptr<Learner> learner;
  RowReader row;
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

  void check_shapes(std::size_t rows, std::size_t features, std::size_t labels, std::size_t masses) const {
    if (int64_t(features) != learner->features() || rows != labels || rows != masses)
      throw std::invalid_argument("shapes do not agree");
  }
  void check_labels(const int64_t *y, int64_t count) const {
    if (!are_places(y, count, learner->classes())) throw std::invalid_argument("a class that was never announced");
  }
  void check(std::size_t rows, std::size_t features, std::size_t labels, const int64_t *y, std::size_t masses) const {
    check_shapes(rows, features, labels, masses);
    check_labels(y, int64_t(labels));
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
