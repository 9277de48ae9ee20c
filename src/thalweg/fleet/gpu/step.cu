// Rows of many keys at once: each key's rows in order by one thread, 32 keys to a warp.
//
// Records lie one after the other in pages, so that a batch reads those of its keys and no others, and a fleet grows
// without a copy. A warp copies its 32 records to
// shared memory with all lanes side by side and back, and each lane works on its own: they lie an odd number of words
// apart, so that the same entry of all records is in different banks.
#include "record_step.cuh"

using namespace thalweg::record;

namespace {

__device__ __forceinline__ void copy_ahead(double *to, const double *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from));
}

__device__ __forceinline__ unsigned long long scattered(long long key) {  // the finaliser of SplitMix64
  unsigned long long bits = key;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  return bits ^ (bits >> 31);
}

constexpr int kEmpty = -1, kWriting = -2;
constexpr int kPageBits = 12;  // records of a page, as in core.py

template <int kWords> __device__ __forceinline__ double *record_of(double *const *pages, int slot) {
  return pages[slot >> kPageBits] + size_t(slot & ((1 << kPageBits) - 1)) * kWords;
}

}  // namespace

// Keys by open addressing: the slot of each, and one that is new takes the next. Null `count`: unknown keys get -1.
extern "C" __global__ void find_slots(const long long *keys, int rows, long long *table_keys, int *table_slots,
                                      unsigned mask, int *count, int *slots) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const long long key = keys[row];
  for (unsigned place = unsigned(scattered(key)) & mask;; place = (place + 1) & mask) {
    int slot = count ? atomicCAS(table_slots + place, kEmpty, kWriting) : table_slots[place];
    if (slot == kEmpty) {
      if (count) {
        slot = atomicAdd(count, 1);
        table_keys[place] = key;
        __threadfence();
        atomicExch(table_slots + place, slot);
      }
      slots[row] = slot;
      return;
    }
    while (slot == kWriting) slot = atomicAdd(table_slots + place, 0);
    __threadfence();
    if (*(volatile long long *)(table_keys + place) == key) {
      slots[row] = slot;
      return;
    }
  }
}

// Keys with their slots into a larger table; all are different.
extern "C" __global__ void move_slots(const long long *keys, const int *slots, int old, long long *table_keys,
                                      int *table_slots, unsigned mask) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= old || slots[at] < 0) return;
  unsigned place = unsigned(scattered(keys[at])) & mask;
  while (atomicCAS(table_slots + place, kEmpty, slots[at]) != kEmpty) place = (place + 1) & mask;
  table_keys[place] = keys[at];
}

// `first`: where the rows of each of the keys begin in `order`; answers of keys without a row are -1. Null y: no learning.
template <int P, int C>
__global__ void __launch_bounds__(32) take_rows(double *const *pages, const double *X, const int *y, const unsigned *order,
                                                const unsigned *first, const int *slots, int keys, int rows,
                                                Options options, int *answers) {
  using D = Discriminant<P, C>;
  constexpr int kWords = D::kWords, kApart = kWords | 1;
  extern __shared__ double room[];
  const int lane = threadIdx.x, begin = blockIdx.x * 32, here = min(32, keys - begin), own = begin + lane;
  const int slot = lane < here ? slots[own] : 0;
  for (int k = 0; k < here; k++) {
    const double *record = record_of<kWords>(pages, __shfl_sync(~0u, slot, k));
    for (int i = lane; i < kWords; i += 32) copy_ahead(room + k * kApart + i, record + i);
  }
  asm volatile("cp.async.wait_all;");
  __syncwarp();
  if (lane < here) {
    const D model{room + lane * kApart, options};
    const unsigned end = own + 1 < keys ? first[own + 1] : rows;
    for (unsigned i = first[own]; i < end; i++) {
      const unsigned row = order[i];
      answers[row] = model.take(X + size_t(row) * P, y ? y[row] : -1);
    }
  }
  if (!y) return;
  __syncwarp();
  for (int k = 0; k < here; k++) {
    double *record = record_of<kWords>(pages, __shfl_sync(~0u, slot, k));
    for (int i = lane; i < kWords; i += 32) record[i] = room[k * kApart + i];
  }
}
