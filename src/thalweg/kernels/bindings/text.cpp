// Hashing of text and names: strings as in Arrow, offsets into one array of UTF-8 bytes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/python_state.hpp"
#include "text/feature_names.hpp"
#include "text/hashed_rows.hpp"
#include "text/hashing.hpp"
#include "text/tokenizer.hpp"

namespace thalweg::THALWEG_LEVEL {

using namespace nb::literals;

namespace {

template <class Offset> using Offsets = nb::ndarray<const Offset, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Call use(bytes, size) for each string.
template <class Offset, class Use> void each_string(const Offsets<Offset> &offsets, const Bytes &bytes, Use &&use) {
  for (std::size_t i = 1; i < offsets.size(); i++) {
    const int64_t from = offsets.data()[i - 1], to = offsets.data()[i];
    if (from < 0 || to < from || to > int64_t(bytes.size()))
      throw std::invalid_argument("offsets must rise within the bytes");
    use(bytes.data() + from, std::size_t(to - from));
  }
}

template <class T> Array<T> moved_array(std::vector<T> &values) {
  auto *kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
  return Array<T>(kept->data(), {kept->size()}, owner);
}

template <class Offset> auto hash_strings(Offsets<Offset> offsets, Bytes bytes, int bits) {
  const HashSpace space(bits);
  std::vector<int32_t> indices;
  std::vector<int8_t> signs;
  indices.reserve(offsets.size());
  signs.reserve(offsets.size());
  {
    const nb::gil_scoped_release released;
    each_string(offsets, bytes, [&](const uint8_t *name, std::size_t size) {
      const int32_t hash = murmur_hash(name, size);
      indices.push_back(int32_t(space.index(hash)));
      signs.push_back(HashSpace::negative(hash) ? -1 : 1);
    });
  }
  return std::make_tuple(moved_array(indices), moved_array(signs));
}

Tokenizer tokenizer(const std::string &analyzer, int low, int high) {
  if (analyzer != "word" && analyzer != "char_wb") throw std::invalid_argument("analyzer must be word or char_wb");
  return Tokenizer(analyzer == "word" ? Analyzer::word : Analyzer::char_wb, low, high);
}

template <class Offset>
auto hash_texts(Offsets<Offset> offsets, Bytes bytes, int bits, const std::string &analyzer, int low, int high,
                bool is_signed, const std::string &norm) {
  if (norm != "" && norm != "l1" && norm != "l2") throw std::invalid_argument("norm must be l1, l2 or empty");
  Tokenizer tokens = tokenizer(analyzer, low, high);
  HashedRows rows(bits, is_signed, norm == "l1" ? Norm::l1 : norm == "l2" ? Norm::l2 : Norm::none);
  {
    const nb::gil_scoped_release released;
    each_string(offsets, bytes, [&](const uint8_t *text, std::size_t size) {
      tokens.each(text, size, [&](const uint8_t *token, std::size_t length) { rows.add(token, length); });
      rows.end_row();
    });
  }
  return std::make_tuple(moved_array(rows.indptr), moved_array(rows.indices), moved_array(rows.values));
}

template <class Offset>
void add_texts(FeatureNames &names, Offsets<Offset> offsets, Bytes bytes, const std::string &analyzer, int low,
               int high) {
  Tokenizer tokens = tokenizer(analyzer, low, high);
  each_string(offsets, bytes, [&](const uint8_t *text, std::size_t size) {
    tokens.each(text, size, [&](const uint8_t *token, std::size_t length) { names.add(token, length); });
  });
}

template <class Offset> void add_strings(FeatureNames &names, Offsets<Offset> offsets, Bytes bytes) {
  each_string(offsets, bytes, [&](const uint8_t *name, std::size_t size) { names.add(name, size); });
}

template <class Offset, class Class> void bind_offsets(nb::module_ &module, Class &names) {
  module.def("hash_strings", &hash_strings<Offset>, "offsets"_a, "data"_a, "bits"_a,
             "Index among 2**bits features and sign (1 or -1) of each string.");
  module.def("hash_texts", &hash_texts<Offset>, "offsets"_a, "data"_a, "bits"_a, "analyzer"_a, "low"_a, "high"_a,
             "signed"_a, "norm"_a,
             "Counts of the hashed n-grams of each text, as CSR arrays: indptr, indices, values.");
  names
      .def("add_texts", &add_texts<Offset>, "offsets"_a, "data"_a, "analyzer"_a, "low"_a, "high"_a,
           "Count the n-grams of texts.")
      .def("add_strings", &add_strings<Offset>, "offsets"_a, "data"_a, "Count whole strings.");
}

}  // namespace

void bind_text(nb::module_ &module) {
  auto names = nb::class_<FeatureNames>(module, "FeatureNames");
  names.def(nb::init<int, int64_t>(), "bits"_a, "limit"_a);
  bind_offsets<int32_t>(module, names);
  bind_offsets<int64_t>(module, names);
  names
      .def(
          "names",
          [](const FeatureNames &all) {
            std::vector<std::tuple<int32_t, nb::bytes, int64_t>> named;
            for (const auto &[index, token, count] : all.names())
              named.emplace_back(index, nb::bytes(token.data(), token.size()), count);
            return named;
          },
          "Index, token and count of each feature that has a name, by index.")
      .def(
          "restore",
          [](FeatureNames &all, nb::bytes token, int64_t count) {
            all.add(static_cast<const uint8_t *>(token.data()), token.size(), count);
          },
          "token"_a, "count"_a);
}

}  // namespace thalweg::THALWEG_LEVEL
