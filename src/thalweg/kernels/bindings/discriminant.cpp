// Makers of discriminants: one of the widths that are compiled, or of any width.
#include <nanobind/stl/tuple.h>

#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core.hpp"
#include "discriminant/blocks.hpp"
#include "rate.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace {

template <int P> Learner *discriminant(int64_t p, const DiscriminantOptions &options, const Rate &rate) {
  if constexpr (P > kMostUnrolled) {
    return new Discriminant<0>(p, options, rate);
  } else {
    return p <= P ? new Discriminant<P>(p, options, rate) : discriminant<next_width(P)>(p, options, rate);
  }
}

}  // namespace

void bind_discriminant(nb::module_ &module) {
  using namespace nb::literals;
  Binder def(module);
  def("discriminant", "features"_a, "rate"_a, "soft_counts"_a, "covariance_2008"_a, "warmup"_a, "ridge"_a,
      "in_floats"_a = false) = [](int64_t p, RateCode code, bool soft_counts, bool covariance_2008, int64_t warmup,
                                  double ridge, bool in_floats) {
    const DiscriminantOptions options{soft_counts, covariance_2008, warmup, ridge};
    const Rate rate = make_rate(code, Rate::kPower, true);
    return new Core(in_floats ? new Discriminant<0, float>(p, options, rate) : discriminant<1>(p, options, rate));
  };
}

}  // namespace thalweg::THALWEG_LEVEL
