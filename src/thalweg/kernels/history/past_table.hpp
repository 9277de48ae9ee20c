// What is kept of each key for features over earlier rows: slots of one size, found by a hash, the least recently seen key
// forgotten first. A row costs O(1) in the number of keys: one slot, whose words are read and written once (a miss of the
// cache or two).
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "history/past_call.hpp"

namespace thalweg::THALWEG_LEVEL {

class PastTable {
 public:
  PastTable(const std::vector<CallOptions> &calls, int64_t most_bytes) {
    for (const CallOptions &call : calls) {
      offsets_.push_back(stride_);
      calls_.emplace_back(call);
      stride_ += calls_.back().words();
    }
    most_ = std::max<int64_t>(1, most_bytes / int64_t(sizeof(Word) * (stride_ + 1)));
    most_ = std::min<int64_t>(most_, int64_t(1) << 30);
    chains_.assign(2, -1);
  }
  int64_t calls() const { return calls_.size(); }
  int64_t keys() const { return used_; }
  int64_t most_keys() const { return most_; }
  int64_t inputs() const {
    int64_t most = 0;
    for (const PastCall &call : calls_) most = std::max(most, call.options.input + 1);
    return most;
  }

  // What the calls say of a key before its next row. Key 0 is that of rows without one: nothing is known of it.
  void read(Word key, int64_t clock, double *out) const {
    const int64_t slot = key ? find(key) : -1;
    for (int64_t i = 0; i < calls(); i++) {
      const PastCall &call = calls_[i];
      if (slot < 0) {
        const bool is_amount = call.options.what <= Past::sum || call.options.what == Past::distinct;
        out[i] = key && is_amount ? 0 : kNothing;
      } else {
        const Word *words = at(slot);
        out[i] = call.read(words + offsets_[i], {words[call.options.of_target ? kTargets : kRows], clock});
      }
    }
  }
  // Adds a row, or a target that has become known.
  void add(Word key, int64_t clock, const double *values, bool target) {
    if (!key) return;
    int64_t slot = find(key);
    if (slot < 0) slot = begin(key);
    else touch(slot);
    move_to_front(slot);
    Word *words = at(slot);
    const Place place = {words[target ? kTargets : kRows]++, clock};
    for (int64_t i = 0; i < calls(); i++) {
      const CallOptions &call = calls_[i].options;
      if (call.of_target == target) calls_[i].add(words + offsets_[i], call.input < 0 ? 0 : values[call.input], place);
    }
  }

  // -------------------------------------------------------------- to take back

  // From here on, what is changed can be taken back.
  void mark() {
    epoch_++;
    log_.clear();
    links_.clear();
    marked_ = {used_, newest_, oldest_};
    logs_ = true;
    moved_ = false;
  }
  void undo() {
    for (auto link = links_.rbegin(); link != links_.rend(); ++link) at(link->slot)[link->which] = link->before;
    for (int64_t i = int64_t(log_.size()) / (stride_ + 1) - 1; i >= 0; i--) {
      const Word *entry = log_.data() + i * (stride_ + 1);
      Word *words = at(entry[0]);
      const Word newer = words[kNewer], older = words[kOlder];
      std::copy_n(entry + 1, stride_, words);
      words[kNewer] = newer;
      words[kOlder] = older;
    }
    used_ = marked_.used;
    newest_ = marked_.newest;
    oldest_ = marked_.oldest;
    slots_.resize(used_ * stride_);
    if (moved_) chain_all(chains_.size());
    logs_ = false;  // until the next mark, which may never come
    log_ = {};
    links_ = {};
  }

  // -------------------------------------------------------------- what is kept

  // The slots from the least to the most recently seen one: key, counts, and the words of the calls.
  std::vector<Word> kept() const {
    std::vector<Word> found;
    found.reserve(used_ * width());
    for (int64_t slot = oldest_; slot >= 0; slot = at(slot)[kNewer]) {
      const Word *words = at(slot);
      found.insert(found.end(), {words[kKey], words[kRows], words[kTargets]});
      found.insert(found.end(), words + kHeader, words + stride_);
    }
    return found;
  }
  int64_t width() const { return stride_ - kHeader + 3; }
  void restore(const Word *kept, int64_t count) {
    if (count > most_) throw std::invalid_argument("more keys than there is room for");
    PastTable fresh = emptied();
    for (int64_t k = 0; k < count; k++, kept += width()) {
      const auto is_count = [](Word word) { return 0 <= word && word < int64_t(1) << 60; };
      if (kept[0] == 0 || !is_count(kept[1]) || !is_count(kept[2]) || fresh.find(kept[0]) >= 0)
        throw std::invalid_argument("keys that cannot be");
      const int64_t slot = fresh.begin(kept[0]);
      fresh.move_to_front(slot);
      Word *words = fresh.at(slot);
      words[kRows] = kept[1];
      words[kTargets] = kept[2];
      std::copy_n(kept + 3, stride_ - kHeader, words + kHeader);
      for (int64_t i = 0; i < calls(); i++)
        if (!calls_[i].is_sound(words + offsets_[i])) throw std::invalid_argument("values that cannot be");
    }
    *this = std::move(fresh);
  }

 private:
  enum { kKey, kRows, kTargets, kNewer, kOlder, kChain, kEpoch, kHeader };
  struct Link {
    int64_t slot, which;
    Word before;
  };
  struct Marked {
    int64_t used, newest, oldest;
  };

  PastTable emptied() const {
    std::vector<CallOptions> calls;
    for (const PastCall &call : calls_) calls.push_back(call.options);
    PastTable fresh(calls, 0);
    fresh.most_ = most_;
    return fresh;
  }
  Word *at(int64_t slot) { return slots_.data() + slot * stride_; }
  const Word *at(int64_t slot) const { return slots_.data() + slot * stride_; }
  int64_t chain_of(Word key) const {  // keys are hashes already
    return int64_t((uint64_t(key) * 0x9e3779b97f4a7c15ULL) >> 20 & (chains_.size() - 1));
  }
  int64_t find(Word key) const {
    int64_t slot = chains_[chain_of(key)];
    while (slot >= 0 && at(slot)[kKey] != key) slot = at(slot)[kChain];
    return slot;
  }
  // A slot for a key that has none: a new one, or that of the key which was not seen for longest.
  int64_t begin(Word key) {
    int64_t slot = used_;
    moved_ = true;
    if (used_ < most_) {
      slots_.resize(++used_ * stride_);
      Word *words = at(slot);
      words[kNewer] = words[kOlder] = -1;
      words[kEpoch] = epoch_;  // a new slot is forgotten as a whole
      if (used_ > int64_t(chains_.size())) chain_all(2 * chains_.size());
    } else {
      slot = oldest_;
      touch(slot);
      int64_t *link = &chains_[chain_of(at(slot)[kKey])];
      while (*link != slot) link = &at(*link)[kChain];
      *link = at(slot)[kChain];
    }
    Word *words = at(slot);
    words[kKey] = key;
    words[kRows] = words[kTargets] = 0;
    for (int64_t i = 0; i < calls(); i++) calls_[i].begin(words + offsets_[i]);
    int64_t &chain = chains_[chain_of(key)];
    words[kChain] = std::exchange(chain, slot);
    return slot;
  }
  void chain_all(std::size_t chains) {
    chains_.assign(chains, -1);
    for (int64_t slot = 0; slot < used_; slot++)
      if (at(slot)[kKey]) at(slot)[kChain] = std::exchange(chains_[chain_of(at(slot)[kKey])], slot);
  }
  void link(int64_t slot, int64_t which, Word value) {
    if (slot < 0) {
      (which == kNewer ? oldest_ : newest_) = value;  // beyond the ends of the list
      return;
    }
    Word &word = at(slot)[which];
    if (logs_ && slot < marked_.used) links_.push_back({slot, which, word});
    word = value;
  }
  void move_to_front(int64_t slot) {
    if (slot == newest_) return;
    const Word newer = at(slot)[kNewer], older = at(slot)[kOlder];
    if (newer >= 0 || older >= 0 || slot == oldest_) {
      link(newer, kOlder, older);
      link(older, kNewer, newer);
    }
    link(slot, kNewer, -1);
    link(slot, kOlder, newest_);
    link(newest_, kNewer, slot);
    newest_ = slot;
  }
  void touch(int64_t slot) {
    Word *words = at(slot);
    if (!logs_ || words[kEpoch] == epoch_) return;
    log_.push_back(slot);
    log_.insert(log_.end(), words, words + stride_);
    words[kEpoch] = epoch_;
  }

  std::vector<PastCall> calls_;
  std::vector<int64_t> offsets_;
  int64_t stride_ = kHeader, most_ = 1, used_ = 0, newest_ = -1, oldest_ = -1;
  std::vector<Word> slots_;
  std::vector<int64_t> chains_;  // by hash, the first slot of each chain
  Word epoch_ = 1;
  bool logs_ = false, moved_ = false;
  std::vector<Word> log_;  // slot and words, as they were
  std::vector<Link> links_;
  Marked marked_{0, -1, -1};
};

}  // namespace thalweg::THALWEG_LEVEL
