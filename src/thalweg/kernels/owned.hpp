// A pointer that owns what it points to: a copy of it is a copy of that, made by its `copy`.
#pragma once

#include <memory>

namespace thalweg::THALWEG_LEVEL {

template <class T> class Owned : public std::unique_ptr<T> {
 public:
  explicit Owned(T *raw = nullptr) : std::unique_ptr<T>(raw) {}
  Owned(const Owned &other) : Owned(other ? other->copy() : nullptr) {}
  Owned(Owned &&) = default;
  Owned &operator=(Owned &&) = default;
};

}  // namespace thalweg::THALWEG_LEVEL
