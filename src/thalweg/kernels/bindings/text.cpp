// Hashing of text and names: strings as in Arrow, offsets into one array of UTF-8 bytes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
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
  return std::make_tuple(moved_array(std::move(indices)), moved_array(std::move(signs)));
}

// Few keys go to where so many are smaller: unlike a sort by comparison that mispredicts no branch.
void sort_different(std::vector<uint64_t> &keys, std::vector<uint64_t> &room) {
  constexpr std::size_t few = 64;
  if (keys.size() > few) return std::sort(keys.begin(), keys.end());
  room.swap(keys);
  keys.resize(room.size());
  for (const uint64_t key : room) {
    uint64_t smaller = 0;
    for (const uint64_t other : room) smaller += other < key;
    keys[smaller] = key;
  }
}

// Rows of named values in CSR form: sorted indices without duplicates, whose values are added up in the order of the row,
// and no zeros.
template <class Offset>
auto hash_entries(Offsets<Offset> offsets, Bytes bytes, Offsets<int64_t> starts, Offsets<double> given, int bits) {
  const HashSpace space(bits);
  const auto entries = int64_t(given.size());
  refuse_shapes(offsets.size() != given.size() + 1 || starts.size() < 1);
  std::vector<int64_t> indptr{0};
  std::vector<int32_t> indices;
  std::vector<double> values;
  {
    const nb::gil_scoped_release released;
    std::vector<uint32_t> hashes;
    hashes.reserve(given.size());
    each_string(offsets, bytes, [&](const uint8_t *name, std::size_t size) {
      const int32_t hash = murmur_hash(name, size);
      hashes.push_back(space.index(hash) << 1 | HashSpace::negative(hash));
    });
    indptr.reserve(starts.size());
    indices.reserve(given.size());
    values.reserve(given.size());
    std::vector<uint64_t> keys, unsorted;  // index, place in the row, sign
    for (std::size_t row = 1; row < starts.size(); row++) {
      const int64_t from = starts.data()[row - 1], to = starts.data()[row];
      if (from < 0 || to < from || to > entries || to - from >= int64_t(1) << 32)
        throw std::invalid_argument("starts must rise within the entries");
      keys.resize(to - from);
      for (int64_t at = from; at < to; at++)
        keys[at - from] = uint64_t(hashes[at] >> 1) << 33 | uint64_t(at - from) << 1 | (hashes[at] & 1);
      sort_different(keys, unsorted);
      for (std::size_t i = 0; i < keys.size();) {
        const uint64_t index = keys[i] >> 33;
        double sum = 0;
        for (; i < keys.size() && keys[i] >> 33 == index; i++) {
          const double value = given.data()[from + int64_t(keys[i] >> 1 & 0xffffffffu)];
          sum += keys[i] & 1 ? -value : value;
        }
        if (sum == 0) continue;
        indices.push_back(int32_t(index));
        values.push_back(sum);
      }
      indptr.push_back(int64_t(indices.size()));
    }
  }
  return std::make_tuple(moved_array(std::move(indptr)), moved_array(std::move(indices)),
                         moved_array(std::move(values)));
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
  return std::make_tuple(moved_array(std::move(rows.indptr)), moved_array(std::move(rows.indices)),
                         moved_array(std::move(rows.values)));
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
  module.def("hash_entries", &hash_entries<Offset>, "offsets"_a, "data"_a, "starts"_a, "values"_a, "bits"_a,
             "Rows of named values, given by where each starts, as CSR arrays: indptr, indices, values.");
  module.def("hash_texts", &hash_texts<Offset>, "offsets"_a, "data"_a, "bits"_a, "analyzer"_a, "low"_a, "high"_a,
             "signed"_a, "norm"_a,
             "Counts of the hashed n-grams of each text, as CSR arrays: indptr, indices, values.");
  names.def("add_texts", &add_texts<Offset>, "offsets"_a, "data"_a, "analyzer"_a, "low"_a, "high"_a,
            "Count the n-grams of texts.");
  names.def("add_strings", &add_strings<Offset>, "offsets"_a, "data"_a, "Count whole strings.");
}

}  // namespace

void bind_text(nb::module_ &module) {
  nb::class_<FeatureNames> names(module, "FeatureNames");
  Binder def(names);
  names.def(nb::init<int, int64_t>(), "bits"_a, "limit"_a);
  bind_offsets<int32_t>(module, names);
  bind_offsets<int64_t>(module, names);
  def("names", "Index, token and count of each feature that has a name, by index.") = [](const FeatureNames &all) {
    std::vector<std::tuple<int32_t, nb::bytes, int64_t>> named;
    for (const auto &[index, token, count] : all.names())
      named.emplace_back(index, nb::bytes(token.data(), token.size()), count);
    return named;
  };
  def("restore", "token"_a, "count"_a) = [](FeatureNames &all, nb::bytes token, int64_t count) {
    all.add(static_cast<const uint8_t *>(token.data()), token.size(), count);
  };
}

}  // namespace thalweg::THALWEG_LEVEL
