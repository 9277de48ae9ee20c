// N-grams of a text, in lower case: of its words, or of the characters of each word, as scikit-learn's analyzers "word" and
// "char_wb" find them.
//
// A word of "word" is a run of at least two letters, marks, numbers and underscores. scikit-learn, whose `\w` leaves marks out,
// cuts words of scripts that write vowels as marks (such as Devanagari). Lower case maps one character to one, without a look
// at its neighbours: Σ becomes σ at the end of a word, too, and İ becomes i.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "text/characters.hpp"

namespace thalweg::THALWEG_LEVEL {

enum class Analyzer { word, char_wb };

class Tokenizer {
 public:
  Tokenizer(Analyzer analyzer, int low, int high) : analyzer_(analyzer), low_(low), high_(high) {
    if (low < 1 || high < low || high > kLongest) throw std::invalid_argument("ngrams must rise within 1 to 16");
  }

  // Call sink(bytes, size) for each n-gram.
  template <class Sink> void each(const uint8_t *text, std::size_t size, Sink &&sink) {
    // No lower case is longer than 3 bytes for 2; a word of one character takes up to 2 more for the spaces around it.
    if (buffer_.size() < 2 * size + 4) buffer_.resize(2 * size + 4);
    if (analyzer_ == Analyzer::word) words(text, text + size, sink);
    else characters(text, text + size, sink);
  }

 private:
  static constexpr int kLongest = 16;

  // Words lie in the buffer with a space between, so that an n-gram of words is a part of it.
  template <class Sink> void words(const uint8_t *at, const uint8_t *end, Sink &sink) {
    uint8_t *out = buffer_.data(), *start = out;
    starts_.clear();
    ends_.clear();
    const uint8_t *const ascii_word = characters_.ascii_word;
    std::ptrdiff_t spare = 0;  // bytes of the word beyond one for each character
    for (;;) {
      for (uint8_t letter; at < end && (letter = ascii_word[*at]); at++) *out++ = letter;
      if (at < end && *at >= 0x80) {
        const Character character = characters_.next(at, end);
        if (character.kind == Kind::word) {
          uint8_t *behind = write_utf8(character.lower, out);
          spare += behind - out - 1;
          out = behind;
          continue;
        }
      }
      if (out - start - spare >= 2) {
        starts_.push_back(start);
        ends_.push_back(out);
        *out++ = ' ';
        start = out;
      }
      out = start;
      spare = 0;
      while (at < end && *at < 0x80 && !ascii_word[*at]) at++;
      if (at == end) break;
    }
    const std::size_t count = starts_.size();
    for (std::size_t n = low_; n <= std::size_t(high_); n++)
      for (std::size_t i = 0; i + n <= count; i++) sink(starts_[i], std::size_t(ends_[i + n - 1] - starts_[i]));
  }

  // Each word, between white space, has a space before and behind it. One that is shorter than n counts as a whole, once.
  template <class Sink> void characters(const uint8_t *at, const uint8_t *end, Sink &sink) {
    while (at < end) {
      uint8_t *out = buffer_.data();
      starts_.assign(1, out);
      *out++ = ' ';
      while (at < end) {
        const Character character = characters_.next(at, end);
        if (character.kind == Kind::space) break;
        starts_.push_back(out);
        out = write_utf8(character.lower, out);
      }
      if (starts_.size() == 1) continue;
      starts_.push_back(out);
      *out++ = ' ';
      const std::size_t length = starts_.size();
      starts_.push_back(out);
      for (std::size_t n = low_; n <= std::size_t(high_); n++) {
        for (std::size_t i = 0; i + n <= length; i++) sink(starts_[i], std::size_t(starts_[i + n] - starts_[i]));
        if (n > length) sink(starts_[0], std::size_t(out - starts_[0]));
        if (n >= length) break;
      }
    }
  }

  const Characters &characters_ = Characters::table();
  Analyzer analyzer_;
  int low_, high_;
  std::vector<uint8_t> buffer_;
  std::vector<uint8_t *> starts_, ends_;
};

}  // namespace thalweg::THALWEG_LEVEL
