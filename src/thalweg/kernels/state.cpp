#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

BadState::BadState(const std::string &name) : std::invalid_argument("the saved state is not valid at '" + name + "'") {}
BadState::~BadState() = default;

State::~State() = default;

void State::integers(const char *name, std::vector<int64_t> &values, int64_t count) {
  integers(name, values);
  if (int64_t(values.size()) != count) throw BadState(name);
}

}  // namespace thalweg::THALWEG_LEVEL
