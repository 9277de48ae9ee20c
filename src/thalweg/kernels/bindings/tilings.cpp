// Maker of the learners over random tilings.
#include <nanobind/stl/vector.h>

#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "tilings/tilings.hpp"

namespace thalweg::THALWEG_LEVEL {

void bind_tilings(nb::module_ &module) {
  using namespace nb::literals;
  Binder def(module);
  def("tilings", "features"_a, "tilings"_a, "depth"_a, "steps"_a, "decays"_a, "every"_a, "young"_a, "share"_a,
      "seed"_a) = [](int64_t p, int64_t tilings, int64_t depth, std::vector<double> steps, std::vector<double> decays,
                     int64_t every, int64_t young, double share, uint64_t seed) {
    if ((steps.size() != 1 && steps.size() != 4) || decays.size() != steps.size() || tilings < 1 || depth < 1 ||
        depth > 3 || every < 0)
      throw std::invalid_argument("out of range");
    const TilingOptions options{tilings, depth, std::move(steps), std::move(decays), every, young, share, seed};
    if (options.steps.size() == 1) return new Core(new Tilings<1>(p, options));
    return new Core(new Tilings<4>(p, options));
  };
}

}  // namespace thalweg::THALWEG_LEVEL
