// A weight vector for each class: over dense rows of one width, or over sparse rows whose features appear on the way.
//
// Dense weights lie class by class, padded to whole vectors. Sparse weights lie feature by feature, the classes of a feature
// side by side, so that a value of a row touches one place of memory: O(classes) for each value that is not zero.
#pragma once

#include "linear_algebra/simd.hpp"
#include "rows/sparse_row.hpp"
#include "state.hpp"

namespace thalweg::THALWEG_LEVEL {

class DenseWeights {
 public:
  using Row = const double *;  // padded with zeros
  static constexpr bool kSparse = false;

  explicit DenseWeights(int64_t p) : width_(p) {}

  // A row as these weights take it. It holds the padded copy.
  struct Reader {
    Reader(const DenseWeights &weights, RowView x) : room(weights.width_.stride()) { weights.pad(x, room.data()); }
    Row row() { return room.data(); }
    Scratch room;
  };
  // The same for the learner, row after row.
  class Holder {
   public:
    explicit Holder(const DenseWeights &weights) : z_(weights.width_.stride(), 0.0) {}
    Row read(const DenseWeights &weights, RowView x) {
      weights.pad(x, z_.data());
      return z_.data();
    }

   private:
    Buffer z_;
  };

  int64_t features() const { return width_.features(); }
  int64_t stride() const { return width_.stride(); }
  double *of(int64_t c) { return values_.data() + c * width_.stride(); }
  const double *of(int64_t c) const { return values_.data() + c * width_.stride(); }
  double &at(int64_t c, int64_t j) { return of(c)[j]; }
  double at(int64_t c, int64_t j) const { return of(c)[j]; }

  double squared_norm(Row z) const { return width_.dot(z, z); }
  double dot(int64_t c, Row z) const { return width_.dot(of(c), z); }
  void add(int64_t c, double by, Row z) { width_.add(of(c), by, z); }
  // w_c += by_c z for all classes.
  void add_all(const double *by, int64_t classes, Row z) {
    for (int64_t c = 0; c < classes; c++)
      if (by[c] != 0) add(c, by[c], z);
  }
  void shrink(double kept) {
    for (double &w : values_) w *= kept;
  }

  void insert_class(int64_t at) { values_.insert_zeros(at * width_.stride(), width_.stride()); }
  void clear() { values_.fill(0); }
  void visit(State &state, const char *name, int64_t classes) {
    state.matrix(name, values_, classes, width_.features(), width_.stride());
  }
  void assign(int64_t classes) { values_.assign(classes * width_.stride(), 0.0); }

 private:
  void pad(const double *x, double *to) const {
    std::copy(x, x + width_.features(), to);
    std::fill(to + width_.features(), to + width_.stride(), 0.0);
  }

  Width<0> width_;
  Buffer values_;
};

class SparseWeights {
 public:
  using Row = const SparseRow &;
  static constexpr bool kSparse = true;

  explicit SparseWeights(int64_t) {}

  struct Reader {
    Reader(const SparseWeights &, RowView x) : sparse(x.sparse()) {}
    Row row() { return sparse; }
    const SparseRow &sparse;
  };
  class Holder {
   public:
    explicit Holder(const SparseWeights &) {}
    Row read(const SparseWeights &, RowView x) { return x.sparse(); }
  };

  int64_t features() const { return slots_; }
  double &at(int64_t c, int64_t slot) { return values_[slot * classes_ + c]; }
  double at(int64_t c, int64_t slot) const { return values_[slot * classes_ + c]; }

  double squared_norm(Row x) const { return x.squared_norm(); }
  double dot(int64_t c, Row x) const {
    double sum = 0;
    for (int64_t i = 0; i < x.count; i++) sum += at(c, x.slots[i]) * x.values[i];
    return sum;
  }
  // w_c'x of all classes.
  void dots(Row x, double *out) const {
    if (classes_ == 2) {
      Pair sum[4] = {}, square[2] = {};  // that do not wait for one another
      int64_t i = 0;
      for (; i + 4 <= x.count; i += 4)
        for (int k = 0; k < 2; k++) {
          const Pair two = load<Pair>(x.values + i + 2 * k);
          sum[2 * k] += load<Pair>(pair(x.slots[i + 2 * k])) * two[0];
          sum[2 * k + 1] += load<Pair>(pair(x.slots[i + 2 * k + 1])) * two[1];
          square[k] += two * two;  // which most learners ask for next
        }
      for (; i < x.count; i++) {
        sum[0] += load<Pair>(pair(x.slots[i])) * x.values[i];
        square[0][0] += x.values[i] * x.values[i];
      }
      store<Pair>(out, (sum[0] + sum[1]) + (sum[2] + sum[3]));
      x.square = thalweg::THALWEG_LEVEL::sum(square[0] + square[1]) + x.unseen_square();
      return;
    }
    std::fill(out, out + classes_, 0.0);
    for (int64_t i = 0; i < x.count; i++) {
      const double *w = values_.data() + x.slots[i] * classes_, value = x.values[i];
      for (int64_t c = 0; c < classes_; c++) out[c] += w[c] * value;
    }
  }
  void add(int64_t c, double by, Row x) {
    for (int64_t i = 0; i < x.count; i++) at(c, x.slots[i]) += by * x.values[i];
  }
  void add_all(const double *by, int64_t, Row x) {
    if (classes_ == 2) {
      const Pair both = load<Pair>(by);
      double *all = values_.data();
      int64_t i = 0;
      for (; i + 4 <= x.count; i += 4) {  // a row has no slot twice
        Pair moved[4];
        for (int k = 0; k < 4; k++) moved[k] = load<Pair>(all + 2 * int64_t(x.slots[i + k])) + both * x.values[i + k];
        for (int k = 0; k < 4; k++) store<Pair>(all + 2 * int64_t(x.slots[i + k]), moved[k]);
      }
      for (; i < x.count; i++)
        store<Pair>(all + 2 * int64_t(x.slots[i]), load<Pair>(all + 2 * int64_t(x.slots[i])) + both * x.values[i]);
      return;
    }
    for (int64_t i = 0; i < x.count; i++) {
      double *w = values_.data() + x.slots[i] * classes_;
      for (int64_t c = 0; c < classes_; c++) w[c] += by[c] * x.values[i];
    }
  }
  void shrink(double kept) {
    for (double &w : values_) w *= kept;
  }

  void insert_class(int64_t at) {
    Buffer wider(slots_ * (classes_ + 1));
    for (int64_t j = 0; j < slots_; j++) {
      std::copy_n(values_.data() + j * classes_, at, wider.data() + j * (classes_ + 1));
      std::copy_n(values_.data() + j * classes_ + at, classes_ - at, wider.data() + j * (classes_ + 1) + at + 1);
    }
    values_ = std::move(wider);
    classes_++;
  }
  // So many features get the next slots.
  void appear(int64_t count) {
    slots_ += count;
    values_.resize(slots_ * classes_);
  }
  void clear() { values_.fill(0); }
  void visit(State &state, const char *name, int64_t) { state.matrix(name, values_, slots_, classes_, classes_); }
  void assign(int64_t classes) {
    classes_ = classes;
    values_.assign(slots_ * classes, 0.0);
  }

 private:
  using Pair = VectorOf<2>::type;
  const double *pair(int64_t slot) const { return values_.data() + 2 * slot; }

  int64_t slots_ = 0, classes_ = 0;
  Buffer values_;
};

}  // namespace thalweg::THALWEG_LEVEL
