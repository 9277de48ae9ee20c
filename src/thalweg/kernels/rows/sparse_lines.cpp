#include "rows/sparse_lines.hpp"

#include <charconv>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>

#include "rows/values.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace {

constexpr uint64_t kLargestIndex = (uint64_t(1) << 31) - 2;
// A namespace stands before the name of each of its features: a long one would multiply the bytes of a line.
constexpr std::ptrdiff_t kLongestNamespace = 256;
// Of the names of a line, and of all lines at once.
constexpr std::size_t kMostNameBytes = std::size_t(1) << 28, kMostBytes = std::size_t(1) << 30;
// So many bytes behind the end of a line can be read, and written behind a copy of a name.
constexpr std::size_t kWord = 8;

struct Malformed {
  const char *reason, *begin, *end;
};

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

THALWEG_INLINE const char *skip_blanks(const char *at, const char *end) {
  while (at < end && is_blank(*at)) at++;
  return at;
}

THALWEG_INLINE const char *end_of_word(const char *at, const char *end) {
  while (at < end && !is_blank(*at)) at++;
  return at;
}

// ------------------------------------------------------------------ numbers

// The digits from here on, the first eight at most, in three multiplications and without a branch.
THALWEG_INLINE int eight_digits(const char *at, uint64_t &value) {
  uint64_t bytes;
  std::memcpy(&bytes, at, kWord);  // every processor we build for is little-endian
  bytes ^= 0x3030303030303030u;
  const uint64_t others = (bytes | (bytes + 0x7676767676767676u)) & 0x8080808080808080u;
  const int count = others ? __builtin_ctzll(others) >> 3 : 8;
  bytes = count ? bytes << (64 - 8 * count) : 0;  // zeros before the digits
  bytes = bytes * 10 + (bytes >> 8);
  const uint64_t pairs = 0x000000FF000000FFu;
  value = ((bytes & pairs) * 0x000F424000000064u + ((bytes >> 16) & pairs) * 0x0000271000000001u) >> 32;
  return count;
}

THALWEG_INLINE const char *read_digits(const char *at, uint64_t &digits) {
  static constexpr uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  for (;;) {
    uint64_t more;
    const int count = eight_digits(at, more);
    digits = digits * powers[count] + more;
    at += count;
    if (count < 8) return at;
  }
}

// Correctly rounded, for digits that one multiplication does not round correctly. `order` counts the digits before the
// point, once the exponent has moved it.
THALWEG_NOINLINE double slow_number(const char *begin, const char *end, int64_t order) {
  if (*begin == '+') begin++;
  double value = 0.0;
#if defined(__cpp_lib_to_chars)
  if (std::from_chars(begin, end, value).ec == std::errc::result_out_of_range) {
    for (begin += *begin == '-'; *begin == '0' || *begin == '.'; begin++) order -= *begin == '0';
    return order < 0 ? 0.0 : std::numeric_limits<double>::infinity();
  }
#else
  (void)order;
  std::istringstream stream(std::string(begin, end));
  stream.imbue(std::locale::classic());
  stream >> value;
#endif
  return value;
}

bool may_be_learned(double value) { return std::fabs(value) <= kLargestValue; }

// A decimal number and where it ends, before a line does; nullptr where there is none that can be learned, or none at all.
template <bool limited = true> THALWEG_INLINE const char *read_number(const char *begin, double &value) {
  static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (is_blank(begin[1]) && is_digit(begin[0])) {  // most values are 1 where rows are bags of words
    value = begin[0] - '0';
    return begin + 1;
  }
  const bool negative = *begin == '-';
  const char *first = begin + (negative | (*begin == '+')), *at = first;
  uint64_t digits = 0;
  for (; is_digit(*at); at++) digits = digits * 10 + uint64_t(*at - '0');
  int64_t count = at - first, exponent = 0;
  if (*at == '.') {
    const char *decimals = at + 1;
    at = read_digits(decimals, digits);
    exponent = decimals - at;
    count -= exponent;
  }
  if (count == 0) return nullptr;
  if (*at == 'e' || *at == 'E') {
    const char *power = at + 1;
    const bool minus = *power == '-';
    power += minus || *power == '+';
    if (!is_digit(*power)) return nullptr;
    int64_t written = 0;
    for (; is_digit(*power); power++) written = std::min<int64_t>(written * 10 + (*power - '0'), 1 << 30);
    exponent += minus ? -written : written;
    at = power;
  }
  if (count <= 19 && digits <= (uint64_t(1) << 53) && exponent >= -22 && exponent <= 22) {
    value = exponent < 0 ? double(digits) / powers[-exponent] : double(digits) * powers[exponent];
    if (negative) value = -value;
  } else {
    value = slow_number(begin, at, exponent + count);
    if (limited && !may_be_learned(value)) return nullptr;
  }
  return at;
}

Malformed bad_value(const char *begin, const char *end) {
  if (begin == end) return {"a value is missing after a colon", begin, end};
  double value;
  const bool is_number = read_number<false>(begin, value) == end;
  return {is_number ? "{!r} is beyond the numbers that can be learned" : "{!r} is not a finite number", begin, end};
}

// ------------------------------------------------------------------ lines

void add_row(SparseLines &lines, const char *label, const char *label_end) {
  char *to = lines.labels.room(label_end - label);
  lines.labels.add_until(std::copy(label, label_end, to));
  lines.label_offsets.add(int32_t(lines.labels.size()));
  lines.has_label.add(label != nullptr);
  lines.offsets.add(int64_t(lines.values.size()));
}

template <class ReadLine> SparseLines read_lines(const char *text, std::size_t size, ReadLine read_line) {
  SparseLines lines;
  lines.label_offsets.add(0);
  lines.offsets.add(0);
  lines.name_offsets.add(0);
  const char *end = text + size;
  std::string last;
  for (const char *line = text, *next; line < end; line = next) {
    const char *feed = static_cast<const char *>(std::memchr(line, '\n', end - line));
    const char *stop = feed ? feed : end;
    next = stop + 1;
    const char *from = line;
    if (std::size_t(end - stop) < kWord + 1) {  // read from a copy, behind which there are bytes
      last.assign(line, stop).append(kWord + 1, '\n');
      from = last.data();
    }
    const std::size_t names = lines.names.size();
    if (size > kMostBytes || names > kMostBytes) throw std::invalid_argument("too many lines at once");
    try {
      lines.rows += read_line(from, from + (stop - line), lines);
    } catch (const Malformed &wrong) {
      lines.names.add_until(lines.names.data() + names);
      const std::size_t begin = (line - text) + (wrong.begin - from);
      lines.bad.push_back({lines.rows++, wrong.reason, begin, begin + (wrong.end - wrong.begin)});
    }
  }
  return lines;
}

// ------------------------------------------------------------------ svmlight

// The digits of an index; one that is too large stays so.
THALWEG_INLINE const char *read_index(const char *at, uint64_t &index) {
  const int count = eight_digits(at, index);
  at += count;
  if (count == 8)
    for (; is_digit(*at); at++)
      if (index <= kLargestIndex) index = index * 10 + uint64_t(*at - '0');
  return at;
}

Malformed bad_entry(const char *begin, const char *end) {
  end = end_of_word(begin, end);
  const char *colon = std::find(begin, end, ':');
  if (colon == end) return {"{!r} has no colon between an index and a value", begin, end};
  const bool negative = *begin == '-';
  uint64_t index;
  if (colon == begin + negative || read_index(begin + negative, index) != colon)
    return {"{!r} is not an index", begin, colon};
  if (negative) return {"the index {} is negative", begin, colon};
  if (index > kLargestIndex) return {"the index {} is beyond 2147483646", begin, colon};
  return bad_value(colon + 1, end);
}

// Names the later of two equal indices.
THALWEG_NOINLINE void require_different(const int32_t *from, const int32_t *to, const char *at, const char *end) {
  std::vector<int32_t> sorted(from, to);
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return;
  for (int times = 0; (at = skip_blanks(at, end)) < end; at = end_of_word(at, end)) {
    uint64_t index;
    const char *colon = read_index(at, index);
    if (colon > at && index == uint64_t(*twice) && ++times == 2)
      throw Malformed{"the index {} stands twice", at, colon};
  }
}

bool read_svmlight_line(const char *line, const char *end, SparseLines &lines) {
  if (const void *comment = std::memchr(line, '#', end - line)) end = static_cast<const char *>(comment);
  const char *label = skip_blanks(line, end);
  if (label == end) return false;
  const char *label_end = end_of_word(label, end), *features = label_end;
  if (std::memchr(label, ':', label_end - label)) {  // a row to predict begins with a feature
    if (!is_digit(*label) && std::strncmp(label, "qid:", 4) != 0)
      throw Malformed{"it begins with {!r}, which is not a label", label, label_end};
    features = label;
    label = label_end = nullptr;
  }
  const std::size_t most = (end - line) / 4 + 1;  // an entry and the blank before it take four bytes at least
  int32_t *const first = lines.indices.room(most), *indices = first;
  double *values = lines.values.room(most);
  int64_t before = -1;
  bool rising = true;
  for (const char *at = features; (at = skip_blanks(at, end)) < end;) {
    const char *entry = at;
    uint64_t index;
    at = read_index(entry, index);
    if (at == entry || *at != ':' || index > kLargestIndex) {
      if (end - entry < 4 || std::memcmp(entry, "qid:", 4) != 0) throw bad_entry(entry, end);
      at = end_of_word(entry, end);
      continue;
    }
    at = read_number(at + 1, *values);
    if (!at || (at < end && !is_blank(*at))) throw bad_entry(entry, end);
    rising &= int64_t(index) > before;
    before = int64_t(index);
    *indices++ = int32_t(index);
    values++;
  }
  if (!rising) require_different(first, indices, features, end);
  lines.indices.add_until(indices);
  lines.values.add_until(values);
  add_row(lines, label, label_end);
  return true;
}

// ------------------------------------------------------------------ Vowpal Wabbit

// Which bytes end a name: blanks, with the line feed behind a line, colons and bars.
struct NameEnds {
  bool ends[256] = {};
  constexpr NameEnds() {
    for (char c : {' ', '\t', '\n', '\v', '\f', '\r', ':', '|'}) ends[uint8_t(c)] = true;
  }
};

THALWEG_INLINE const char *end_of_name(const char *at) {
  static constexpr NameEnds table;
  while (!table.ends[uint8_t(*at)]) at++;
  return at;
}

struct Label {
  const char *begin = nullptr, *end = nullptr;
};

// What stands before the first bar: label, importance, initial prediction, and a tag, which touches the bar or has an
// apostrophe.
Label read_vowpal_label(const char *line, const char *bar) {
  const char *words[4], *ends[4];
  int count = 0;
  for (const char *at = skip_blanks(line, bar); at < bar; at = skip_blanks(ends[count++], bar)) {
    if (count == 4) throw Malformed{"{!r} is too much before the first bar", at, bar};
    words[count] = at;
    ends[count] = end_of_word(at, bar);
  }
  if (count == 0) return {};
  const bool quoted = *words[count - 1] == '\'', touches = ends[count - 1] == bar;
  if (count == 1 && touches && !quoted)
    throw Malformed{"{!r} touches the bar, as a tag does: write a blank between a label and the bar", words[0],
                    ends[0]};
  count -= quoted || touches;
  if (count == 0) return {};
  if (std::memchr(words[0], ':', ends[0] - words[0])) throw Malformed{"{!r} is not a label", words[0], ends[0]};
  if (count > 2) throw Malformed{"initial predictions, here {!r}, are not supported", words[2], ends[2]};
  double importance = 1.0;
  if (count == 2 && (read_number(words[1], importance) != ends[1] || importance != 1.0))
    throw Malformed{"an importance other than 1, here {!r}, is not supported", words[1], ends[1]};
  return {words[0], ends[0]};
}

// The number behind a colon and where it ends, 1 where there is no colon.
THALWEG_INLINE const char *read_vowpal_value(const char *at, const char *end, double &value) {
  value = 1.0;
  if (at == end || *at != ':') return at;
  const char *stop = read_number(at + 1, value);
  if (stop && (stop >= end || is_blank(*stop) || *stop == '|')) return stop;
  stop = at + 1;
  while (stop < end && !is_blank(*stop) && *stop != '|') stop++;
  throw bad_value(at + 1, stop);
}

// Writes up to seven bytes too many.
THALWEG_INLINE char *copy_name(const char *begin, const char *end, char *to) {
  for (const char *at = begin; at < end; at += kWord) std::memcpy(to + (at - begin), at, kWord);
  return to + (end - begin);
}

bool read_vowpal_line(const char *line, const char *end, SparseLines &lines) {
  const char *at = skip_blanks(line, end);
  if (at == end) return false;
  const char *bar = static_cast<const char *>(std::memchr(at, '|', end - at));
  if (!bar) throw Malformed{"it has no | before its features", at, end};
  const Label label = read_vowpal_label(at, bar);
  const std::size_t most = (end - bar) / 2 + 1;  // a feature and the blank before it take two bytes at least
  int32_t *ends = lines.name_offsets.room(most);
  double *values = lines.values.room(most);
  const std::size_t before = lines.names.size();
  const char *space = bar, *space_end = bar;
  double scale = 1.0;
  for (at = bar; (at = skip_blanks(at, end)) < end;) {
    if (*at == '|') {
      space = at + 1;
      space_end = end_of_name(space);
      if (space == space_end && space < end && *space == ':') throw Malformed{"a namespace has no name", space, space};
      if (space_end - space > kLongestNamespace)
        throw Malformed{"the namespace {!r} has more than 256 bytes", space, space_end};
      at = read_vowpal_value(space_end, end, scale);
      continue;
    }
    const char *name = at, *name_end = end_of_name(at);
    if (name == name_end) throw Malformed{"{!r} is a feature without a name", name, end_of_word(name, end)};
    at = read_vowpal_value(name_end, end, *values);
    if (scale != 1.0 && !may_be_learned(*values *= scale))
      throw Malformed{"{!r} times the scale of its namespace is beyond the numbers that can be learned", name, at};
    values++;
    char *to = lines.names.room((space_end - space) + 1 + (name_end - name) + kWord);
    if (space < space_end) {
      to = copy_name(space, space_end, to);
      *to++ = '^';
    }
    lines.names.add_until(copy_name(name, name_end, to));
    if (lines.names.size() - before > kMostNameBytes) throw Malformed{"its names take too many bytes", name, name};
    *ends++ = int32_t(lines.names.size());
  }
  lines.name_offsets.add_until(ends);
  lines.values.add_until(values);
  add_row(lines, label.begin, label.end);
  return true;
}

}  // namespace

SparseLines read_svmlight(const char *text, std::size_t size) { return read_lines(text, size, read_svmlight_line); }

SparseLines read_vowpal_wabbit(const char *text, std::size_t size) { return read_lines(text, size, read_vowpal_line); }

}  // namespace thalweg::THALWEG_LEVEL
