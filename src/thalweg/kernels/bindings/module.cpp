// Module entry point of one instruction set: registers every binding.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "adwin.hpp"
#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core_methods.hpp"
#include "rows/label_codes.hpp"
#include "rows/row_reader.hpp"
#include "rows/values.hpp"
#include "rows/vocabulary.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace thalweg::THALWEG_LEVEL;

namespace {

struct AdwinCore : Gated, Adwin {
  using Adwin::Adwin;
};

// Where changes were found among the values, and what was found: rows since the cut, means before and after it.
auto detect(AdwinCore &adwin, Vector values) {
  const BriefLearning alone(adwin);
  std::vector<int64_t> at, since;
  std::vector<double> before, after;
  for (std::size_t i = 0; i < values.size(); i++)
    if (!(values.data()[i] >= 0 && values.data()[i] <= 1)) throw std::invalid_argument("values must lie in [0, 1]");
  for (std::size_t i = 0; i < values.size(); i++) {
    const Adwin::Change change = adwin.update(values.data()[i]);
    if (!change.rows) continue;
    at.push_back(i);
    since.push_back(change.rows);
    before.push_back(change.before);
    after.push_back(change.after);
  }
  return std::make_tuple(owned_array(at.data(), {at.size()}), owned_array(since.data(), {at.size()}),
                         owned_array(before.data(), {at.size()}), owned_array(after.data(), {at.size()}));
}

// A sum that forgets: O(1) a value, one multiply-add behind the other (their latency is the limit).
void fade(Vector values, double keep, double total, OutVector out) {
  refuse_shapes(out.size() != values.size());
  for (std::size_t i = 0; i < values.size(); i++) out.data()[i] = total = keep * total + values.data()[i];
}

void bind_vocabulary(nb::module_ &module) {
  using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig>;
  const auto take = [](std::vector<double> &to, const Numbers &from) {
    if (from.size() != to.size()) throw std::invalid_argument("one number for each name");
    std::copy_n(from.data(), from.size(), to.begin());
  };
  nb::class_<Vocabulary> core(module, "Vocabulary");
  Binder def(core);
  core.def(nb::init<Names, bool>(), "names"_a, "by_mean"_a);
  core.def_prop_ro("names", [](const Vocabulary &v) { return Names(v.names()); });
  def("add", "names"_a) = [](Vocabulary &v, Names names) { v.add(names); };
  def("observe", "x"_a) = [](Vocabulary &v, nb::typed<nb::dict, AnyValue, double> x) { v.observe(x); };
  def("means") = [](Vocabulary &v) {
    return std::make_tuple(owned_array(v.counts().data(), {v.counts().size()}),
                           owned_array(v.means().data(), {v.means().size()}));
  };
  def("take_means", "counts"_a, "means"_a) = [take](Vocabulary &v, Numbers counts, Numbers means) {
    take(v.counts(), counts);
    take(v.means(), means);
  };
}

void bind_row_reader(nb::module_ &module) {
  nb::class_<RowReader> core(module, "RowReader");
  Binder def(core);
  core.def(nb::init<int64_t>(), "features"_a);
  def("name", "names"_a) = [](RowReader &reader, NamesOrVocabulary names) { reader.name(names); };
  def("read", "x"_a.none()) = [](RowReader &reader, Row x) { return owned_array(reader.read(x), {reader.features()}); };
}

void bind_adwin(nb::module_ &module) {
  nb::class_<AdwinCore> adwin(module, "Adwin");
  bind_state(adwin);
  adwin.def(nb::init<double>(), "delta"_a);
  adwin.def("update", &detect, "values"_a);
}

}  // namespace

#define THALWEG_NAME_(name) _##name
#define THALWEG_NAME(name) THALWEG_NAME_(name)

NB_MODULE(THALWEG_NAME(THALWEG_LEVEL), module) {
  nb::set_leak_warnings(false);  // a model that lives in a module until the interpreter ends is no leak
  bind_vocabulary(module);
  bind_row_reader(module);
  bind_adwin(module);
  bind_core(module);
  bind_sparse_lines(module);
  bind_discriminant(module);
  bind_linear(module);
  bind_ensemble(module);
  bind_decisions(module);
  bind_kernel_mean(module);
  bind_fleet(module);
  bind_sweep(module);
  bind_regression(module);
  bind_tilings(module);
  bind_forest(module);
  bind_transforms(module);
  bind_evaluate(module);
  bind_text(module);
  bind_history(module);

  Binder def(module);
  def("first_bad", "X"_a,
      "Row and column of the first value that is not finite or beyond the limit; (-1, -1) where there is none.") =
      [](Matrix X) {
        const int64_t at = first_bad(X.data(), X.size());
        return at < 0 ? std::tuple<int64_t, int64_t>(-1, -1)
                      : std::tuple<int64_t, int64_t>(at / int64_t(X.shape(1)), at % int64_t(X.shape(1)));
      };
  def("distinct", "y"_a, "The labels that occur, sorted; none where they lie too far apart for a table.") =
      [](Labels y) { return distinct(y.data(), int64_t(y.size())); };
  module.def("encode", &encode, "y"_a, "values"_a, "codes"_a,
             "Write each label's place among the sorted values; the index of the first label not there, or -1.");
  module.def("encode_words", &encode_words, "y"_a, "values"_a, "codes"_a,
             "The same for words, given as rows of code points padded with zeros.");
  module.def("fade", &fade, "values"_a, "keep"_a, "total"_a, "out"_a,
             "Write the fading sum after each value: what was there times keep, plus the value.");
  module.attr("largest_value") = kLargestValue;
  module.attr("lanes") = kLanes;
  module.attr("fused") = kFused;
}
