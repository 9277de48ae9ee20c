#include "bindings/python_state.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class T> Array<T> owned_array(const T *from, std::initializer_list<std::size_t> shape) {
  std::size_t size = 1;
  for (std::size_t n : shape) size *= n;
  T *data = new T[size];
  std::copy(from, from + size, data);
  nb::capsule owner(data, [](void *raw) noexcept { delete[] static_cast<T *>(raw); });
  return Array<T>(data, shape, owner);
}

template Array<double> owned_array(const double *, std::initializer_list<std::size_t>);
template Array<float> owned_array(const float *, std::initializer_list<std::size_t>);
template Array<int64_t> owned_array(const int64_t *, std::initializer_list<std::size_t>);
template Array<uint8_t> owned_array(const uint8_t *, std::initializer_list<std::size_t>);
template Array<bool> owned_array(const bool *, std::initializer_list<std::size_t>);

template <class T>
void StateWriter::write(const char *name, BufferOf<T> &from, int64_t rows, int64_t columns, int64_t stride) {
  if (!wants(name)) return;
  std::vector<T> dense(rows * columns);
  for (int64_t i = 0; i < rows; i++) std::copy_n(from.data() + i * stride, columns, dense.data() + i * columns);
  values[name] = owned_array(dense.data(), {std::size_t(rows), std::size_t(columns)});
}

template <class T>
void StateReader::read(const char *name, BufferOf<T> &to, int64_t rows, int64_t columns, int64_t stride) {
  auto array = get<T, 2>(name);
  if (int64_t(array.shape(0)) != rows || int64_t(array.shape(1)) != columns) throw BadState(name);
  for (int64_t i = 0; i < rows; i++) std::copy_n(array.data() + i * columns, columns, to.data() + i * stride);
}

void StateWriter::real(const char *name, double &value) {
  if (wants(name)) values[name] = owned_array(&value, {1});
}

void StateWriter::integer(const char *name, int64_t &value) {
  if (wants(name)) values[name] = owned_array(&value, {1});
}

void StateWriter::integers(const char *name, std::vector<int64_t> &from) {
  if (wants(name)) values[name] = owned_array(from.data(), {from.size()});
}

void StateWriter::matrix(const char *name, Buffer &from, int64_t rows, int64_t columns, int64_t stride) {
  write(name, from, rows, columns, stride);
}

void StateWriter::above_diagonal(const char *name, BufferOf<float> &from, int64_t order, int64_t stride) {
  write(name, from, order, order, stride);
}

void StateWriter::floats(const char *name, BufferOf<float> &from, int64_t rows, int64_t columns) {
  write(name, from, rows, columns, columns);
}

// Counts and times are added and subtracted: a forged one must not overflow.
static int64_t within_reach(int64_t value, const char *name) {
  constexpr int64_t kMost = int64_t(1) << 60;
  if (value < -kMost || value > kMost) throw BadState(name);
  return value;
}

void StateReader::real(const char *name, double &value) {
  auto array = get<double, 1>(name);
  if (array.size() != 1) throw BadState(name);
  value = array.data()[0];
}

void StateReader::integer(const char *name, int64_t &value) {
  auto array = get<int64_t, 1>(name);
  if (array.size() != 1) throw BadState(name);
  value = within_reach(array.data()[0], name);
}

void StateReader::integers(const char *name, std::vector<int64_t> &to) {
  auto array = get<int64_t, 1>(name);
  for (std::size_t i = 0; i < array.size(); i++) within_reach(array.data()[i], name);
  to.assign(array.data(), array.data() + array.size());
}

void StateReader::matrix(const char *name, Buffer &to, int64_t rows, int64_t columns, int64_t stride) {
  read(name, to, rows, columns, stride);
}

void StateReader::above_diagonal(const char *name, BufferOf<float> &to, int64_t order, int64_t stride) {
  read(name, to, order, order, stride);
}

void StateReader::floats(const char *name, BufferOf<float> &to, int64_t rows, int64_t columns) {
  read(name, to, rows, columns, columns);
}

// Most learners keep something of each class; those that do not are bounded by hand.
int64_t StateReader::most_classes() const {
  int64_t most = int64_t(1) << 16;
  for (const auto &[name, array] : values) {
    nb::ndarray<> held;
    if (nb::try_cast(array, held, false)) most = std::max(most, int64_t(held.size()));
  }
  return most;
}

}  // namespace thalweg::THALWEG_LEVEL
