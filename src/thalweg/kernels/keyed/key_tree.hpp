// A record for each of millions of keys, as a tree whose copies cost one pointer.
//
// Copies share all nodes and records. Whoever writes clones what is shared on the way from the root to the record, and
// nothing else, so a service can publish a copy after every label. A tree has one writer; copies may be read by others
// meanwhile. Records used longest ago may lie in a file.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "spill_file.hpp"

namespace thalweg::THALWEG_LEVEL {

// A pointer to an object that counts its owners in `owners` and ends by `destroy`.
template <class T> class Shared {
 public:
  Shared() = default;
  explicit Shared(T *raw) : raw_(raw) {}  // whose first owner this is
  Shared(const Shared &other) : raw_(other.raw_) {
    if (raw_) raw_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Shared(Shared &&other) noexcept : raw_(other.raw_) { other.raw_ = nullptr; }
  Shared &operator=(Shared other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Shared() {
    if (raw_ && raw_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) T::destroy(raw_);
  }
  T *get() const { return raw_; }
  T *operator->() const { return raw_; }
  T &operator*() const { return *raw_; }
  explicit operator bool() const { return raw_; }
  // Whether nobody else reads it, now and until the owner makes a copy.
  bool alone() const { return raw_->owners.load(std::memory_order_acquire) == 1; }

 private:
  T *raw_ = nullptr;
};

// What is known of a key beside its floats.
struct KeyCounts {
  int64_t rows = 0, last = 0;  // rows learned; the number, of all rows of the model, of the last one
  int64_t mistakes = 0;
  float recent = 0;  // share of mistakes, fading
  float gain = 0;    // fading sum of how much less the own prediction lost than that of all keys
};

// Counts and floats of a key, in memory; or where they lie in a file.
struct Record {
  std::atomic<int32_t> owners{1};
  int32_t floats;
  SpillFile *file;  // null in memory
  int64_t at = 0;

  static Record *in_memory(int32_t floats) {
    void *raw = std::malloc(sizeof(Record) + bytes(floats));
    if (!raw) throw std::bad_alloc();
    return new (raw) Record{{1}, floats, nullptr};
  }
  static Record *on_disk(int32_t floats, SpillFile &file, int64_t at) {
    void *raw = std::malloc(sizeof(Record));
    if (!raw) throw std::bad_alloc();
    return new (raw) Record{{1}, floats, &file, at};
  }
  static void destroy(Record *record) {
    if (record->file) record->file->release(record->at, bytes(record->floats));
    std::free(record);
  }
  static int64_t bytes(int32_t floats) { return int64_t(sizeof(KeyCounts)) + int64_t(floats) * 4; }
  char *body() { return reinterpret_cast<char *>(this + 1); }
  KeyCounts &counts() { return *reinterpret_cast<KeyCounts *>(body()); }
  float *values() { return reinterpret_cast<float *>(body() + sizeof(KeyCounts)); }

  // The same in memory, with no other owner.
  static Shared<Record> copy(const Shared<Record> &from) {
    Shared<Record> made(in_memory(from->floats));
    if (from->file) from->file->read(from->at, made->body(), bytes(from->floats));
    else std::memcpy(made->body(), from->body(), std::size_t(bytes(from->floats)));
    return made;
  }
};

class KeyTree {
 public:
  // `budget`: bytes for records in memory, beyond which the oldest go to the file; 0 for no limit.
  KeyTree(int64_t budget, int file) : file_(file < 0 ? nullptr : new SpillFile(file)), budget_(budget) {}

  int64_t size() const { return keys_; }
  int64_t on_disk() const { return on_disk_; }
  int64_t bytes() const { return in_memory_ + keys_ * kBytesOfKey; }

  // The record of a key as it is, maybe on disk; null where there is none.
  const Record *find(double key) const {
    const uint64_t hash = hashed(key);
    const Node *node = root_.get();
    for (int level = 0; node && !node->leaf; level++)
      node = static_cast<const Branch *>(node)->next[digit(hash, level)].get();
    if (!node) return nullptr;
    for (const Entry &entry : static_cast<const Leaf *>(node)->entries)
      if (entry.key == key) return entry.record.get();
    return nullptr;
  }

  // A key's record, in memory and of this tree alone, to be written; one of no rows where it is new. `renew` fills the
  // floats of one out of another that had fewer, or out of nothing. It stays where it is until the next call.
  template <class Renew> Record &own(double key, int32_t floats, const Renew &renew) {
    Shared<Record> &record = own_entry(key, floats, renew).record;
    if (!record->file && record->floats == floats && record.alone()) return *record;
    Shared<Record> made;
    if (record->floats == floats) {
      made = Record::copy(record);
    } else {
      const Shared<Record> before = Record::copy(record);
      made = Shared<Record>(Record::in_memory(floats));
      made->counts() = before->counts();
      renew(before->values(), before->floats, made->values());
    }
    count(record, -1);
    record = std::move(made);
    count(record, +1);
    return *record;
  }

  // Put the oldest records aside, where those in memory are too many; the record last returned stays.
  void make_room() {
    if (!file_ || !budget_) return;
    // A quarter goes at once, and some always stay, so that looking at all keys costs little for each row.
    const int64_t most = std::max(budget_ - keys_ * kBytesOfKey, budget_ / 8);
    if (in_memory_ <= most) return;
    std::vector<int64_t> last;
    visit(root_, [&](const Entry &entry) {
      if (!entry.record->file) last.push_back(entry.record->counts().last);
    });
    const int64_t each = in_memory_ / int64_t(last.size());
    const int64_t some = std::min((in_memory_ - most + most / 4) / each, int64_t(last.size()) - 1);
    if (some <= 0) return;
    std::nth_element(last.begin(), last.begin() + some, last.end());
    put_aside(root_, last[some]);
  }

  // All keys with their records, in the order of the keys.
  std::vector<std::pair<double, const Record *>> sorted() const {
    std::vector<std::pair<double, const Record *>> found;
    found.reserve(keys_);
    visit(root_, [&](const Entry &entry) { found.emplace_back(entry.key, entry.record.get()); });
    std::sort(found.begin(), found.end());
    return found;
  }
  void clear() {
    root_ = {};
    keys_ = on_disk_ = in_memory_ = 0;
  }

 private:
  static constexpr int kDigits = 4, kMostLevels = 64 / kDigits;
  static constexpr std::size_t kFew = 32;     // keys of a leaf
  static constexpr int64_t kBytesOfKey = 64;  // about what the tree and the record take beside its floats

  struct Entry {
    double key;
    Shared<Record> record;
  };
  struct Node {
    std::atomic<int32_t> owners{1};
    const bool leaf;
    explicit Node(bool leaf) : leaf(leaf) {}
    static void destroy(Node *node);
  };
  struct Leaf : Node {
    Leaf() : Node(true) {}
    Leaf(const Leaf &other) : Node(true), entries(other.entries) {}
    std::vector<Entry> entries;
  };
  struct Branch : Node {
    Branch() : Node(false) {}
    Branch(const Branch &other) : Node(false) { std::copy_n(other.next, 1 << kDigits, next); }
    Shared<Node> next[1 << kDigits];
  };

  static uint64_t hashed(double key) {
    uint64_t h;
    std::memcpy(&h, &key, sizeof h);
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93;
    return h ^ (h >> 32);
  }
  static int digit(uint64_t hash, int level) { return int(hash >> (kDigits * level)) & ((1 << kDigits) - 1); }

  void count(const Shared<Record> &record, int sign) {
    if (record->file) on_disk_ += sign;
    else in_memory_ += sign * Record::bytes(record->floats);
  }

  // A node that nobody else reads.
  static void own_node(Shared<Node> &node) {
    if (node.alone()) return;
    if (node->leaf) node = Shared<Node>(new Leaf(static_cast<const Leaf &>(*node)));
    else node = Shared<Node>(new Branch(static_cast<const Branch &>(*node)));
  }

  template <class Renew> Entry &own_entry(double key, int32_t floats, const Renew &renew) {
    const uint64_t hash = hashed(key);
    Shared<Node> *at = &root_;
    for (int level = 0;; level++) {
      if (!*at) *at = Shared<Node>(new Leaf);
      own_node(*at);
      if (!(*at)->leaf) {
        at = &static_cast<Branch &>(**at).next[digit(hash, level)];
        continue;
      }
      auto &entries = static_cast<Leaf &>(**at).entries;
      for (Entry &entry : entries)
        if (entry.key == key) return entry;
      if (entries.size() < kFew || level == kMostLevels) {
        Shared<Record> made(Record::in_memory(floats));
        made->counts() = KeyCounts{};
        renew(nullptr, 0, made->values());
        count(made, +1);
        entries.push_back({key, std::move(made)});
        keys_++;
        return entries.back();
      }
      Shared<Node> split(new Branch);
      for (Entry &entry : entries) {
        Shared<Node> &next = static_cast<Branch &>(*split).next[digit(hashed(entry.key), level)];
        if (!next) next = Shared<Node>(new Leaf);
        static_cast<Leaf &>(*next).entries.push_back(entry);
      }
      *at = std::move(split);
      at = &static_cast<Branch &>(**at).next[digit(hash, level)];
    }
  }

  template <class Visit> static void visit(const Shared<Node> &node, const Visit &each) {
    if (!node) return;
    if (node->leaf)
      for (const Entry &entry : static_cast<const Leaf &>(*node).entries) each(entry);
    else
      for (const Shared<Node> &next : static_cast<const Branch &>(*node).next) visit(next, each);
  }

  // Records in memory that were last used before this row.
  void put_aside(Shared<Node> &node, int64_t before) {
    if (!node) return;
    own_node(node);
    if (!node->leaf) {
      for (Shared<Node> &next : static_cast<Branch &>(*node).next) put_aside(next, before);
      return;
    }
    for (Entry &entry : static_cast<Leaf &>(*node).entries) {
      Record &record = *entry.record;
      if (record.file || record.counts().last >= before) continue;
      const int64_t at = file_->write(record.body(), Record::bytes(record.floats));
      if (at < 0) return;  // no room on the disk: it stays in memory
      count(entry.record, -1);
      entry.record = Shared<Record>(Record::on_disk(record.floats, *file_, at));
      count(entry.record, +1);
    }
  }

  std::shared_ptr<SpillFile> file_;  // outlives the records
  Shared<Node> root_;
  int64_t budget_, keys_ = 0, on_disk_ = 0, in_memory_ = 0;
};

inline void KeyTree::Node::destroy(Node *node) {
  if (node->leaf) delete static_cast<Leaf *>(node);
  else delete static_cast<Branch *>(node);
}

}  // namespace thalweg::THALWEG_LEVEL
