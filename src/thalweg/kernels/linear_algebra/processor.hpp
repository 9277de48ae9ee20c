// What differs by processor: the width of its vectors, whether it fuses products and sums, and the sizes from which one way
// of computing is faster than another. Intrinsics are confined to simd.hpp, lanes.hpp and float_lanes.hpp; all else
// is the same source.
// Which levels a processor runs is in ../processor.cpp.
//
// level   built for              processor              lanes  fused  measured on
// base    x86-64                 any x86-64 (SSE2)      2      no     x86-64 with AVX-512
// base    arm64                  any arm64 (NEON)       2      yes    Neoverse N1
// v3      x86-64                 AVX2, FMA, BMI2        4      yes    x86-64 with AVX-512
// v4      x86-64                 AVX-512 F BW CD DQ VL  8      yes    x86-64 with AVX-512
//
// Levels agree to rounding, not to the bit: they add in a different order, and only some fuse. A fused product and sum
// rounds once, so that two ways to one number may differ by more on arm64's base level than on x86-64's.
#pragma once

#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#ifndef THALWEG_LEVEL
#error "compile with -DTHALWEG_LEVEL=<name of the instruction set>"
#endif

namespace thalweg::THALWEG_LEVEL {

// GCC lowers a vector wider than the machine's through memory, so the width must match the target.
#if defined(__AVX512F__)
constexpr int kLanes = 8;
#elif defined(__AVX2__)
constexpr int kLanes = 4;
#else
constexpr int kLanes = 2;
#endif

// One rounding for a b + c.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
constexpr bool kFused = true;
#else
constexpr bool kFused = false;
#endif

// Widths with compiled code of their own: each of a few features, then whole vectors. Wider ones were not faster.
// next_width(P) is the one after P.
constexpr int kMostUnrolled = kLanes == 2 ? 4 : kLanes == 4 ? 16 : 12;
constexpr int next_width(int P) { return P < 4 ? P + 1 : P + (kLanes == 2 ? 2 : 4); }

// Rows of blocks of a factor that a pass takes at a time, and columns of them: arm64 has the registers, and what several
// need is then loaded and stored once. A Neoverse N1 does not reach the next column by itself while it waits for a row.
#if defined(__ARM_NEON)
constexpr int kBlocksAtOnce = 2, kColumnsAtOnce = 3;
#else
constexpr int kBlocksAtOnce = 1, kColumnsAtOnce = 1;
#endif

// Up to this width discriminants of two classes have a loop over a chunk's rows for each width. It takes the place of a
// larger kMostUnrolled, which repeats all of a learner for each width.
#if defined(__ARM_NEON)
constexpr int kMostInPlace = 12;
#else
constexpr int kMostInPlace = 0;
#endif

// Features from which rows go in blocks (row_block.hpp), where a row makes one pass over the factor and where it makes
// two: a block waits less for memory, and gains more by wide vectors.
constexpr int64_t kWide = kLanes == 8 ? 128 : 256, kWideInTwo = kLanes == 2 ? 256 : 128;

}  // namespace thalweg::THALWEG_LEVEL
