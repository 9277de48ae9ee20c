// Characters of UTF-8 text: which belong to words, which are white space, and their lower case. The table of Unicode is
// compiled in, so that a text has the same tokens on every machine and with every version of Python.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "text/unicode_table.hpp"

namespace thalweg::THALWEG_LEVEL {

enum class Kind : uint8_t { other, word, space };

struct Character {
  uint32_t lower;  // code point of the lower case
  Kind kind;
};

class Characters {
 public:
  static const Characters &table() {
    static const Characters built;
    return built;
  }

  // The lower case of an ASCII letter, digit or underscore; 0 for any other byte.
  uint8_t ascii_word[256] = {};

  // The character at `at`, which is moved behind it. A byte that is no part of valid UTF-8 counts as a space.
  Character next(const uint8_t *&at, const uint8_t *end) const {
    const uint32_t lead = *at++;
    if (lead < 0x80) return of(lead);
    const int more = lead < 0xc2 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : 0;
    if (!more || end - at < more) return kInvalid;
    uint32_t code = lead & (0x3f >> more);
    for (int i = 0; i < more; i++) {
      if ((at[i] & 0xc0) != 0x80) return kInvalid;
      code = code << 6 | (at[i] & 0x3f);
    }
    constexpr uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return kInvalid;
    at += more;
    return of(code);
  }

 private:
  static constexpr uint32_t kPlane = 0x10000;  // below it a table, above it a search
  static constexpr uint16_t kSpaces[][2] = {{0x09, 0x0d},     {0x1c, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},
                                            {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f},
                                            {0x205f, 0x205f}, {0x3000, 0x3000}};
  static constexpr Character kInvalid{' ', Kind::space};

  Characters() : lower_(kPlane), kind_(kPlane, Kind::other) {
    for (uint32_t code = 0; code < kPlane; code++) lower_[code] = uint16_t(search_lower(code));
    uint32_t end = 0;
    for (const auto &[gap, length] : kWordRuns) {
      word_starts_.push_back(end += gap);
      word_ends_.push_back(end += length);
      for (uint32_t code = word_starts_.back(); code < word_ends_.back() && code < kPlane; code++)
        kind_[code] = Kind::word;
    }
    for (const auto &[first, last] : kSpaces) std::fill(kind_.begin() + first, kind_.begin() + last + 1, Kind::space);
    for (uint32_t code = 0; code < 0x80; code++)
      if (kind_[code] == Kind::word) ascii_word[code] = uint8_t(lower_[code]);
  }

  Character of(uint32_t code) const {
    if (code < kPlane) return {lower_[code], kind_[code]};
    const auto after = std::upper_bound(word_starts_.begin(), word_starts_.end(), code) - word_starts_.begin();
    const bool word = after > 0 && code < word_ends_[after - 1];
    return {search_lower(code), word ? Kind::word : Kind::other};
  }

  static uint32_t search_lower(uint32_t code) {
    const auto after = std::upper_bound(std::begin(kLowerRuns), std::end(kLowerRuns), int32_t(code),
                                        [](int32_t value, const auto &run) { return value < run[0]; });
    if (after == std::begin(kLowerRuns)) return code;
    const auto &[first, last, step, distance] = *std::prev(after);
    const int32_t at = int32_t(code);
    return at <= last && (at - first) % step == 0 ? uint32_t(at + distance) : code;
  }

  std::vector<uint16_t> lower_;
  std::vector<Kind> kind_;
  std::vector<uint32_t> word_starts_, word_ends_;
};

// Write a code point as UTF-8; the place behind it.
inline uint8_t *write_utf8(uint32_t code, uint8_t *out) {
  if (code < 0x80) {
    *out++ = uint8_t(code);
    return out;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  *out++ = uint8_t((0xff00 >> (more + 1) & 0xff) | code >> (6 * more));
  for (int i = more - 1; i >= 0; i--) *out++ = uint8_t(0x80 | (code >> (6 * i) & 0x3f));
  return out;
}

}  // namespace thalweg::THALWEG_LEVEL
