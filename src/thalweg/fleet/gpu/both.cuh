// What lets the step of a row compile for the GPU and for the host.
//
// A step is a struct of one lane: a row takes the phases `begin`, `project`, `decide` and `update`, where kHolds is true
// `hold` for each of three times as many phases as the options have turns, and all lanes of a key end one before any begins
// the next. Targets and predictions are a Value, a class or a number; kNone stands for none, and is learned by no step. A lane has every kLanes-th entry of the row. What lanes tell each other lies in
// a scratch beside the record. A record of a key that was never learned is zeros.
#pragma once

#ifdef __CUDACC__
#define THALWEG_BOTH __device__ __forceinline__
#define THALWEG_SELDOM __device__ __noinline__
#define THALWEG_UNROLL _Pragma("unroll")
#define THALWEG_ROLLED _Pragma("unroll 1")
#else
#include <cmath>
#define THALWEG_BOTH inline
#define THALWEG_SELDOM inline
#define THALWEG_UNROLL
#define THALWEG_ROLLED
#endif

namespace thalweg::record {

// 1 / a for a > 0. The division of CUDA has a branch for rare operands, which keeps neighbours from overlapping.
THALWEG_BOTH double reciprocal(double a) {
#ifdef __CUDACC__
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  r = fma(r, fma(-a, r, 1.0), r);
  r = fma(r, fma(-a, r, 1.0), r);
  return a < 1e300 ? r : 0;
#else
  return 1 / a;
#endif
}

}  // namespace thalweg::record
