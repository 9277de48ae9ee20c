#include "linear_algebra/row_block.hpp"

namespace thalweg::THALWEG_LEVEL {

template class FactorBlock<double>;
template class FactorBlock<float>;
template class RowBlock<double>;
template class RowBlock<float>;

}  // namespace thalweg::THALWEG_LEVEL
