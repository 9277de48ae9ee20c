// A learner's state as a dict of NumPy arrays, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

template <class T> nb::object owned_array(const T *from, std::initializer_list<std::size_t> shape) {
  std::size_t size = 1;
  for (std::size_t n : shape) size *= n;
  T *data = new T[size];
  std::copy(from, from + size, data);
  nb::capsule owner(data, [](void *raw) noexcept { delete[] static_cast<T *>(raw); });
  return nb::ndarray<nb::numpy, T>(data, shape, owner).cast();
}

struct StateWriter final : State {
  using State::above_diagonal;
  nb::dict values;
  void real(const char *name, double &value) override { values[name] = owned_array(&value, {1}); }
  void integer(const char *name, int64_t &value) override { values[name] = owned_array(&value, {1}); }
  void integers(const char *name, std::vector<int64_t> &from) override {
    values[name] = owned_array(from.data(), {from.size()});
  }
  void matrix(const char *name, Buffer &from, int64_t rows, int64_t columns, int64_t stride) override {
    write(name, from, rows, columns, stride);
  }
  void above_diagonal(const char *name, BufferOf<float> &from, int64_t order, int64_t stride) override {
    write(name, from, order, order, stride);
  }

 private:
  template <class T> void write(const char *name, BufferOf<T> &from, int64_t rows, int64_t columns, int64_t stride) {
    std::vector<T> dense(rows * columns);
    for (int64_t i = 0; i < rows; i++) std::copy_n(from.data() + i * stride, columns, dense.data() + i * columns);
    values[name] = owned_array(dense.data(), {std::size_t(rows), std::size_t(columns)});
  }
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
  void real(const char *name, double &value) override {
    auto array = get<double, 1>(name);
    if (array.size() != 1) throw BadState(name);
    value = array.data()[0];
  }
  void integer(const char *name, int64_t &value) override {
    auto array = get<int64_t, 1>(name);
    if (array.size() != 1) throw BadState(name);
    value = array.data()[0];
  }
  void integers(const char *name, std::vector<int64_t> &to) override {
    auto array = get<int64_t, 1>(name);
    to.assign(array.data(), array.data() + array.size());
  }
  void matrix(const char *name, Buffer &to, int64_t rows, int64_t columns, int64_t stride) override {
    read(name, to, rows, columns, stride);
  }
  void above_diagonal(const char *name, BufferOf<float> &to, int64_t order, int64_t stride) override {
    read(name, to, order, order, stride);
  }

 private:
  template <class T> void read(const char *name, BufferOf<T> &to, int64_t rows, int64_t columns, int64_t stride) {
    auto array = get<T, 2>(name);
    if (int64_t(array.shape(0)) != rows || int64_t(array.shape(1)) != columns) throw BadState(name);
    for (int64_t i = 0; i < rows; i++) std::copy_n(array.data() + i * columns, columns, to.data() + i * stride);
  }
};

}  // namespace thalweg::THALWEG_LEVEL
