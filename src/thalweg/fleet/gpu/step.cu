// Rows of many keys at once: each key's rows in order by some lanes of a warp.
//
// Records lie one after the other in pages, so that a batch reads those of its keys and no others, and a fleet grows
// without a copy. They begin at sectors of 32 bytes, so that none is shared by two keys. A warp copies its records to
// shared memory with all lanes side by side and back. There they lie so far apart that the lanes of 16 neighbouring
// words, Lanes of each key, are in different banks. Keys with as many rows come side by side, those with most first, so
// that no lane of a warp waits for another and no key is left at the end alone.
#include "record_step.cuh"

using namespace thalweg::record;

namespace {

constexpr int kEmpty = -1, kWriting = -2;
constexpr int kPageBits = 12;  // records of a page, as in core.py

struct Entry {  // of the table of keys
  long long key;
  int slot, unused;
};

struct Group {  // a key's record, where its rows are in the sorted order, and the first of them
  double *record;
  int begin, rows, row, unused;
};

__device__ __forceinline__ void copy_ahead(double *to, const double *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from));
}

__device__ __forceinline__ int slot_now(const Entry *entry) {  // with the key written before it
  int slot;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(slot) : "l"(&entry->slot) : "memory");
  return slot;
}

__device__ __forceinline__ unsigned long long scattered(long long key) {  // the finaliser of SplitMix64
  unsigned long long bits = key;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  return bits ^ (bits >> 31);
}

__device__ __forceinline__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ int rows_from(const long long *first, int at, int keys, int rows) {
  return int((at + 1 < keys ? first[at + 1] : rows) - first[at]);
}

}  // namespace

// Keys by open addressing: the slot of each, and one that is new takes the next. Null `count`: unknown keys get -1.
extern "C" __global__ void find_slots(const long long *keys, int rows, Entry *table, unsigned mask, int *count,
                                      int *slots) {
  const int row = place();
  if (row >= rows) return;
  const long long key = keys[row];
  for (unsigned at = unsigned(scattered(key)) & mask;; at = (at + 1) & mask) {
    Entry *entry = table + at;
    int slot = slot_now(entry);
    if (slot == kEmpty && count) {
      slot = atomicCAS(&entry->slot, kEmpty, kWriting);
      if (slot == kEmpty) {
        entry->key = key;
        __threadfence();
        slots[row] = atomicAdd(count, 1);
        atomicExch(&entry->slot, slots[row]);
        return;
      }
    }
    while (slot == kWriting) slot = slot_now(entry);
    if (slot == kEmpty || *(volatile long long *)&entry->key == key) {
      slots[row] = slot;
      return;
    }
  }
}

// Keys with their slots into a larger table; all are different.
extern "C" __global__ void move_slots(const Entry *from, int size, Entry *table, unsigned mask) {
  const int of = place();
  if (of >= size || from[of].slot < 0) return;
  unsigned at = unsigned(scattered(from[of].key)) & mask;
  while (atomicCAS(&table[at].slot, kEmpty, from[of].slot) != kEmpty) at = (at + 1) & mask;
  table[at].key = from[of].key;
}

// Where a key's rows begin in `order`, which sorts rows by slot.
extern "C" __global__ void mark_first(const int *slots, const long long *order, int rows, bool *is_first) {
  const int at = place(), slot = at < rows ? slots[order[at]] : 0;
  int before = __shfl_up_sync(~0u, slot, 1);
  if (threadIdx.x % 32 == 0 && at > 0 && at < rows) before = slots[order[at - 1]];
  if (at < rows) is_first[at] = at == 0 || slot != before;
}

// What sorts keys by their rows, most first.
extern "C" __global__ void rank_keys(const long long *first, int keys, int rows, unsigned short *rank) {
  const int at = place();
  if (at < keys) rank[at] = 65535 - min(65535, rows_from(first, at, keys, rows));
}

// The rows of each key, in the order of their ranks; none of an unknown key.
extern "C" __global__ void list_groups(const int *slots, const long long *order, const long long *first,
                                       const long long *by_rank, int keys, int rows, double *const *pages, int stored,
                                       Group *groups) {
  const int at = place();
  if (at >= keys) return;
  const int of = int(by_rank[at]), begin = int(first[of]), row = int(order[begin]), slot = slots[row];
  if (slot < 0) {
    groups[at] = {};
    return;
  }
  double *page = pages[slot >> kPageBits];
  const int within = slot & ((1 << kPageBits) - 1);
  groups[at] = {page + size_t(within) * stored, begin, rows_from(first, of, keys, rows), row, 0};
}

// Predictions of rows without a model are left as they are. Null y: no learning. What a row needs from memory is asked
// for while the row before it is learned, and its place in X one row earlier still.
template <int P, int C, int Lanes>
__global__ void __launch_bounds__(32) take_rows(const double *X, const int *y, const long long *order,
                                                const Group *groups, int keys, Options options, int *answers) {
  using D = Discriminant<P, C, Lanes>;
  constexpr int kStored = (D::kWords + 3) / 4 * 4, kKeys = 32 / Lanes;
  constexpr int kApart = (kStored + D::kScratch + Lanes - 1) / (2 * Lanes) * (2 * Lanes) + Lanes;
  extern __shared__ __align__(16) double room[];
  const int own = blockIdx.x * kKeys + threadIdx.x / Lanes, lane = threadIdx.x % Lanes;
  const Group group = own < keys ? groups[own] : Group{};
  const auto for_each_pair = [&](auto copy) {  // of numbers, in shared memory and in the record
    THALWEG_UNROLL for (int k = 0; k < kKeys; k++) {
      double *record = reinterpret_cast<double *>(__shfl_sync(~0u, reinterpret_cast<size_t>(group.record), k * Lanes));
      THALWEG_UNROLL for (int i = 0; i < kStored; i += 64) {
        const int at = i + 2 * threadIdx.x;
        if (record && at < kStored) copy(room + k * kApart + at, record + at);
      }
    }
  };
  for_each_pair([](double *here, double *there) { copy_ahead(here, there); });
  double x[D::kOwn] = {};
  int row = group.rows > 0 ? group.row : -1, next = group.rows > 1 ? int(order[group.begin + 1]) : -1, k = -1;
  const auto read = [&] {
    if (row < 0) return;
    k = y ? y[row] : -1;
    THALWEG_UNROLL for (int t = 0; t < D::kOwn; t++) {
      if (t * Lanes + lane < P) x[t] = X[size_t(row) * P + t * Lanes + lane];
    }
  };
  read();
  asm volatile("cp.async.wait_all;");
  __syncwarp();
  double *const record = room + threadIdx.x / Lanes * kApart;
  D model{record, record + kStored, options, lane};
  const int most = __reduce_max_sync(~0u, group.rows);
  for (int at = 0; at < most; at++) {
    const int now = row, label = k;
    if (now >= 0) model.deviate(x);
    row = next;
    next = at + 2 < group.rows ? int(order[group.begin + at + 2]) : -1;
    read();
    __syncwarp();
    if (now >= 0) model.project(label);
    __syncwarp();
    const int found = now >= 0 ? model.decide(label) : -1;
    if (now >= 0 && lane == 0) answers[now] = found;
    __syncwarp();
    if (now >= 0 && label >= 0) model.update(label);
    __syncwarp();
  }
  if (!y) return;
  for_each_pair([](double *here, double *there) {
    *reinterpret_cast<double2 *>(there) = *reinterpret_cast<const double2 *>(here);
  });
}
