// Slots in the order of their last use, as a ring of neighbours.
#pragma once

#include <cstdint>
#include <vector>

#ifndef THALWEG_LEVEL
#error "compile with -DTHALWEG_LEVEL=<name of the instruction set>"
#endif

namespace thalweg::THALWEG_LEVEL {

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

}  // namespace thalweg::THALWEG_LEVEL
