// Maker of forests over the last rows.
#include "forest/forest.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "bindings/grove_options.hpp"

namespace thalweg::THALWEG_LEVEL {

void bind_forest(nb::module_ &module) {
  using namespace nb::literals;
  Binder def(module);
  def("forest", "features"_a, "groves"_a, "rows"_a,
      "seed"_a) = [](int64_t p, const std::vector<std::vector<double>> &groves, int64_t rows, uint64_t seed) {
    return new Core(new Forest(p, read_groves(groves, rows), rows, seed));
  };
}

}  // namespace thalweg::THALWEG_LEVEL
