// What is checked and changed of rows, labels and predictions that lie in the GPU's memory, in one pass over each.

namespace {

__device__ __forceinline__ long long place() { return blockIdx.x * (long long)blockDim.x + threadIdx.x; }

}  // namespace

// The first value that is no finite number of at most `largest`; n where there is none.
extern "C" __global__ void find_bad(const double *values, long long n, double largest, unsigned long long *first) {
  const long long step = gridDim.x * (long long)blockDim.x;
  long long own = n;
#pragma unroll 8
  for (long long i = place(); i < n; i += step) own = fabs(values[i]) <= largest ? own : min(own, i);
  if (own < n) atomicMin(first, (unsigned long long)own);
}

// The place of each label among the sorted classes; `unknown` becomes 1 where one of them is not there.
extern "C" __global__ void encode(const long long *labels, long long n, const long long *classes, int count, int *codes,
                                  unsigned long long *unknown) {
  const long long i = place();
  if (i >= n) return;
  const long long label = labels[i];
  int begin = 0, end = count;
  while (begin < end) {
    const int middle = (begin + end) / 2;
    if (classes[middle] < label) begin = middle + 1;
    else end = middle;
  }
  codes[i] = begin;
  if (begin == count || classes[begin] != label) *unknown = 1;
}
