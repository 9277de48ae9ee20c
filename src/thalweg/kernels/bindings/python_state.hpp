// A learner's state as a dict of NumPy arrays, and back.
#pragma once

#include <initializer_list>

#include "bindings/arrays.hpp"
#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

template <class T> using Array = nb::ndarray<nb::numpy, T>;

// A copy that NumPy owns; for doubles, floats, 64-bit integers and bytes.
template <class T> Array<T> owned_array(const T *from, std::initializer_list<std::size_t> shape);

struct StateWriter final : State {
  using State::above_diagonal;
  explicit StateWriter(std::string prefix = "") : prefix(std::move(prefix)) {}
  StateDict values{nb::dict()};
  bool wants(const std::string &name) const override {
    return name.compare(0, prefix.size(), prefix, 0, name.size()) == 0;
  }
  void real(const char *name, double &value) override;
  void integer(const char *name, int64_t &value) override;
  void integers(const char *name, std::vector<int64_t> &from) override;
  void matrix(const char *name, Buffer &from, int64_t rows, int64_t columns, int64_t stride) override;
  void above_diagonal(const char *name, BufferOf<float> &from, int64_t order, int64_t stride) override;
  void floats(const char *name, BufferOf<float> &from, int64_t rows, int64_t columns) override;

 private:
  template <class T> void write(const char *name, BufferOf<T> &from, int64_t rows, int64_t columns, int64_t stride);
  std::string prefix;  // of the names that are written
};

struct StateReader final : State {
  using State::above_diagonal;
  explicit StateReader(nb::dict values) : values(std::move(values)) {}
  nb::dict values;
  template <class T, int D> nb::ndarray<const T, nb::ndim<D>, nb::c_contig> get(const char *name) {
    if (!values.contains(name)) throw BadState(name);
    nb::ndarray<const T, nb::ndim<D>, nb::c_contig> array;
    if (!nb::try_cast(values[name], array, false)) throw BadState(name);
    return array;
  }
  void real(const char *name, double &value) override;
  void integer(const char *name, int64_t &value) override;
  void integers(const char *name, std::vector<int64_t> &to) override;
  void matrix(const char *name, Buffer &to, int64_t rows, int64_t columns, int64_t stride) override;
  void above_diagonal(const char *name, BufferOf<float> &to, int64_t order, int64_t stride) override;
  void floats(const char *name, BufferOf<float> &to, int64_t rows, int64_t columns) override;
  int64_t most_classes() const override;
  bool reads() const override { return true; }

 private:
  template <class T> void read(const char *name, BufferOf<T> &to, int64_t rows, int64_t columns, int64_t stride);
};

}  // namespace thalweg::THALWEG_LEVEL
