// The types of the bindings' arguments: contiguous arrays of NumPy's, read or written in place, and Python objects with the
// type that `_base.pyi` names for them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <stdexcept>

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

// Names of types alone, for `make stubs`.
struct AnyValue;
struct AnyArray;
struct AnyRow;
struct AnyKey;
struct AnyName;
struct AnyNames;

}  // namespace thalweg::THALWEG_LEVEL

namespace nanobind::detail {

#define THALWEG_TYPE(Type, name)                                 \
  template <> struct type_caster<thalweg::THALWEG_LEVEL::Type> { \
    static constexpr auto Name = const_name(name);               \
  };
THALWEG_TYPE(AnyValue, "typing.Any")
THALWEG_TYPE(AnyArray, "NDArray[typing.Any]")
THALWEG_TYPE(AnyRow,
             "collections.abc.Mapping[typing.Any, float] | collections.abc.Sequence[float] | "
             "NDArray[numpy.float64]")
THALWEG_TYPE(AnyKey, "int | str")
THALWEG_TYPE(AnyName, "collections.abc.Hashable")
THALWEG_TYPE(AnyNames, "tuple[collections.abc.Hashable, ...] | Vocabulary")
#undef THALWEG_TYPE

}  // namespace nanobind::detail

namespace thalweg::THALWEG_LEVEL {

using Row = nb::typed<nb::handle, AnyRow>;
using RowKey = nb::typed<nb::handle, AnyKey>;
using Names = nb::typed<nb::tuple, AnyName, nb::ellipsis>;
using NamesOrVocabulary = nb::typed<nb::object, AnyNames>;
using StateDict = nb::typed<nb::dict, nb::str, AnyArray>;
using AnyList = nb::typed<nb::list, AnyValue>;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using LabelMatrix = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutCube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutFloats = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutFlags = nb::ndarray<bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutBytes = nb::ndarray<uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutLabels = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline void refuse_shapes(bool disagree) {
  if (disagree) throw std::invalid_argument("shapes do not agree");
}
// Of an array that may be missing; null then.
template <class Given> auto *data_of(const std::optional<Given> &array) { return array ? array->data() : nullptr; }

}  // namespace thalweg::THALWEG_LEVEL
