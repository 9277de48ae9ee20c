// A name for each hashed feature, in bounded memory: a token that most of the feature's occurrences have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/hashing.hpp"

namespace thalweg::THALWEG_LEVEL {

class FeatureNames {
 public:
  FeatureNames(int bits, int64_t limit) : space_(bits), limit_(std::size_t(limit)) {
    if (limit < 1) throw std::invalid_argument("limit must be at least 1");
  }

  // Tokens of one feature vote for its name, one vote each way (Boyer and Moore): a majority always wins.
  void add(const uint8_t *bytes, std::size_t size, int64_t count = 1) {
    if (size > kLongest || count < 1) return;
    const int32_t hash = murmur_hash(bytes, size), index = int32_t(space_.index(hash));
    auto found = names_.find(index);
    if (found == names_.end()) {
      while (names_.size() >= limit_) fade();
      names_.emplace(index, Name{hash, count, std::string(reinterpret_cast<const char *>(bytes), size)});
    } else if (Name &name = found->second; name.hash == hash) {
      name.count += count;
    } else if (name.count > count) {
      name.count -= count;
    } else {
      name = {hash, count - name.count + 1, std::string(reinterpret_cast<const char *>(bytes), size)};
    }
  }

  // Index, token and votes of each feature that has a name, by index.
  std::vector<std::tuple<int32_t, std::string, int64_t>> names() const {
    std::vector<std::tuple<int32_t, std::string, int64_t>> all;
    for (const auto &[index, name] : names_) all.emplace_back(index, name.token, name.count);
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  static constexpr std::size_t kLongest = 128;  // bytes; longer tokens have no name

  struct Name {
    int32_t hash;
    int64_t count;
    std::string token;
  };

  // Halving makes room for new tokens by the names that are rare or have become so.
  void fade() {
    for (auto at = names_.begin(); at != names_.end();)
      if ((at->second.count /= 2) == 0) at = names_.erase(at);
      else ++at;
  }

  HashSpace space_;
  std::size_t limit_;
  std::unordered_map<int32_t, Name> names_;
};

}  // namespace thalweg::THALWEG_LEVEL
