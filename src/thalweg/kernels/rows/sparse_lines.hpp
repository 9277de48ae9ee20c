// Lines of sparse rows as labels and compressed rows: the formats of svmlight and libsvm, and of Vowpal Wabbit.
//
// Nothing of a malformed line is used. Lines without content, blanks or a comment, are no rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace thalweg::THALWEG_LEVEL {

// A vector that is written through a pointer: what was not added yet is neither initialised nor to be taken back.
template <class T> class Growing {
 public:
  const T *data() const { return data_.get(); }
  std::size_t size() const { return size_; }

  // Where `more` can be written.
  T *room(std::size_t more) {
    if (size_ + more > capacity_) {
      capacity_ = 2 * (size_ + more);
      std::unique_ptr<T[]> larger(new T[capacity_]);
      if (size_) std::memcpy(larger.get(), data_.get(), size_ * sizeof(T));
      data_ = std::move(larger);
    }
    return data_.get() + size_;
  }
  void add_until(const T *end) { size_ = end - data_.get(); }
  void add(T value) {
    *room(1) = value;
    size_++;
  }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

struct BadLine {
  int64_t row;             // among the lines with content, from 0
  const char *reason;      // a template of Python's `str.format` for the part of the line that is wrong
  std::size_t begin, end;  // of that part
};

struct SparseLines {
  int64_t rows = 0;  // with the bad ones
  Growing<char> labels;
  Growing<int32_t> label_offsets;
  Growing<bool> has_label;
  Growing<int64_t> offsets;  // of the rows among the entries
  Growing<int32_t> indices;  // of svmlight
  Growing<char> names;       // of Vowpal Wabbit: `feature`, or `namespace^feature`
  Growing<int32_t> name_offsets;
  Growing<double> values;
  std::vector<BadLine> bad;
};

// label index:value … # comment
SparseLines read_svmlight(const char *text, std::size_t size);

// label [importance] ['tag]|namespace[:scale] feature[:value] … |namespace …
SparseLines read_vowpal_wabbit(const char *text, std::size_t size);

}  // namespace thalweg::THALWEG_LEVEL
