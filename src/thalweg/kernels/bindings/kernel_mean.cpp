// The maker of kernel mean machines, and what tunes one.
#include <nanobind/stl/vector.h>

#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "kernel_mean/kernel_mean.hpp"

namespace thalweg::THALWEG_LEVEL {

void bind_kernel_mean(nb::module_ &module) {
  using namespace nb::literals;
  Binder def(module);
  def("kernel_mean", "features"_a, "budget"_a, "forgetting"_a, "sigma"_a, "rho"_a, "bias"_a,
      "single"_a = false) = [](int64_t p, int64_t budget, double forgetting, double sigma, std::vector<double> rho,
                               std::vector<double> bias, bool single) {
    if (budget < 1 || !(forgetting >= 0 && forgetting < 1) || !(sigma >= 0))
      throw std::invalid_argument("out of range");
    const KernelMeanOptions options{budget, forgetting, sigma, std::move(rho), std::move(bias)};
    if (single) return new Core(new KernelMean<float>(p, options));
    return new Core(new KernelMean<double>(p, options));
  };
  def("settle", "core"_a, "sigma"_a, "weights"_a,
      "biases"_a) = [](Core &core, double sigma, std::vector<double> weights, std::vector<double> biases) {
    const std::size_t classes = core.learner->classes();
    if (weights.size() != classes || biases.size() != classes)
      throw std::invalid_argument("needs a weight and a bias for each class");
    const BriefLearning alone(core);
    as<KernelMean<double>>(core).settle(sigma, weights.data(), biases.data());
  };
}

}  // namespace thalweg::THALWEG_LEVEL
