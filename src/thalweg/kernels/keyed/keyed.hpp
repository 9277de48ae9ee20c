// A model of all keys, and beside it for each key a small one of how that key differs.
//
// With p_c(x) of the model of all keys and the standardised row z (z_0 = 1), the own prediction of key i is
//     q_c(x) ~ p_c(x) exp(m_ic'z),      m_ic ~ N(0, V_ic) before the first row,
// a logistic regression with the model of all keys as its offset: a new key predicts what all keys know. Its means and
// diagonal variances follow the rows of the key by an extended Kalman filter,
//     d = 1 + 2 h z'Vz,  h = q_c (1 - q_c),      m += V z (1[y = c] - q_c) / d,      V -= h (V z)² / d,
// after which V returns to its start by the share `drift`, so that a key which changes is followed. The prediction is
//     (1 - a) p + a q,      a = 1 / (1 + exp(-G)),      G <- kFade G + ln q_y - ln p_y:
// a key whose own part has not helped recently falls back to the model of all keys.
#pragma once

#include <utility>

#include "kept_probabilities.hpp"
#include "keyed/key_tree.hpp"
#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

struct KeyedOptions {
  int64_t key_at;  // the feature that is the key
  double spread;   // of the own part of a score before the first row, as a standard deviation
  double drift;
};

class Keyed final : public Learner {
 public:
  Keyed(const Learner &inner, const KeyedOptions &options, int64_t budget, int file)
      : Learner(inner.features() + 1, traits_of(inner.traits())), inner(inner.copy()), options(options),
        means(inner.features()), squares(inner.features()), tree(budget, file) {}
  Learner *copy() const override { return new Keyed(*this); }

  Learner &inside() { return *inner; }
  const Learner &inside() const { return *inner; }
  const KeyTree &keys() const { return tree; }
  int64_t n_rows() const { return rows; }
  // What is known of a key; false where it has no row.
  bool describe(double key, KeyCounts &out) const {
    const Record *record = tree.find(key + 0.0);
    if (!record) return false;
    std::vector<float> room;
    out = *read(record, room).counts;
    return true;
  }
  static double share(float gain) { return 1 / (1 + std::exp(-double(gain))); }

  double rate() const override { return inner->rate(); }
  void shares(double *out) const override { inner->shares(out); }

  void scores(RowView x, double *out) const override {
    Scratch room(width() + classes());
    split(x, room.data());
    inner->probabilities(room.data(), out);
    mix_own(x, room.data(), out, room.data() + width());
    to_scores(out);
  }
  void mark_classes(bool *out) const override {
    inner->mark_classes(out);
    kept_own.mark_classes(out + inner->traits().kept_size);
  }
  // The probabilities of the model of all keys, and of the own part of the key.
  void keep(RowView x, double *scored, uint8_t *kept) const override {
    const int64_t c = classes();
    Scratch room(width() + 3 * c);
    double *mixed = room.data() + width(), *p = mixed + c, *q = p + c;
    split(x, room.data());
    inner->keep(room.data(), p, kept);
    inner->normalise(p);
    std::copy_n(p, c, mixed);
    mix_own(x, room.data(), mixed, q);
    kept_own.write(mixed, p, c, rows, kept + inner->traits().kept_size);
    std::copy_n(mixed, c, scored);
    to_scores(scored);
  }
  void judge_by(const uint8_t *kept) override {
    inner->judge_by(kept);
    said = kept ? kept + inner->traits().kept_size : nullptr;
  }
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    show(x, wanted);
    const int64_t c = classes();
    Scratch room(2 * width() + 3 * c);
    double *row = room.data(), *z = row + width(), *mixed = z + width(), *p = mixed + c, *q = p + c;
    split(x, row);
    const bool awake = rows > 0;
    const double own_weight = std::min(weight, kMostWeight);
    inner->step(row, k, weight, {Wanted::kProbabilities, p});
    standardise(row, z);
    // From here on nothing throws but where a record is read from a broken disk.
    Record &record = tree.own(key_of(x), floats_for(classes()),
                              [this](const float *from, int32_t count, float *to) { renew(from, count, to); });
    KeyCounts &counts = record.counts();
    predict({&counts, record.values(), classes()}, z, p, q);
    int64_t given = -1;
    if (awake) {
      std::copy_n(p, c, mixed);
      mix(mixed, q, share(counts.gain));
      given = highest(mixed, c);
      adapt(record.values(), z, q, k, own_weight);
    }
    const uint8_t *kept = std::exchange(said, nullptr);
    const bool late = kept && kept_own.is_late(kept, rows);
    const int64_t judged = late ? KeptProbabilities::likeliest(kept) : given;
    if (late) kept_own.read(kept, c, p);
    if (judged >= 0 && p[k] > 0)  // a new class had no probability in either
      counts.gain = float(kFade * counts.gain + own_weight * std::log(std::max(q[k], kLeast) / std::max(p[k], kLeast)));
    rows++;
    counts.rows++;
    counts.last = rows;
    const bool wrong = judged >= 0 && judged != k;
    counts.mistakes += wrong;
    counts.recent += float(std::max(kRecent, 1.0 / double(counts.rows)) * (double(wrong) - counts.recent));
    follow(row);
    tree.make_room();
    return given;
  }
  void forget() override {
    rows = 0;
    said = nullptr;
    inner->forget();
    means.fill(0);
    squares.fill(0);
    tree.clear();
  }

  void visit(State &state) override {
    visit_classes(state);
    state.part("all_", *inner);
    if (inner->classes() != classes()) throw BadState("n_classes");
    state.integer("rows", rows, not_negative);
    state.matrix("row_means", means, 1, width() - 1, width() - 1);
    state.matrix("row_squares", squares, 1, width() - 1, width() - 1, amount);
    visit_keys(state);
  }

 protected:
  void insert(int64_t at) override {
    inner->announce(at);
    announced.push_back(at);
  }

 private:
  static constexpr double kFade = 0.98, kRecent = 0.02, kLeast = 1e-6, kFarthest = 4, kMemory = 1e4;
  static constexpr double kMostWeight = 100;  // of a row to its key: a linearised step is good for no more

  static Traits traits_of(Traits inner) {
    inner.confidence = inner.posteriors = 1;
    inner.decides = false;
    inner.kept_size += KeptProbabilities(2).size();
    return inner;
  }

  struct View {
    const KeyCounts *counts;
    const float *values;  // of each class width() means, then as many variances
    int64_t classes;
  };

  // The own part of a row's key is mixed into the probabilities of the model of all keys, and is left in `q`, which is the
  // same for a key without rows.
  void mix_own(const double *x, const double *row, double *p, double *q) const {
    std::copy_n(p, classes(), q);
    const Record *record = rows ? tree.find(key_of(x)) : nullptr;
    if (!record) return;
    std::vector<float> page;
    const View view = read(record, page);
    Scratch z(width());
    standardise(row, z.data());
    predict(view, z.data(), p, q);
    mix(p, q, share(view.counts->gain));
  }
  void to_scores(double *p) const {
    for (int64_t c = 0; c < classes(); c++) p[c] = rows ? std::log(p[c]) : -__builtin_inf();
  }

  int64_t width() const { return features(); }  // of z: the features without the key, with z_0 = 1
  int32_t floats_for(int64_t classes) const { return int32_t(2 * classes * width()); }
  double key_of(const double *x) const { return x[options.key_at] + 0.0; }  // -0 is 0
  void split(const double *x, double *row) const {
    std::copy_n(x, options.key_at, row);
    std::copy(x + options.key_at + 1, x + features(), row + options.key_at);
  }

  // The means and variances of the rows so far; of the last kMemory ones, after that many.
  void standardise(const double *row, double *z) const {
    z[0] = 1;
    for (int64_t j = 0; j + 1 < width(); j++) {
      const double deviation = std::sqrt(squares[j]);
      z[j + 1] = deviation > 0 ? std::clamp((row[j] - means[j]) / deviation, -kFarthest, kFarthest) : 0;
    }
  }
  void follow(const double *row) {
    const double share = std::max(1 / double(rows), 1 / kMemory);
    for (int64_t j = 0; j + 1 < width(); j++) {
      const double off = row[j] - means[j];
      means[j] += share * off;
      squares[j] += share * (off * (row[j] - means[j]) - squares[j]);
    }
  }

  // Half of the own score's variance is that of its constant.
  double start(int64_t j) const {
    const double whole = options.spread * options.spread;
    return j == 0 ? whole : whole / double(std::max<int64_t>(1, width() - 1));
  }
  // A record of all classes from one of the first that were announced.
  void renew(const float *from, int32_t count, float *to) const {
    const int64_t block = 2 * width();
    std::vector<float> fresh(block);
    for (int64_t j = 0; j < width(); j++) fresh[width() + j] = float(start(j));
    std::vector<float> values(from, from + count);
    for (std::size_t i = std::size_t(count / block); i < announced.size(); i++)
      values.insert(values.begin() + announced[i] * block, fresh.begin(), fresh.end());
    std::copy(values.begin(), values.end(), to);
  }
  // A record to be read, with all classes.
  View read(const Record *record, std::vector<float> &page) const {
    Record *found = const_cast<Record *>(record);
    const int32_t needed = floats_for(classes());
    if (!found->file && found->floats == needed) return {&found->counts(), found->values(), classes()};
    constexpr std::size_t kHead = sizeof(KeyCounts) / sizeof(float);
    page.resize(kHead + std::size_t(found->floats));
    if (found->file) found->file->read(found->at, page.data(), Record::bytes(found->floats));
    else std::memcpy(page.data(), found->body(), std::size_t(Record::bytes(found->floats)));
    if (found->floats != needed) {
      std::vector<float> wider(kHead + std::size_t(needed));
      std::copy_n(page.begin(), kHead, wider.begin());
      renew(page.data() + kHead, found->floats, wider.data() + kHead);
      page.swap(wider);
    }
    return {reinterpret_cast<const KeyCounts *>(page.data()), page.data() + kHead, classes()};
  }

  // q from p. A class that no key has seen stays at 0.
  void predict(const View &view, const double *z, const double *p, double *q) const {
    double top = -__builtin_inf(), whole = 0;
    for (int64_t c = 0; c < classes(); c++) {
      const float *m = view.values + c * 2 * width();
      double own = 0;
      for (int64_t j = 0; j < width(); j++) own += double(m[j]) * z[j];
      q[c] = p[c] > 0 ? std::log(p[c]) + own : -__builtin_inf();
      top = std::max(top, q[c]);
    }
    for (int64_t c = 0; c < classes(); c++) whole += q[c] = std::exp(q[c] - top);
    for (int64_t c = 0; c < classes(); c++) q[c] /= whole;
  }
  void mix(double *p, const double *q, double a) const {
    for (int64_t c = 0; c < classes(); c++) p[c] = (1 - a) * p[c] + a * q[c];
  }
  void adapt(float *values, const double *z, const double *q, int64_t k, double weight) const {
    for (int64_t c = 0; c < classes(); c++) {
      float *m = values + c * 2 * width(), *v = m + width();
      if (q[c] <= 0 && c != k) continue;
      const double h = weight * q[c] * (1 - q[c]), excess = weight * (double(c == k) - q[c]);
      double spread = 0;
      for (int64_t j = 0; j < width(); j++) spread += double(v[j]) * z[j] * z[j];
      const double d = 1 + 2 * h * spread;
      for (int64_t j = 0; j < width(); j++) {
        const double gain = double(v[j]) * z[j];
        m[j] = float(m[j] + gain * excess / d);
        const double left = double(v[j]) - h * gain * gain / d;
        v[j] = float(left + options.drift * (start(j) - left));
      }
    }
  }

  // By key: rows, last row, mistakes; then the share of recent mistakes, the gain, and the floats.
  void visit_keys(State &state) {
    const auto found = state.reads() ? decltype(tree.sorted()){} : tree.sorted();
    const int64_t block = 2 + floats_for(classes());
    std::vector<int64_t> counts;
    Buffer keys(found.size());
    BufferOf<float> values(found.size() * block);
    std::vector<float> page;
    counts.reserve(3 * found.size());
    for (std::size_t i = 0; i < found.size(); i++) {
      const View view = read(found[i].second, page);
      const KeyCounts &own = *view.counts;
      float *to = values.data() + i * block;
      keys[i] = found[i].first;
      counts.insert(counts.end(), {own.rows, own.last, own.mistakes});
      to[0] = own.recent;
      to[1] = own.gain;
      std::copy_n(view.values, block - 2, to + 2);
    }
    state.integers("key_counts", counts);
    if (counts.size() % 3) throw BadState("key_counts");
    const int64_t n = int64_t(counts.size()) / 3;
    keys.resize(n);
    values.resize(n * block);
    state.matrix("keys", keys, n, 1, 1);
    state.matrix("key_values", values, n, block, block);
    if (state.reads()) restore_keys(counts, keys, values);
  }
  void restore_keys(const std::vector<int64_t> &counts, const Buffer &keys, const BufferOf<float> &values) {
    tree.clear();
    const int64_t floats = floats_for(classes());
    for (std::size_t i = 0; i < keys.size(); i++) {
      const float *from = values.data() + i * (2 + floats);
      const int64_t own = counts[3 * i], last = counts[3 * i + 1], mistakes = counts[3 * i + 2];
      if (!std::isfinite(keys[i]) || (i && !(keys[i - 1] < keys[i]))) throw BadState("keys");
      if (own < 1 || own > rows || last < 1 || last > rows || mistakes < 0 || mistakes > own)
        throw BadState("key_counts");
      for (int64_t j = 0; j < 2 + floats; j++) {
        const bool variance = j >= 2 && (j - 2) / width() % 2;
        if (!std::isfinite(from[j]) || (variance && from[j] < 0)) throw BadState("key_values");
      }
      Record &record = tree.own(keys[i], int32_t(floats), [](const float *, int32_t, float *) {});
      record.counts() = {own, last, mistakes, from[0], from[1]};
      std::copy_n(from + 2, floats, record.values());
      tree.make_room();
    }
  }

  Owned<Learner> inner;
  KeyedOptions options;
  Buffer means, squares;  // of the rows without their keys
  int64_t rows = 0;
  std::vector<int64_t> announced;  // the place each class took, in the order they came
  KeyTree tree;
  KeptProbabilities kept_own{2};
  const uint8_t *said = nullptr;  // of the row that is learned next
};

}  // namespace thalweg::THALWEG_LEVEL
