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
void StateWriter::write_rows(const char *name, BufferOf<T> &from, int64_t rows, int64_t columns, int64_t stride) {
  if (!wants(name)) return;
  std::vector<T> dense(rows * columns);
  for (int64_t i = 0; i < rows; i++) std::copy_n(from.data() + i * stride, columns, dense.data() + i * columns);
  write(name, dense.data(), {std::size_t(rows), std::size_t(columns)});
}
template void StateWriter::write_rows(const char *, BufferOf<double> &, int64_t, int64_t, int64_t);
template void StateWriter::write_rows(const char *, BufferOf<float> &, int64_t, int64_t, int64_t);

template <class T>
void StateReader::read_rows(const char *name, BufferOf<T> &to, int64_t rows, int64_t columns, int64_t stride) {
  auto array = get<T, 2>(name);
  if (int64_t(array.shape(0)) != rows || int64_t(array.shape(1)) != columns) throw BadState(full(name));
  check_reach(name, array.data(), rows * columns);
  for (int64_t i = 0; i < rows; i++) std::copy_n(array.data() + i * columns, columns, to.data() + i * stride);
}
template void StateReader::read_rows(const char *, BufferOf<double> &, int64_t, int64_t, int64_t);
template void StateReader::read_rows(const char *, BufferOf<float> &, int64_t, int64_t, int64_t);

template <class T> T StateReader::one(const char *name) {
  auto array = get<T, 1>(name);
  if (array.size() != 1) throw BadState(full(name));
  check_reach(name, array.data(), 1);
  return array.data()[0];
}

void StateReader::real(const char *name, double &value) { value = one<double>(name); }

void StateReader::integer(const char *name, int64_t &value) { value = one<int64_t>(name); }

void StateReader::integers(const char *name, std::vector<int64_t> &to) {
  auto array = get<int64_t, 1>(name);
  check_reach(name, array.data(), int64_t(array.size()));
  to.assign(array.data(), array.data() + array.size());
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
