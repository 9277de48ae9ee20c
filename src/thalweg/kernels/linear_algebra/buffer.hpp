// Memory for numbers: on cache-line boundaries, and on the stack where it is small.
#pragma once

#include <array>
#include <cstdint>
#include <new>
#include <vector>

// Under a sanitizer, whose checks would multiply with every copy, the compiler decides.
#if defined(__SANITIZE_ADDRESS__)
#define THALWEG_INLINE inline
#define THALWEG_LAMBDA
#else
#define THALWEG_INLINE inline __attribute__((always_inline))
#define THALWEG_LAMBDA __attribute__((always_inline))
#endif
// For code that runs now and then: inlined, it would be repeated for every learner and width.
#if defined(__clang__)
#define THALWEG_NOINLINE __attribute__((noinline))
#else
#define THALWEG_NOINLINE __attribute__((noinline, noclone))
#endif

namespace thalweg::THALWEG_LEVEL {

template <class T> struct CacheAligned {
  using value_type = T;
  CacheAligned() = default;
  template <class U> CacheAligned(const CacheAligned<U> &) {}
  T *allocate(std::size_t n) { return static_cast<T *>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T *raw, std::size_t) { ::operator delete(raw, kLine); }
  template <class U> bool operator==(const CacheAligned<U> &) const { return true; }
  template <class U> bool operator!=(const CacheAligned<U> &) const { return false; }

 private:
  static constexpr std::align_val_t kLine{64};
};

template <class T> class BufferOf : public std::vector<T, CacheAligned<T>> {
  using Base = std::vector<T, CacheAligned<T>>;

 public:
  BufferOf() = default;
  THALWEG_NOINLINE explicit BufferOf(std::size_t count, T value = 0) : Base(count, value) {}
  template <class It> BufferOf(It from, It end) : Base(from, end) {}
  THALWEG_NOINLINE BufferOf(const BufferOf &other) : Base(other) {}
  BufferOf(BufferOf &&other) = default;
  THALWEG_NOINLINE BufferOf &operator=(const BufferOf &other) {
    Base::operator=(other);
    return *this;
  }
  BufferOf &operator=(BufferOf &&other) = default;

  THALWEG_NOINLINE void assign(std::size_t count, T value) { Base::assign(count, value); }
  THALWEG_NOINLINE void resize(std::size_t count, T value = 0) { Base::resize(count, value); }
  THALWEG_NOINLINE void fill(T value) { Base::assign(this->size(), value); }
  THALWEG_NOINLINE void insert_zeros(std::size_t at, std::size_t count) { Base::insert(this->begin() + at, count, 0); }
};
using Buffer = BufferOf<double>;
extern template class BufferOf<double>;  // buffer.cpp
extern template class BufferOf<float>;

// A few numbers in the object itself.
template <int Count> struct alignas(Count >= 8 ? 64 : 8) Fixed : std::array<double, Count> {};

// Room for a prediction: on the stack where it is small.
class Scratch {
 public:
  explicit Scratch(int64_t doubles) {
    if (doubles > kSmall) large_.resize(doubles);
  }
  double *data() { return large_.empty() ? small_ : large_.data(); }

 private:
  static constexpr int64_t kSmall = 320;
  alignas(64) double small_[kSmall];
  Buffer large_;
};

}  // namespace thalweg::THALWEG_LEVEL
