#include "state.hpp"

#include <algorithm>

namespace thalweg::THALWEG_LEVEL {

BadState::BadState(const std::string &name) : std::invalid_argument("the saved state is not valid at '" + name + "'") {}
BadState::~BadState() = default;

State::~State() = default;

void State::floats(const char *name, BufferOf<float> &values, int64_t rows, int64_t columns) {
  Buffer doubles(values.begin(), values.end());
  matrix(name, doubles, rows, columns, columns);
  std::copy(doubles.begin(), doubles.end(), values.begin());
}

}  // namespace thalweg::THALWEG_LEVEL
