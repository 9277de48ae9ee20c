// The state of a part of a model, under names that begin with a prefix of its own.
#pragma once

#include <string>

#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

struct PrefixedState final : State {
  PrefixedState(State &inner, std::string prefix) : inner(inner), prefix(std::move(prefix)) {}
  void real(const char *name, double &value) override { inner.real((prefix + name).c_str(), value); }
  void integer(const char *name, int64_t &value) override { inner.integer((prefix + name).c_str(), value); }
  void integers(const char *name, std::vector<int64_t> &values) override {
    inner.integers((prefix + name).c_str(), values);
  }
  void matrix(const char *name, Buffer &values, int64_t rows, int64_t columns, int64_t stride) override {
    inner.matrix((prefix + name).c_str(), values, rows, columns, stride);
  }
  void above_diagonal(const char *name, Buffer &values, int64_t order, int64_t stride) override {
    inner.above_diagonal((prefix + name).c_str(), values, order, stride);
  }
  void above_diagonal(const char *name, BufferOf<float> &values, int64_t order, int64_t stride) override {
    inner.above_diagonal((prefix + name).c_str(), values, order, stride);
  }
  void floats(const char *name, BufferOf<float> &values, int64_t rows, int64_t columns) override {
    inner.floats((prefix + name).c_str(), values, rows, columns);
  }
  bool wants(const std::string &name) const override { return inner.wants(prefix + name); }
  int64_t most_classes() const override { return inner.most_classes(); }
  bool reads() const override { return inner.reads(); }
  bool trusted() const override { return inner.trusted(); }
  void words(double *values, int64_t count) override { inner.words(values, count); }
  State &inner;
  std::string prefix;
};

}  // namespace thalweg::THALWEG_LEVEL
