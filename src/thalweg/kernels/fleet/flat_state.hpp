// A learner's state as one run of eight-byte words in the order of its visit, and back: what a fleet keeps of a key.
#pragma once

#include <cstring>
#include <string>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

struct FlatWriter final : State {
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
  void matrix(const char *, Buffer &from, int64_t rows, int64_t columns, int64_t stride) override {
    double *to = take(rows * columns);
    for (int64_t i = 0; i < rows; i++) copy(from.data() + i * stride, columns, to + i * columns);
  }
  void above_diagonal(const char *, Buffer &from, int64_t order, int64_t stride) override {
    double *to = take(order * (order - 1) / 2);
    for (int64_t i = 0; i + 1 < order; to += order - ++i) copy(from.data() + i * stride + i + 1, order - i - 1, to);
  }
  void above_diagonal(const char *, BufferOf<float> &from, int64_t order, int64_t stride) override {  // two to a word
    const int64_t words = halved(order * (order - 1) / 2);
    double *first = take(words);
    if (words) first[words - 1] = 0;  // of which a half may be left
    char *to = reinterpret_cast<char *>(first);
    for (int64_t i = 0; i + 1 < order; to += (order - ++i) * sizeof(float))
      std::memcpy(to, from.data() + i * stride + i + 1, (order - i - 1) * sizeof(float));
  }
  static int64_t halved(int64_t floats) { return (floats + 1) / 2; }

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
  void real(const char *name, double &value) override { value = *take(name, 1); }
  void integer(const char *name, int64_t &value) override { std::memcpy(&value, take(name, 1), sizeof value); }
  void integers(const char *name, std::vector<int64_t> &to) override {
    int64_t length;
    integer(name, length);
    const double *from = take(name, length);
    to.resize(length);
    if (length) std::memcpy(to.data(), from, length * sizeof(int64_t));
  }
  void matrix(const char *name, Buffer &to, int64_t rows, int64_t columns, int64_t stride) override {
    const double *from = take(name, rows * columns);
    for (int64_t i = 0; i < rows; i++) FlatWriter::copy(from + i * columns, columns, to.data() + i * stride);
  }
  void above_diagonal(const char *name, Buffer &to, int64_t order, int64_t stride) override {
    const double *from = take(name, order * (order - 1) / 2);
    for (int64_t i = 0; i + 1 < order; from += order - ++i)
      FlatWriter::copy(from, order - i - 1, to.data() + i * stride + i + 1);
  }
  void above_diagonal(const char *name, BufferOf<float> &to, int64_t order, int64_t stride) override {
    const char *from = reinterpret_cast<const char *>(take(name, FlatWriter::halved(order * (order - 1) / 2)));
    for (int64_t i = 0; i + 1 < order; from += (order - ++i) * sizeof(float))
      std::memcpy(to.data() + i * stride + i + 1, from, (order - i - 1) * sizeof(float));
  }

 private:
  THALWEG_INLINE const double *take(const char *name, int64_t words) {
    if (words < 0 || words > end_ - at_) throw BadState(name);
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
  void matrix(const char *name, Buffer &, int64_t rows, int64_t columns, int64_t) override {
    note(name, rows * columns);
  }
  void above_diagonal(const char *name, Buffer &, int64_t order, int64_t) override {
    note(name, order * (order - 1) / 2);
  }
  void above_diagonal(const char *name, BufferOf<float> &, int64_t order, int64_t) override {
    note(name, FlatWriter::halved(order * (order - 1) / 2));
  }

 private:
  void note(const char *name, int64_t words) { text += std::string(name) + ' ' + std::to_string(words) + '\n'; }
};

}  // namespace thalweg::THALWEG_LEVEL
