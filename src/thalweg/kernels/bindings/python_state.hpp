// A learner's state as a dict of NumPy arrays, and back.
#pragma once

#include <initializer_list>

#include "bindings/arrays.hpp"
#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class T> using Array = nb::ndarray<nb::numpy, T>;

// A copy that NumPy owns; for doubles, floats, 64-bit integers and bytes.
template <class T> Array<T> owned_array(const T *from, std::initializer_list<std::size_t> shape);
// A vector that NumPy takes over.
template <class T> Array<T> moved_array(std::vector<T> &&values) {
  auto *kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void *raw) noexcept { delete static_cast<std::vector<T> *>(raw); });
  return Array<T>(kept->data(), {kept->size()}, owner);
}

struct StateWriter final : State {
  explicit StateWriter(std::string prefix = "") : wanted_(std::move(prefix)) {}
  StateDict values{nb::dict()};
  bool wants(const std::string &name) const override {
    const std::string whole = full(name);
    return whole.compare(0, wanted_.size(), wanted_, 0, whole.size()) == 0;
  }
  void real(const char *name, double &value) override { write(name, &value, {1}); }
  void integer(const char *name, int64_t &value) override { write(name, &value, {1}); }
  void integers(const char *name, std::vector<int64_t> &from) override { write(name, from.data(), {from.size()}); }
  void matrix(const char *name, Buffer &from, int64_t rows, int64_t columns, int64_t stride, bool) override {
    write_rows(name, from, rows, columns, stride);
  }
  void matrix(const char *name, BufferOf<float> &from, int64_t rows, int64_t columns, int64_t stride, bool) override {
    write_rows(name, from, rows, columns, stride);
  }

 private:
  template <class T> void write(const char *name, const T *from, std::initializer_list<std::size_t> shape) {
    if (wants(name)) values[full(name).c_str()] = owned_array(from, shape);
  }
  template <class T> void write_rows(const char *name, BufferOf<T> &from, int64_t rows, int64_t columns,
                                     int64_t stride);
  std::string wanted_;  // what the names begin with that are written
};

struct StateReader final : State {
  explicit StateReader(nb::dict values) : values(std::move(values)) {}
  nb::dict values;
  template <class T, int D> nb::ndarray<const T, nb::ndim<D>, nb::c_contig> get(const char *name) {
    const std::string whole = full(name);
    if (!values.contains(whole.c_str())) throw BadState(whole);
    nb::ndarray<const T, nb::ndim<D>, nb::c_contig> array;
    if (!nb::try_cast(values[whole.c_str()], array, false)) throw BadState(whole);
    return array;
  }
  void real(const char *name, double &value) override;
  void integer(const char *name, int64_t &value) override;
  void integers(const char *name, std::vector<int64_t> &to) override;
  void matrix(const char *name, Buffer &to, int64_t rows, int64_t columns, int64_t stride, bool) override {
    read_rows(name, to, rows, columns, stride);
  }
  void matrix(const char *name, BufferOf<float> &to, int64_t rows, int64_t columns, int64_t stride, bool) override {
    read_rows(name, to, rows, columns, stride);
  }
  int64_t most_classes() const override;
  bool reads() const override { return true; }

 private:
  template <class T> void read_rows(const char *name, BufferOf<T> &to, int64_t rows, int64_t columns, int64_t stride);
  template <class T> T one(const char *name);
};

}  // namespace thalweg::THALWEG_LEVEL
