// What Python sees of the kernels, by subject: a source file each, so that a change compiles only what it touches.
#pragma once

#include <nanobind/nanobind.h>

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

void bind_core(nb::module_ &module);
void bind_sparse_lines(nb::module_ &module);
void bind_discriminant(nb::module_ &module);
void bind_linear(nb::module_ &module);
void bind_ensemble(nb::module_ &module);
void bind_decisions(nb::module_ &module);
void bind_kernel_mean(nb::module_ &module);
void bind_fleet(nb::module_ &module);
void bind_sweep(nb::module_ &module);
void bind_regression(nb::module_ &module);
void bind_tilings(nb::module_ &module);
void bind_forest(nb::module_ &module);
void bind_transforms(nb::module_ &module);
void bind_evaluate(nb::module_ &module);
void bind_text(nb::module_ &module);
void bind_history(nb::module_ &module);

}  // namespace thalweg::THALWEG_LEVEL
