// Feature hashing as scikit-learn's FeatureHasher does it: MurmurHash3 (x86, 32 bits, seed 0) of a name's UTF-8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace thalweg::THALWEG_LEVEL {

inline int32_t murmur_hash(const uint8_t *bytes, std::size_t size) {
  const auto rotate = [](uint32_t x, int by) { return (x << by) | (x >> (32 - by)); };
  const auto scramble = [rotate](uint32_t k) { return rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u; };
  uint32_t h = 0, k;
  const uint8_t *last = bytes + size / 4 * 4;
  for (; bytes < last; bytes += 4) {
    std::memcpy(&k, bytes, 4);  // every processor we build for is little-endian
    h = rotate(h ^ scramble(k), 13) * 5 + 0xe6546b64u;
  }
  k = 0;
  switch (size % 4) {
    case 3:
      k |= uint32_t(last[2]) << 16;
      [[fallthrough]];
    case 2:
      k |= uint32_t(last[1]) << 8;
      [[fallthrough]];
    case 1:
      h ^= scramble(k | last[0]);
  }
  h ^= uint32_t(size);
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return int32_t(h ^ (h >> 16));
}

// Where a hash lies among 2^bits features, and its sign.
struct HashSpace {
  explicit HashSpace(int bits) : mask((1u << bits) - 1) {
    if (bits < 1 || bits > 30) throw std::invalid_argument("hash_bits must lie in 1 to 30");
  }
  uint32_t index(int32_t hash) const { return (hash < 0 ? 0u - uint32_t(hash) : uint32_t(hash)) & mask; }
  static bool negative(int32_t hash) { return hash < 0; }

 private:
  uint32_t mask;
};

}  // namespace thalweg::THALWEG_LEVEL
