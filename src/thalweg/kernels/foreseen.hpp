// The row that was predicted last. It is often the next one to be learned, and what was found out of it then serves again.
#pragma once

#include <cstring>
#include <vector>

namespace thalweg::THALWEG_LEVEL {

class Foreseen {
 public:
  Foreseen() = default;
  // What was found out may point into the model that found it.
  Foreseen(const Foreseen &) {}
  Foreseen &operator=(const Foreseen &) {
    row.clear();
    return *this;
  }

  void remember(const double *x, int64_t features) { row.assign(x, x + features); }
  void forget() { row.clear(); }
  bool is(const double *x) const { return !row.empty() && std::memcmp(row.data(), x, row.size() * sizeof *x) == 0; }
  // Whether it was this row. It is not, the next time: the model will have changed.
  bool take(const double *x) {
    const bool same = is(x);
    row.clear();
    return same;
  }

 private:
  std::vector<double> row;
};

}  // namespace thalweg::THALWEG_LEVEL
