// A name for each hashed feature, in bounded memory: a token that most of the feature's occurrences have.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
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
    count = std::min(count, kMostVotes);
    const int32_t hash = murmur_hash(bytes, size), index = int32_t(space_.index(hash));
    const auto token = [&] { return std::string(reinterpret_cast<const char *>(bytes), size); };
    Name *name = &names_[place_of(index)];
    if (name->count == 0) {
      if (size_ >= limit_) {
        while (size_ >= limit_) fade();
        name = &names_[place_of(index)];
      }
      *name = {index, hash, count};
      tokens_[name - names_.data()] = token();
      if (2 * ++size_ > names_.size()) rehash(2 * names_.size());
    } else if (name->hash == hash) {
      name->count = std::min(name->count + count, kMostVotes);
    } else if (name->count > count) {
      name->count -= count;
    } else {
      *name = {index, hash, count - name->count + 1};
      tokens_[name - names_.data()] = token();
    }
  }

  // Index, token and votes of each feature that has a name, by index.
  std::vector<std::tuple<int32_t, std::string, int64_t>> names() const {
    std::vector<std::tuple<int32_t, std::string, int64_t>> all;
    for (std::size_t at = 0; at < names_.size(); at++)
      if (names_[at].count) all.emplace_back(names_[at].index, tokens_[at], names_[at].count);
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  static constexpr std::size_t kLongest = 128;             // bytes; longer tokens have no name
  static constexpr int64_t kMostVotes = int64_t(1) << 60;  // so that forged ones do not overflow

  struct Name {
    int32_t index = 0, hash = 0;
    int64_t count = 0;  // 0: an empty place
  };

  // Where a feature is, or would come.
  std::size_t place_of(int32_t index) const {
    std::size_t at = uint32_t(index) * 0x9e3779b9u >> shift_;
    while (names_[at].count && names_[at].index != index) at = (at + 1) & (names_.size() - 1);
    return at;
  }
  void rehash(std::size_t places) {
    std::vector<Name> names(places);
    std::vector<std::string> tokens(places);
    names.swap(names_);
    tokens.swap(tokens_);
    for (shift_ = 32; std::size_t(1) << (32 - shift_) < places;) shift_--;
    for (std::size_t at = 0; at < names.size(); at++) {
      if (!names[at].count) continue;
      const std::size_t to = place_of(names[at].index);
      names_[to] = names[at];
      tokens_[to] = std::move(tokens[at]);
    }
  }

  // Halving makes room for new tokens by the names that are rare or have become so.
  void fade() {
    for (Name &name : names_)
      if (name.count && (name.count /= 2) == 0) size_--;
    rehash(names_.size());
  }

  HashSpace space_;
  std::size_t limit_, size_ = 0;
  // A table with open addressing, at most half full. The tokens lie beside it: most tokens only count.
  int shift_ = 28;
  std::vector<Name> names_ = std::vector<Name>(16);
  std::vector<std::string> tokens_ = std::vector<std::string>(16);
};

}  // namespace thalweg::THALWEG_LEVEL
