// The fleet as Python sees it: a core whose rows come with keys.
#include <numeric>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/binder.hpp"
#include "bindings/bindings.hpp"
#include "bindings/core_methods.hpp"
#include "bindings/regression_core.hpp"
#include "fleet/fleet.hpp"
#include "fleet/number_learner.hpp"
#include "rows/label_codes.hpp"
#include "text/characters.hpp"
#include "rows/vocabulary.hpp"

namespace thalweg::THALWEG_LEVEL {

struct FleetCore : Gated {
  FleetCore(const Learner &model, int64_t capacity, int file, bool numbers = false)
      : fleet(model, capacity, file), numbers(numbers), row(model.features()) {}
  Fleet fleet;
  bool numbers;  // instead of labels: their bits

  void require_known(const int64_t *y, std::size_t rows) const {
    for (std::size_t i = 0; i < rows && !numbers; i++)
      if (y[i] < 0 || y[i] >= fleet.classes()) throw std::invalid_argument("a class that was never announced");
    if (numbers && first_bad(reinterpret_cast<const double *>(y), rows) >= 0)
      throw std::invalid_argument("a target that is no number");
  }
  RowReader row;
};

// A row's key as Python holds it: an integer or a word.
inline Key key_of(nb::handle raw) {
  Key key;
  if (nb::isinstance<nb::str>(raw)) {
    Py_ssize_t length = 0;
    const char *text = PyUnicode_AsUTF8AndSize(raw.ptr(), &length);
    if (!text) {
      PyErr_Clear();
      refuse("a key must be text that can be written as UTF-8");
    }
    while (length && text[length - 1] == 0) length--;  // as NumPy's words end
    key.word = std::string_view(text, std::size_t(length));
    key.is_word = true;
    return key;
  }
  nb::object whole = nb::steal(PyBool_Check(raw.ptr()) ? nullptr : PyNumber_Index(raw.ptr()));
  if (whole.is_valid()) key.number = PyLong_AsLongLong(whole.ptr());
  if (!whole.is_valid() || PyErr_Occurred()) {
    PyErr_Clear();
    refuse("a key must be an integer of 64 bits or a string, got " + nb::cast<std::string>(nb::repr(raw)));
  }
  return key;
}
inline void require_kind(const Fleet &fleet, const Key &key) {
  if (fleet.book().knows_kind() && fleet.book().of_words() != key.is_word)
    refuse(std::string("a key must be ") + (key.is_word ? "an integer" : "a string") + " like those learned so far");
}

// Words as rows of code points padded with zeros, turned to UTF-8 one at a time: a key lives until the next is asked.
class WordKeys {
 public:
  explicit WordKeys(Words words) : points_(words.data()), width_(words.shape(1)), letters_(4 * width_) {}
  Key operator()(int64_t i) {
    uint8_t *end = letters_.data();
    for (std::size_t j = 0, last = length(i); j < last; j++) end = write_utf8(points_[i * width_ + j], end);
    return Key{0, {reinterpret_cast<const char *>(letters_.data()), std::size_t(end - letters_.data())}, true};
  }

 private:
  std::size_t length(int64_t i) const {
    std::size_t n = width_;
    while (n && points_[i * width_ + n - 1] == 0) n--;
    return n;
  }
  const uint32_t *points_;
  std::size_t width_;
  std::vector<uint8_t> letters_;  // four to a code point at the most
};

// Calls work(key_at) with keys of either kind.
template <class Work>
void with_keys(const std::optional<Labels> &numbers, const std::optional<Words> &words, Work work) {
  if (numbers) work([data = numbers->data()](int64_t i) { return Key{data[i], {}, false}; });
  else work(WordKeys(*words));
}
inline void check_keys(const std::optional<Labels> &numbers, const std::optional<Words> &words, std::size_t rows) {
  refuse_shapes(numbers.has_value() == words.has_value() || (numbers ? numbers->size() : words->shape(0)) != rows);
}

inline Array<uint8_t> letters_of(const std::string &text) {
  return owned_array(reinterpret_cast<const uint8_t *>(text.data()), {text.size()});
}

// Keys in order, so that equal fleets give equal files however they came to be.
inline StateDict fleet_state(Fleet &fleet) {
  const KeyBook &book = fleet.book();
  const std::vector<int64_t> order = fleet.order_of_use();
  std::vector<int64_t> numbers, word_ends, lengths, uses;
  std::string letters;
  std::vector<double> records;
  Fleet::Reader reader(fleet);
  for (uint32_t slot : book.sorted()) {
    if (book.of_words()) letters += book.word(slot), word_ends.push_back(int64_t(letters.size()));
    else numbers.push_back(book.number(slot));
    const FlatWriter &record = fleet.record(slot, reader);
    if (records.empty()) records.reserve(fleet.size() * record.count());
    records.insert(records.end(), record.words(), record.words() + record.count());
    lengths.push_back(record.count());
    if (!order.empty()) uses.push_back(order[slot]);
  }
  const int64_t classes = fleet.classes();
  nb::dict state;
  state["n_classes"] = owned_array(&classes, {1});
  state["layout"] = letters_of(fleet.layout());
  state["keys"] = moved_array(std::move(numbers));
  state["key_letters"] = letters_of(letters);
  state["key_ends"] = moved_array(std::move(word_ends));
  state["record_lengths"] = moved_array(std::move(lengths));
  state["records"] = moved_array(std::move(records));
  state["order_of_use"] = moved_array(std::move(uses));
  return state;
}

inline void restore_fleet(Fleet &fleet, nb::dict state) {
  StateReader reader(state);
  int64_t classes;
  reader.integer("n_classes", classes);
  if (fleet.size() || fleet.classes() || classes < 0 || classes > reader.most_classes()) throw BadState("n_classes");
  while (fleet.classes() < classes) fleet.announce(fleet.classes());
  const auto layout = reader.get<uint8_t, 1>("layout"), letters = reader.get<uint8_t, 1>("key_letters");
  const auto numbers = reader.get<int64_t, 1>("keys"), ends = reader.get<int64_t, 1>("key_ends");
  const auto lengths = reader.get<int64_t, 1>("record_lengths"), uses = reader.get<int64_t, 1>("order_of_use");
  const auto records = reader.get<double, 1>("records");
  const auto view = [](const nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig> &text, int64_t from, int64_t to) {
    return std::string_view(reinterpret_cast<const char *>(text.data()) + from, std::size_t(to - from));
  };
  if (view(layout, 0, int64_t(layout.size())) != fleet.layout()) throw BadState("layout");
  const std::size_t count = lengths.size();
  const bool words = ends.size() > 0;
  if ((words ? ends : numbers).size() != count || (words && numbers.size())) throw BadState("keys");
  if (uses.size() && uses.size() != count) throw BadState("order_of_use");
  std::vector<int64_t> starts(count + 1, 0), turn(count);
  for (std::size_t i = 0; i < count; i++) {
    const int64_t left = int64_t(records.size()) - starts[i];
    if (lengths.data()[i] < 1 || lengths.data()[i] > left) throw BadState("record_lengths");
    starts[i + 1] = starts[i] + lengths.data()[i];
    if (words && (ends.data()[i] < (i ? ends.data()[i - 1] : 0) || ends.data()[i] > int64_t(letters.size())))
      throw BadState("key_ends");
  }
  if (starts[count] != int64_t(records.size())) throw BadState("records");
  std::iota(turn.begin(), turn.end(), 0);
  if (uses.size())
    std::stable_sort(turn.begin(), turn.end(), [&](int64_t a, int64_t b) { return uses.data()[a] < uses.data()[b]; });
  for (int64_t i : turn) {
    Key key{words ? 0 : numbers.data()[i], {}, words};
    if (words) {
      key.word = view(letters, i ? ends.data()[i - 1] : 0, ends.data()[i]);
      const Py_ssize_t length = Py_ssize_t(key.word.size());
      const nb::object readable = nb::steal(PyUnicode_DecodeUTF8(key.word.data(), length, nullptr));
      if (!readable.is_valid()) {
        PyErr_Clear();
        throw BadState("key_letters");
      }
    }
    fleet.restore(key, records.data() + starts[i], lengths.data()[i]);
  }
}

inline AnyList keys_in_order(const Fleet &fleet) {
  const KeyBook &book = fleet.book();
  nb::list keys;
  for (uint32_t slot : book.sorted()) {
    if (book.of_words()) keys.append(nb::str(book.word(slot).data(), book.word(slot).size()));
    else keys.append(book.number(slot));
  }
  return keys;
}

void bind_fleet(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<FleetCore> core(module, "FleetCore");
  Binder def(core);
  core.def(nb::new_([](const Core &model, int64_t capacity, int file) {
             if (model.learner->classes() || model.learner->traits().may_fail)
               throw std::invalid_argument("needs a fresh learner");
             return new FleetCore(*model.learner, capacity, file);
           }),
           "model"_a, "capacity"_a = 0, "file"_a = -1);
  core.def(nb::new_([](const RegressionCore &model, int64_t capacity, int file) {
             if (model.regressor->outputs() != 1) throw std::invalid_argument("needs a regressor of one target");
             return new FleetCore(NumberLearner(model), capacity, file, true);
           }),
           "model"_a, "capacity"_a = 0, "file"_a = -1);
  core.def_prop_ro("n_features", [](const FleetCore &c) { return c.fleet.features(); });
  core.def_prop_ro("n_classes", [](const FleetCore &c) { return c.fleet.classes(); });
  core.def_prop_ro("n_bytes", reading<FleetCore>([](const FleetCore &c) { return c.fleet.bytes(); }));
  core.def_prop_ro("kind", reading<FleetCore>([](const FleetCore &c) {
                     return !c.fleet.book().knows_kind() ? "" : c.fleet.book().of_words() ? "U" : "i";
                   }));
  def("__len__") = reading<FleetCore>([](const FleetCore &c) { return c.fleet.size(); });
  def("name_features", "names"_a) = [](FleetCore &c, NamesOrVocabulary names) { c.row.name(names); };
  def("announce", "at"_a) = [](FleetCore &c, int64_t at) {
    const BriefLearning alone(c);
    if (at < 0 || at > c.fleet.classes()) throw std::invalid_argument("no such place for a class");
    c.fleet.announce(at);
  };
  def("run", "X"_a, "y"_a, "numbers"_a.none(), "words"_a.none(),
      "answers"_a = nb::none()) = [](FleetCore &c, Matrix X, Labels y, std::optional<Labels> numbers,
                                     std::optional<Words> words, std::optional<OutLabels> answers) {
    const Learning alone(c);
    refuse_shapes(int64_t(X.shape(1)) != c.fleet.features() || X.shape(0) != y.size() ||
                  (answers && answers->size() != y.size()));
    check_keys(numbers, words, y.size());
    c.require_known(y.data(), y.size());
    with_keys(numbers, words,
              [&](auto key_at) { c.fleet.run(X.data(), y.data(), y.size(), key_at, data_of(answers)); });
  };
  def("answers", "X"_a, "numbers"_a.none(), "words"_a.none(), "out"_a) =
      [](const FleetCore &c, Matrix X, std::optional<Labels> numbers, std::optional<Words> words, OutLabels out) {
        const Reading together(c);
        refuse_shapes(int64_t(X.shape(1)) != c.fleet.features() || X.shape(0) != out.size());
        check_keys(numbers, words, out.size());
        with_keys(numbers, words, [&](auto key_at) { c.fleet.answers(X.data(), out.size(), key_at, out.data()); });
      };
  def("learn_one", "x"_a.none(), "k"_a, "key"_a.none()) = [](FleetCore &c, Row x, int64_t k, RowKey raw) {
    const BriefLearning alone(c);
    const Key key = key_of(raw);
    require_kind(c.fleet, key);
    c.require_known(&k, 1);
    c.fleet.learn(key, c.row.read(x), k);
  };
  def("answer_one", "x"_a.none(), "key"_a.none()) = [](FleetCore &c, Row x, RowKey raw) {
    const BriefLearning alone(c);
    const Key key = key_of(raw);
    require_kind(c.fleet, key);
    return c.fleet.answer(key, c.row.read(x));
  };
  def("check_one", "x"_a.none()) = [](FleetCore &c, Row x) { c.row.read(x); };
  def("state_of", "key"_a.none()) = [](const FleetCore &c, RowKey raw) -> std::optional<StateDict> {
    const BriefReading together(c);
    const uint32_t slot = c.fleet.find(key_of(raw));
    if (slot == KeyBook::kNone) return std::nullopt;
    StateWriter writer;
    Fleet::Reader reader(c.fleet);
    reader.learner_of(slot).visit(writer);
    return writer.values;
  };
  def("__contains__", "key"_a.none()) = [](const FleetCore &c, nb::handle raw) {
    const BriefReading together(c);
    return c.fleet.find(key_of(raw)) != KeyBook::kNone;
  };
  def("forget", "key"_a.none()) = [](FleetCore &c, RowKey raw) {
    const BriefLearning alone(c);
    return c.fleet.forget(key_of(raw));
  };
  def("keys") = reading<FleetCore>([](const FleetCore &c) { return keys_in_order(c.fleet); });
  def("state") = [](FleetCore &c) {
    const BriefLearning alone(c);
    return fleet_state(c.fleet);
  };
  def("restore", "state"_a) = [](FleetCore &c, StateDict values) {
    const BriefLearning alone(c);
    restore_fleet(c.fleet, values);
  };
}

}  // namespace thalweg::THALWEG_LEVEL
