// A learner's state as one run of eight-byte words in the order of its visit, and back: what a fleet keeps of a key.
#pragma once

#include <cstring>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

struct FlatWriter final : State {
  using State::integers, State::matrix;
  const double *words() const { return room_.data(); }
  int64_t count() const { return used_; }
  void restart() { used_ = 0; }
  bool trusted() const override { return true; }

  void words(double *from, int64_t count) override { copy(from, count, take(count)); }
  void real(const char *, double &value) override { *take(1) = value; }
  void integer(const char *, int64_t &value) override { std::memcpy(take(1), &value, sizeof value); }
  void integers(const char *name, std::vector<int64_t> &from) override {
    int64_t length = int64_t(from.size());
    integer(name, length);
    if (length) std::memcpy(take(length), from.data(), length * sizeof(int64_t));
  }
  void matrix(const char *, Buffer &from, int64_t rows, int64_t columns, int64_t stride, bool above) override {
    double *to = take(words_of<double>(rows, columns, above));
    for (int64_t i = 0; i < rows; i++) {
      const int64_t first = above ? i + 1 : 0;
      copy(from.data() + i * stride + first, columns - first, to);
      to += columns - first;
    }
  }
  void matrix(const char *, BufferOf<float> &from, int64_t rows, int64_t columns, int64_t stride, bool above) override {
    const int64_t words = words_of<float>(rows, columns, above);
    double *first = take(words);
    if (words) first[words - 1] = 0;  // of which a half may be left
    each_row(from, rows, columns, stride, above, reinterpret_cast<char *>(first),
             [](float *row, char *at, std::size_t bytes) { std::memcpy(at, row, bytes); });
  }
  // Floats go two to a word.
  template <class T> static int64_t words_of(int64_t rows, int64_t columns, bool above) {
    const int64_t count = above ? rows * (rows - 1) / 2 : rows * columns;
    return (count * int64_t(sizeof(T)) + 7) / 8;
  }
  // Calls act(numbers, bytes where they are kept, how many bytes) for each row.
  template <class Values, class Byte, class Act>
  static void each_row(Values &values, int64_t rows, int64_t columns, int64_t stride, bool above, Byte *at, Act act) {
    for (int64_t i = 0; i < rows; i++) {
      const int64_t first = above ? i + 1 : 0;
      const std::size_t bytes = std::size_t(columns - first) * sizeof values[0];
      if (bytes) act(values.data() + i * stride + first, at, bytes);
      at += bytes;
    }
  }

  static THALWEG_INLINE void copy(const double *from, int64_t count, double *to) {  // a few: a call would take longer
    for (int64_t i = 0; i < count; i++) to[i] = from[i];
  }

 private:
  THALWEG_INLINE double *take(int64_t words) {
    if (used_ + words > int64_t(room_.size())) room_.resize(2 * (used_ + words));
    used_ += words;
    return room_.data() + used_ - words;
  }
  Buffer room_;
  int64_t used_ = 0;
};

struct FlatReader final : State {
  FlatReader(const double *words, int64_t count, bool trusted = true)
      : at_(words), end_(words + count), trusted_(trusted) {}
  bool reads() const override { return true; }
  bool trusted() const override { return trusted_; }
  bool only_zeros_left() const {
    return std::all_of(at_, end_, [](double word) { return word == 0; });
  }

  void words(double *to, int64_t count) override { FlatWriter::copy(take("records", count), count, to); }
  void real(const char *name, double &value) override {
    value = *take(name, 1);
    check(name, &value, 1);
  }
  void integer(const char *name, int64_t &value) override {
    std::memcpy(&value, take(name, 1), sizeof value);
    check(name, &value, 1);
  }
  void integers(const char *name, std::vector<int64_t> &to) override {
    int64_t length;
    integer(name, length);
    const double *from = take(name, length);
    to.resize(length);
    if (length) std::memcpy(to.data(), from, length * sizeof(int64_t));
    check(name, to.data(), length);
  }
  void matrix(const char *name, Buffer &to, int64_t rows, int64_t columns, int64_t stride, bool above) override {
    const int64_t words = FlatWriter::words_of<double>(rows, columns, above);
    const double *from = take(name, words);
    check(name, from, words);
    for (int64_t i = 0; i < rows; i++) {
      const int64_t first = above ? i + 1 : 0;
      FlatWriter::copy(from, columns - first, to.data() + i * stride + first);
      from += columns - first;
    }
  }
  void matrix(const char *name, BufferOf<float> &to, int64_t rows, int64_t columns, int64_t stride,
              bool above) override {
    const double *from = take(name, FlatWriter::words_of<float>(rows, columns, above));
    FlatWriter::each_row(to, rows, columns, stride, above, reinterpret_cast<const char *>(from),
                         [](float *row, const char *at, std::size_t bytes) { std::memcpy(row, at, bytes); });
    check(name, to.data(), int64_t(to.size()));
  }

 private:
  template <class T> THALWEG_INLINE void check(const char *name, const T *values, int64_t count) const {
    if (!trusted_) check_reach(name, values, count);
  }
  THALWEG_INLINE const double *take(const char *name, int64_t words) {
    if (words < 0 || words > end_ - at_) throw BadState(full(name));
    at_ += words;
    return at_ - words;
  }
  const double *at_, *end_;
  bool trusted_;
};

// The names and lengths of what is visited: two learners whose lists agree can read each other's words.
struct Layout final : State {
  std::string text;
  void real(const char *name, double &) override { note(name, 1); }
  void integer(const char *name, int64_t &) override { note(name, 1); }
  void integers(const char *name, std::vector<int64_t> &values) override { note(name, int64_t(values.size())); }
  void matrix(const char *name, Buffer &, int64_t rows, int64_t columns, int64_t, bool above) override {
    note(name, FlatWriter::words_of<double>(rows, columns, above));
  }
  void matrix(const char *name, BufferOf<float> &, int64_t rows, int64_t columns, int64_t, bool above) override {
    note(name, FlatWriter::words_of<float>(rows, columns, above));
  }

 private:
  void note(const char *name, int64_t words) { text += full(name) + ' ' + std::to_string(words) + '\n'; }
};

}  // namespace thalweg::THALWEG_LEVEL
