// Rows of many keys at once: each key's rows in order by some lanes of a warp.
//
// Records lie one after the other in pages, so that a batch reads those of its keys and no others, and a fleet grows
// without a copy. They begin at sectors of 32 bytes, so that none is shared by two keys. A warp copies its records to
// shared memory with all lanes side by side and back. There they lie so far apart that the lanes of 16 neighbouring
// words, Lanes of each key, are in different banks. Keys with as many rows come side by side, those with most first, so
// that no lane of a warp waits for another and no key is left at the end alone.
#include "discriminant_step.cuh"
#include "least_squares_step.cuh"
#include "linear_step.cuh"

using namespace thalweg::record;

namespace {

constexpr int kEmpty = -1, kWriting = -2;
constexpr int kPageBits = 12;  // records of a page, as in core.py
constexpr int kBuckets = 128;  // as in core.py

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

// How many rows a key has from its first on, of those sorted by slot.
__device__ __forceinline__ int rows_of(int slot, int first, const int *sorted, int rows) {
  int low = first, step = 1;
  for (; low + step < rows && sorted[low + step] == slot; step *= 2) low += step;
  int high = min(low + step, rows);
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (sorted[middle] == slot ? low : high) = middle;
  }
  return high - first;
}

// Keys with as many rows are in one bucket, beyond 31 those with nearly as many; most rows first.
__device__ __forceinline__ int bucket_of(int rows) {
  const int octave = 31 - __clz(rows);
  return kBuckets - 1 - (rows < 32 ? rows : 32 + 4 * (octave - 5) + ((rows >> (octave - 2)) & 3));
}

// A prediction in 64 bits: the label of a class, or the number itself.
__device__ __forceinline__ long long bits_of(int k, const long long *names) { return names[k + 1]; }
__device__ __forceinline__ long long bits_of(double y, const long long *) { return __double_as_longlong(y); }

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

// No key has a slot from this one on. Older keys are still found: their places were taken before.
extern "C" __global__ void drop_slots(Entry *table, int size, int from) {
  const int at = place();
  if (at < size && table[at].slot >= from) table[at].slot = kEmpty;
}

// Keys with their slots into a larger table; all are different.
extern "C" __global__ void move_slots(const Entry *from, int size, Entry *table, unsigned mask) {
  const int of = place();
  if (of >= size || from[of].slot < 0) return;
  unsigned at = unsigned(scattered(from[of].key)) & mask;
  while (atomicCAS(&table[at].slot, kEmpty, from[of].slot) != kEmpty) at = (at + 1) & mask;
  table[at].key = from[of].key;
}

// The rows of each known key, those of a bucket side by side. Null `groups`: how many keys each bucket has is added to
// `places`, which else says where the next key of a bucket goes.
extern "C" __global__ void list_groups(const int *sorted, const long long *order, int rows, double *const *pages,
                                       int stored, int *places, Group *groups) {
  __shared__ int count[kBuckets], begin[kBuckets];
  for (int bucket = threadIdx.x; bucket < kBuckets; bucket += blockDim.x) count[bucket] = 0;
  __syncthreads();
  const int at = place(), slot = at < rows ? sorted[at] : -1;
  const bool is_first = slot >= 0 && (at == 0 || sorted[at - 1] != slot);
  int length = 0, bucket = 0, own = 0;
  if (is_first) {
    length = rows_of(slot, at, sorted, rows);
    bucket = bucket_of(length);
    own = atomicAdd(count + bucket, 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < kBuckets; b += blockDim.x) begin[b] = count[b] ? atomicAdd(places + b, count[b]) : 0;
  if (!groups) return;
  __syncthreads();
  if (!is_first) return;
  double *record = pages[slot >> kPageBits] + size_t(slot & ((1 << kPageBits) - 1)) * stored;
  groups[begin[bucket] + own] = {record, at, length, int(order[at]), 0};
}

// `names`: what is predicted without a class, and for each class. Rows of unknown keys are left as they are. Null y: no
// learning. What a row needs from memory is asked for while the row before it is learned, and its place in X one row
// earlier still.
template <class Model>
__global__ void __launch_bounds__(32)
    take_rows(const double *X, const typename Model::Value *y, const long long *order, const Group *groups, int keys,
              typename Model::Options options, const long long *names, long long *answers) {
  constexpr int P = Model::kFeatures, Lanes = Model::kLanes;
  constexpr int kStored = (Model::kWords + 3) / 4 * 4, kKeys = 32 / Lanes;
  constexpr int kApart = (kStored + Model::kScratch + Lanes - 1) / (2 * Lanes) * (2 * Lanes) + Lanes;
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
  double x[Model::kOwn] = {};
  int row = group.rows > 0 ? group.row : -1, next = group.rows > 1 ? int(order[group.begin + 1]) : -1;
  typename Model::Value target = Model::kNone;
  const auto read = [&] {
    if (row < 0) return;
    if (y) target = y[row];
    THALWEG_UNROLL for (int t = 0; t < Model::kOwn; t++) {
      if (t * Lanes + lane < P) x[t] = X[size_t(row) * P + t * Lanes + lane];
    }
  };
  read();
  asm volatile("cp.async.wait_all;");
  __syncwarp();
  double *const record = room + threadIdx.x / Lanes * kApart;
  Model model{record, record + kStored, options, lane};
  const int most = __reduce_max_sync(~0u, group.rows);
  for (int at = 0; at < most; at++) {
    const int now = row;
    const auto target_now = target;
    if (now >= 0) model.begin(x);
    row = next;
    next = at + 2 < group.rows ? int(order[group.begin + at + 2]) : -1;
    read();
    __syncwarp();
    if (now >= 0) model.project(target_now);
    __syncwarp();
    const auto found = now >= 0 ? model.decide(target_now) : Model::kNone;
    if (now >= 0 && lane == 0) answers[now] = bits_of(found, names);
    __syncwarp();
    const bool learns = now >= 0 && target_now > Model::kNone;
    if (learns) model.update(target_now);
    __syncwarp();
    if constexpr (Model::kHolds) {
      for (int phase = 0; y && phase < 3 * options.turns; phase++) {
        if (learns) model.hold(phase);
        __syncwarp();
      }
    }
  }
  if (!y) return;
  for_each_pair([](double *here, double *there) {
    *reinterpret_cast<double2 *>(there) = *reinterpret_cast<const double2 *>(here);
  });
}
