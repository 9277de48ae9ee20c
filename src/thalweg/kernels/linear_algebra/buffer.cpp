#include "linear_algebra/buffer.hpp"

namespace thalweg::THALWEG_LEVEL {

template class BufferOf<double>;
template class BufferOf<float>;

}  // namespace thalweg::THALWEG_LEVEL
