#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

BadState::BadState(const std::string &name) : std::invalid_argument("the saved state is not valid at '" + name + "'") {}
BadState::~BadState() = default;

State::~State() = default;

}  // namespace thalweg::THALWEG_LEVEL
