// Records of a few sizes, each size packed without holes: a record that leaves is replaced by the last of its size.
//
// Blocks never move, so growing copies nothing, and a block that is empty goes back to the system. Records that were
// put aside lie in a file, in places of the same sizes.
#pragma once

#if !defined(_WIN32)
#include <sys/mman.h>
#endif

#include <cstring>
#include <memory>
#include <new>

#include "linear_algebra/simd.hpp"
#include "spill_file.hpp"

namespace thalweg::THALWEG_LEVEL {

// Where a slot's record is: in memory, in a file, or nowhere yet.
struct Place {
  int64_t at = 0;
  int32_t pool = -1;
  bool on_disk = false;
  bool empty() const { return pool < 0; }
};

// Memory straight from the system and straight back to it. It costs nothing before it is written to.
class Block {
 public:
  static constexpr int64_t kBytes = 1 << 21;  // a large page
  explicit Block(int64_t bytes) : bytes_((bytes + kBytes - 1) / kBytes * kBytes) {
#if defined(_WIN32)  // whose library asks the system for pieces of this size
    raw_ = ::operator new(bytes_ + kBytes);
#else
    raw_ = ::mmap(nullptr, bytes_ + kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw_ == MAP_FAILED) throw std::bad_alloc();
#endif
    const uintptr_t from = reinterpret_cast<uintptr_t>(raw_);
    data_ = reinterpret_cast<double *>((from + kBytes - 1) / kBytes * kBytes);
  }
  Block(Block &&other) noexcept : raw_(other.raw_), data_(other.data_), bytes_(other.bytes_) { other.raw_ = nullptr; }
  Block &operator=(Block &&) = delete;
  ~Block() {
#if defined(_WIN32)
    ::operator delete(raw_);
#else
    if (raw_) ::munmap(raw_, bytes_ + kBytes);
#endif
  }
  double *data() const { return data_; }
  void in_large_pages() {  // so that a random record costs no walk through page tables
#ifdef MADV_HUGEPAGE
    ::madvise(data_, bytes_, MADV_HUGEPAGE);
#endif
  }

 private:
  void *raw_;
  double *data_;
  int64_t bytes_;
};

class Cells {
 public:
  explicit Cells(int file) : file_(file < 0 ? nullptr : new SpillFile(file)) {}

  int64_t words(const Place &place) const { return pools_[place.pool].words; }
  double *cell(const Place &place) const { return pools_[place.pool].cell(place.at); }
  int64_t bytes() const {
    int64_t all = 0;
    for (const Pool &pool : pools_)
      all += pool.count * pool.words * int64_t(sizeof(double)) + int64_t(pool.owners.capacity() * sizeof(uint32_t));
    return all;
  }

  // Sizes in steps of at most one sixteenth, so that records which grow pass through few pools.
  static int64_t rounded(int64_t words) {
    int64_t step = 1;
    while (step * 32 <= words) step *= 2;
    return (words + step - 1) / step * step;
  }

  // Writes a slot's record; `places[slot]` follows, as does that of a slot whose record had to move.
  void store(std::vector<Place> &places, uint32_t slot, const double *record, int64_t count) {
    Place &place = places[slot];
    const int64_t size = rounded(count);
    if (place.empty() || place.on_disk || words(place) != size) {
      remove(places, slot);
      place = Place{append(pool_of(size), slot), pool_of(size), false};
    }
    double *to = cell(place);
    std::memcpy(to, record, count * sizeof(double));
    std::fill(to + count, to + size, 0.0);
  }

  void remove(std::vector<Place> &places, uint32_t slot) {
    Place &place = places[slot];
    if (place.empty()) return;
    Pool &pool = pools_[place.pool];
    if (place.on_disk) {
      file_->release(place.at, bytes_of(pool));
    } else {
      const int64_t last = pool.spot(--pool.count);
      if (place.at != last) {
        std::memcpy(pool.cell(place.at), pool.cell(last), pool.words * sizeof(double));
        pool.owners[pool.number(place.at)] = pool.owners.back();
        places[pool.owners.back()].at = place.at;
      }
      pool.owners.pop_back();
      if (int64_t(pool.blocks.size()) > pool.count / pool.per_block + 1) pool.blocks.pop_back();
    }
    place = Place{};
  }

  void put_aside(std::vector<Place> &places, uint32_t slot) {
    const Place here = places[slot];
    Pool &pool = pools_[here.pool];
    const int64_t at = file_->write(pool.cell(here.at), bytes_of(pool));
    if (at < 0) throw std::runtime_error("the file of models put aside has no room left");
    remove(places, slot);
    places[slot] = Place{at, here.pool, true};
  }

  // The words of a record: where they lie, or read from the file into `page`.
  const double *read(const Place &place, Buffer &page) const {
    if (!place.on_disk) return cell(place);
    page.resize(words(place));
    file_->read(place.at, page.data(), bytes_of(pools_[place.pool]));
    return page.data();
  }

 private:
  static constexpr int64_t kBlockWords = Block::kBytes / int64_t(sizeof(double));

  // A record's spot is its block and its index there; its number counts through all blocks.
  struct Pool {
    int64_t words, per_block, count = 0;
    std::vector<Block> blocks;
    std::vector<uint32_t> owners;  // by number: the slot of each record
    explicit Pool(int64_t words) : words(words), per_block(std::max<int64_t>(1, kBlockWords / words)) {}
    int64_t spot(int64_t number) const { return (number / per_block) << 32 | number % per_block; }
    int64_t number(int64_t spot) const { return (spot >> 32) * per_block + (spot & UINT32_MAX); }
    double *cell(int64_t spot) const { return blocks[spot >> 32].data() + (spot & UINT32_MAX) * words; }
  };

  int32_t pool_of(int64_t words) {
    const auto found = by_words_.find(words);
    if (found != by_words_.end()) return found->second;
    pools_.emplace_back(words);
    return by_words_[words] = int32_t(pools_.size() - 1);
  }
  int64_t append(int32_t which, uint32_t slot) {
    Pool &pool = pools_[which];
    const int64_t spot = pool.spot(pool.count);
    if (spot >> 32 == int64_t(pool.blocks.size())) {
      pool.blocks.emplace_back(pool.per_block * pool.words * int64_t(sizeof(double)));
      if (pool.blocks.size() > 1) pool.blocks.back().in_large_pages();  // the first may hold little
    }
    pool.owners.push_back(slot);
    pool.count++;
    return spot;
  }
  static int64_t bytes_of(const Pool &pool) { return pool.words * int64_t(sizeof(double)); }

  std::unique_ptr<SpillFile> file_;  // null where all records are in memory
  std::vector<Pool> pools_;
  std::map<int64_t, int32_t> by_words_;
};

}  // namespace thalweg::THALWEG_LEVEL
