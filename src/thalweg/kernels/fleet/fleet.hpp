// One model per key: millions of states of one learner, each a few hundred contiguous bytes, stepped by one learner.
//
// A row's record is read into the learner, the learner steps, and the record is written back. The records of the rows
// to come are fetched meanwhile, so a row costs its arithmetic and two short copies rather than a dozen cache misses.
// Classes are common to all keys. One that is announced costs nothing then: a record of fewer classes catches up when
// its key is next learned.
#pragma once

#include "fleet/cells.hpp"
#include "fleet/flat_state.hpp"
#include "fleet/key_book.hpp"

namespace thalweg::THALWEG_LEVEL {

// Slots in the order of their last use, as a ring of neighbours.
class Recency {
 public:
  int64_t size() const { return held_; }
  uint32_t oldest() const { return ring_[0].newer - 1; }
  uint32_t newer_than(uint32_t slot) const { return ring_[slot + 1].newer - 1; }
  int64_t bytes() const { return int64_t(ring_.capacity() * sizeof(Neighbours)); }

  // Slot is now the newest, whether it was there or not.
  void use(uint32_t slot) {
    if (ring_.size() < std::size_t(slot) + 2) ring_.resize(std::size_t(slot) + 2);
    drop(slot);
    const uint32_t here = slot + 1, newest = ring_[0].older;
    ring_[here] = {newest, 0};
    ring_[newest].newer = ring_[0].older = here;
    held_++;
  }
  void drop(uint32_t slot) {
    const uint32_t here = slot + 1;
    if (here >= ring_.size() || ring_[here].older == kAbsent) return;
    ring_[ring_[here].older].newer = ring_[here].newer;
    ring_[ring_[here].newer].older = ring_[here].older;
    ring_[here] = Neighbours{};
    held_--;
  }

 private:
  static constexpr uint32_t kAbsent = UINT32_MAX;
  struct Neighbours {
    uint32_t older = kAbsent, newer = kAbsent;
  };
  // Slot s is entry s + 1; entry 0 closes the ring: its newer neighbour is the oldest slot.
  std::vector<Neighbours> ring_{Neighbours{0, 0}};
  int64_t held_ = 0;
};

class Fleet {
 public:
  // `capacity`: records in memory, the rest lies in `file`, which is then ours to close; 0: all in memory.
  Fleet(const Learner &model, int64_t capacity, int file)
      : pristine_(model.copy()), at_work_(model.copy()), cells_(file), capacity_(capacity) {}

  int64_t features() const { return pristine_->features(); }
  int64_t classes() const { return at_work_->classes(); }
  int64_t size() const { return book_.size(); }
  const KeyBook &book() const { return book_; }
  uint32_t find(const Key &key) const { return book_.find(key); }
  int64_t bytes() const {
    return cells_.bytes() + book_.bytes() + recency_.bytes() + int64_t(places_.capacity() * sizeof(Place));
  }

  void announce(int64_t at) {
    announced_.push_back(at);
    at_work_->announce(at);
    fresh_.restart();
  }

  // Test-then-train: row i belongs to key_at(i).
  template <class KeyAt>
  void run(const double *X, const int64_t *y, int64_t rows, KeyAt key_at, int64_t *answers) {
    uint32_t slots[kAhead];
    for (int64_t from = 0; from < rows; from += kAhead) {
      const int64_t count = std::min(kAhead, rows - from);
      look_up_ahead(from, count, key_at);
      for (int64_t i = 0; i < count; i++) {
        slots[i] = slot_of(key_at(from + i));
        fetch(slots[i]);
      }
      for (int64_t i = 0; i < count; i++) {
        const int64_t given = step(slots[i], X + (from + i) * features(), y[from + i]);
        if (answers) answers[from + i] = given;
      }
    }
  }
  int64_t learn(const Key &key, const double *x, int64_t k) { return step(slot_of(key), x, k); }

  // For a caller who is alone: the learner at work is free between rows. An unknown key is answered -1.
  int64_t answer(const Key &key, const double *x) {
    const uint32_t slot = find(key);
    if (slot == KeyBook::kNone) return -1;
    load(slot, *at_work_, packed_, page_);
    return at_work_->answer(x);
  }

  // A reader has a learner of its own, so that several may ask at once.
  class Reader {
   public:
    explicit Reader(const Fleet &fleet) : fleet_(fleet), learner_(fleet.at_work_->copy()) {}
    int64_t answer(uint32_t slot, const double *x) {
      if (slot == KeyBook::kNone) return -1;
      fleet_.load(slot, *learner_, room_, page_);
      return learner_->answer(x);
    }
    Learner &learner_of(uint32_t slot) {
      fleet_.load(slot, *learner_, room_, page_);
      return *learner_;
    }

   private:
    const Fleet &fleet_;
    std::unique_ptr<Learner> learner_;
    FlatWriter room_;
    Buffer page_;
  };
  template <class KeyAt> void answers(const double *X, int64_t rows, KeyAt key_at, int64_t *out) const {
    Reader reader(*this);
    uint32_t slots[kAhead];
    for (int64_t from = 0; from < rows; from += kAhead) {
      const int64_t count = std::min(kAhead, rows - from);
      look_up_ahead(from, count, key_at);
      for (int64_t i = 0; i < count; i++) {
        slots[i] = find(key_at(from + i));
        if (slots[i] != KeyBook::kNone) fetch(slots[i]);
      }
      for (int64_t i = 0; i < count; i++) out[from + i] = reader.answer(slots[i], X + (from + i) * features());
    }
  }

  bool forget(const Key &key) {
    const uint32_t slot = find(key);
    if (slot == KeyBook::kNone) return false;
    cells_.remove(places_, slot);
    recency_.drop(slot);
    book_.erase(key);
    return true;
  }

  // A key's record with all classes of the fleet, for files; and back, refused where no learner can have written it.
  const FlatWriter &record(uint32_t slot, Reader &reader) {
    Learner &learner = reader.learner_of(slot);
    write(learner, packed_);
    return packed_;
  }
  void restore(const Key &key, const double *record, int64_t count) {
    if (find(key) != KeyBook::kNone) throw BadState("keys");
    int64_t known;
    if (count < 1) throw BadState("records");
    std::memcpy(&known, record, sizeof known);
    if (known != classes()) throw BadState("n_classes");
    FlatReader reader(record, count, false);
    at_work_->visit(reader);
    if (!reader.only_zeros_left()) throw BadState("records");
    keep(slot_of(key));
  }
  std::string layout() const {
    Layout layout;
    const std::unique_ptr<Learner> fresh(pristine_->copy());
    for (int64_t c = 0; c < classes(); c++) fresh->announce(c);
    fresh->visit(layout);
    return layout.text;
  }

  // By slot: 0 on disk, then 1, 2, … from the slot used longest ago; empty where no order of use is kept.
  std::vector<int64_t> order_of_use() const {
    std::vector<int64_t> order(capacity_ ? places_.size() : 0);
    if (!capacity_) return order;
    uint32_t slot = recency_.oldest();
    for (int64_t i = 1; i <= recency_.size(); i++, slot = recency_.newer_than(slot)) order[slot] = i;
    return order;
  }

 private:
  static constexpr int64_t kAhead = 32;  // rows whose records are fetched at once: together they fit the first cache

  static void read(const FlatWriter &record, Learner &into) {
    FlatReader reader(record.words(), record.count());
    into.visit(reader);
  }
  static void write(Learner &from, FlatWriter &record) {
    record.restart();
    from.visit(record);
  }

  void renew() {
    const std::unique_ptr<Learner> fresh(pristine_->copy());
    for (int64_t at : announced_) fresh->announce(at);
    write(*fresh, fresh_);
  }

  uint32_t slot_of(const Key &key) {
    if (!fresh_.count()) renew();
    const uint32_t slot = book_.find_or_add(key);
    if (slot >= places_.size()) places_.resize(slot + 1);
    return slot;
  }

  // Each of these is far away in memory: all rows wait for one of them together, and not each row for all.
  template <class KeyAt> THALWEG_INLINE void look_up_ahead(int64_t from, int64_t count, KeyAt key_at) const {
    uint32_t hashes[kAhead];
    for (int64_t i = 0; i < count; i++) {
      hashes[i] = key_at(from + i).hash();
      __builtin_prefetch(book_.home(hashes[i]));
    }
    for (int64_t i = 0; i < count; i++) {
      const uint32_t slot = book_.likely(hashes[i]);
      if (slot >= places_.size()) continue;
      __builtin_prefetch(book_.key_of(slot));
      __builtin_prefetch(&places_[slot]);
    }
  }
  THALWEG_INLINE void fetch(uint32_t slot) const {
    const Place &place = places_[slot];
    if (place.empty() || place.on_disk) return;
    const double *from = cells_.cell(place), *end = from + std::min<int64_t>(cells_.words(place), 256);
    for (; from < end; from += 8) __builtin_prefetch(from);
  }

  // The state of a slot, with every class announced so far, into a learner that has them all.
  void load(uint32_t slot, Learner &into, FlatWriter &room, Buffer &page) const {
    const Place &place = places_[slot];
    if (place.empty()) return read(fresh_, into);
    const double *record = cells_.read(place, page);
    int64_t known;
    std::memcpy(&known, record, sizeof known);  // every visit begins with the number of classes
    FlatReader reader(record, cells_.words(place));
    if (known == into.classes()) return into.visit(reader);
    const std::unique_ptr<Learner> behind(pristine_->copy());
    behind->visit(reader);
    for (std::size_t i = known; i < announced_.size(); i++) behind->announce(announced_[i]);
    write(*behind, room);
    read(room, into);
  }

  int64_t step(uint32_t slot, const double *x, int64_t k) {
    load(slot, *at_work_, packed_, page_);
    const int64_t given = at_work_->step(x, k);
    keep(slot);
    return given;
  }

  // What the learner at work holds becomes the slot's record.
  void keep(uint32_t slot) {
    write(*at_work_, packed_);
    cells_.store(places_, slot, packed_.words(), packed_.count());
    if (!capacity_) return;
    recency_.use(slot);
    while (recency_.size() > capacity_) {
      const uint32_t oldest = recency_.oldest();
      cells_.put_aside(places_, oldest);
      recency_.drop(oldest);
    }
  }

  std::unique_ptr<Learner> pristine_, at_work_;  // without a class and a row; with all classes and any key's rows
  std::vector<int64_t> announced_;               // the place each class took, in the order they came
  FlatWriter fresh_, packed_;                    // a key before its first row; room
  Buffer page_;
  KeyBook book_;
  std::vector<Place> places_;  // by slot
  Cells cells_;
  Recency recency_;  // of the slots in memory
  int64_t capacity_;
};

}  // namespace thalweg::THALWEG_LEVEL
