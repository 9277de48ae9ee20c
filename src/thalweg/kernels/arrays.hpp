// Arrays of NumPy's as the bindings take them: contiguous, read or written in place.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using LabelMatrix = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutCube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutLabelMatrix = nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutLabels = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

}  // namespace thalweg::THALWEG_LEVEL
