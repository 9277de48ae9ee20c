// Which slot a key has: whole numbers or words, millions of them, in an open table of eight bytes an entry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::THALWEG_LEVEL {

// A key as it is looked up: a number, or the bytes of a word that lives elsewhere.
struct Key {
  int64_t number = 0;
  std::string_view word;
  bool is_word = false;

  uint32_t hash() const {
    uint64_t h = is_word ? 0x9e3779b97f4a7c15 : uint64_t(number);
    if (is_word)
      for (unsigned char byte : word) h = (h ^ byte) * 0x100000001b3;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93;
    return uint32_t(h ^ (h >> 32));
  }
};

class KeyBook {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  int64_t size() const { return held_; }
  bool knows_kind() const { return kind_ != kUnknown; }
  bool of_words() const { return kind_ == kWords; }
  int64_t number(uint32_t slot) const { return numbers_[slot]; }
  const std::string &word(uint32_t slot) const { return words_[slot]; }
  int64_t bytes() const {
    int64_t all = int64_t(table_.capacity() * sizeof(Entry) + numbers_.capacity() * sizeof(int64_t) +
                          words_.capacity() * sizeof(std::string) + free_.capacity() * sizeof(uint32_t));
    for (const std::string &word : words_) all += word.capacity() > 15 ? int64_t(word.capacity()) + 1 : 0;
    return all;
  }

  // The slots in use, in the order of their keys.
  std::vector<uint32_t> sorted() const {
    std::vector<uint32_t> slots;
    slots.reserve(held_);
    for (const Entry &entry : table_)
      if (entry.slot != kNone) slots.push_back(entry.slot);
    std::sort(slots.begin(), slots.end(),
              [&](uint32_t a, uint32_t b) { return of_words() ? words_[a] < words_[b] : numbers_[a] < numbers_[b]; });
    return slots;
  }

  uint32_t find(const Key &key) const {
    if (table_.empty() || !fits(key)) return kNone;
    const uint32_t hash = key.hash();
    for (uint64_t i = hash & mask(); table_[i].slot != kNone; i = (i + 1) & mask())
      if (table_[i].hash == hash && same(table_[i].slot, key)) return table_[i].slot;
    return kNone;
  }
  // To be fetched ahead: the place in the table where the search for a key begins; the slot that it finds by the hash,
  // hardly ever another key's; and that slot's key.
  const void *home(uint32_t hash) const { return table_.empty() ? nullptr : &table_[hash & mask()]; }
  uint32_t likely(uint32_t hash) const {
    if (table_.empty()) return kNone;
    uint64_t i = hash & mask();
    while (table_[i].slot != kNone && table_[i].hash != hash) i = (i + 1) & mask();
    return table_[i].slot;
  }
  const void *key_of(uint32_t slot) const {
    return of_words() ? static_cast<const void *>(&words_[slot]) : &numbers_[slot];
  }

  // The key's slot, a new one where it has none: the last one given up, else the next.
  uint32_t find_or_add(const Key &key) {
    if (kind_ == kUnknown) kind_ = key.is_word ? kWords : kNumbers;
    if (!fits(key)) throw std::invalid_argument("keys of another kind");
    const uint32_t known = find(key);
    if (known != kNone) return known;
    if (4 * (held_ + 1) > 3 * int64_t(table_.size())) grow();
    uint32_t slot = uint32_t(free_.empty() ? places() : free_.back());
    if (free_.empty()) {
      if (places() >= int64_t(kNone)) throw std::length_error("too many keys");
      if (of_words()) words_.emplace_back();
      else numbers_.push_back(0);
    } else {
      free_.pop_back();
    }
    if (of_words()) words_[slot] = key.word;
    else numbers_[slot] = key.number;
    put({key.hash(), slot});
    held_++;
    return slot;
  }

  void erase(const Key &key) {
    const uint32_t hash = key.hash();
    uint64_t hole = hash & mask();
    while (!(table_[hole].hash == hash && same(table_[hole].slot, key))) hole = (hole + 1) & mask();
    const uint32_t slot = table_[hole].slot;
    // Those behind the hole whose search would stop at it move up.
    for (uint64_t i = (hole + 1) & mask(); table_[i].slot != kNone; i = (i + 1) & mask()) {
      if (((i - table_[i].hash) & mask()) < ((i - hole) & mask())) continue;
      table_[hole] = table_[i];
      hole = i;
    }
    table_[hole].slot = kNone;
    if (of_words()) words_[slot] = std::string();
    free_.push_back(slot);
    held_--;
  }

 private:
  enum Kind { kUnknown, kNumbers, kWords };
  struct Entry {
    uint32_t hash, slot;
  };

  uint64_t mask() const { return table_.size() - 1; }
  int64_t places() const { return int64_t(of_words() ? words_.size() : numbers_.size()); }
  bool fits(const Key &key) const { return kind_ == kUnknown || key.is_word == of_words(); }
  bool same(uint32_t slot, const Key &key) const {
    return key.is_word ? words_[slot] == key.word : numbers_[slot] == key.number;
  }
  void put(Entry entry) {
    uint64_t i = entry.hash & mask();
    while (table_[i].slot != kNone) i = (i + 1) & mask();
    table_[i] = entry;
  }
  void grow() {
    std::vector<Entry> old(std::move(table_));
    table_.assign(old.empty() ? 16 : 2 * old.size(), Entry{0, kNone});
    for (const Entry &entry : old)
      if (entry.slot != kNone) put(entry);
  }

  Kind kind_ = kUnknown;
  int64_t held_ = 0;
  std::vector<Entry> table_;
  std::vector<int64_t> numbers_;    // by slot
  std::vector<std::string> words_;  // by slot
  std::vector<uint32_t> free_;      // slots given up
};

}  // namespace thalweg::THALWEG_LEVEL
