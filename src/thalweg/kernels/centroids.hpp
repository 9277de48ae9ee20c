// The rows of one class as at most D weighted centroids, learned in one pass.
//
// A row arrives as a centroid of its own. Once there are more than D, the two that are cheapest to merge become one, at
// Ward's price: the scatter that is lost to sight,
//     w_i w_j / (w_i + w_j) |z_i - z_j|^2.
// So a row joins and moves a centroid where that is cheapest, and else opens one while two others merge. Weight, mean and
// whole scatter of the class are kept exactly: a centroid knows its weight, its mean and the scatter of its own rows.
//
// Each centroid remembers the least price at which it might merge. A merger of the cheapest pair makes no other pair
// cheaper (Ward's price is reducible), so what is remembered of a partner that has changed still bounds from below, and is
// computed afresh only where it would be the least of all: O(D p) a row, with one to three passes over the centroids.
//
// Forgetting divides all weights alike, so prices keep their order; instead, the weight of a new row grows, and is set back
// by a power of two, without rounding, before it is too large.
#pragma once

#include <algorithm>
#include <cmath>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

class Centroids {
 public:
  Centroids(int64_t features, int64_t budget)
      : p(features), budget(budget), room((budget + kLanes) / kLanes * kLanes), position(room * p, 0.0), weight(room, 0.0),
        scatter(room, 0.0), price(room, kNever), partner(room, kUnknown), square(room), row(p) {}

  int64_t count() const { return count_; }
  int64_t capacity() const { return room; }
  double total() const { return total_; }  // of the weights, where a row learned now weighs unit()
  double unit() const { return unit_; }
  double weight_of(int64_t i) const { return weight[i]; }
  double variance_of(int64_t i) const { return scatter[i] / (weight[i] * double(p)); }  // within, of one feature

  // |x - z_i|^2 of all centroids; `out` has the room of whole vectors.
  void squares(const double *x, double *out) const {
    for (int64_t i = 0; i < count_; i += kLanes) {
      const double *z = position.data() + i * p;
      V sum{};
      for (int64_t j = 0; j < p; j++) {
        const V d = x[j] - load<V>(z + j * kLanes);
        sum += d * d;
      }
      store<V>(out + i, sum);
    }
  }

  // The weights of all earlier rows fade by `factor`, as against those to come; true where a centroid may have died.
  bool fade(double factor) {
    unit_ /= std::max(factor, 1e-250);
    if (unit_ < kLargestUnit) return false;
    const double half = std::ldexp(1.0, -std::ilogb(unit_));
    unit_ *= half;
    for (Buffer *values : {&weight, &scatter, &price})
      for (int64_t i = 0; i < count_; i++) (*values)[i] *= half;
    for (int64_t i = count_ - 1; i >= 0; i--)
      if (weight[i] < kLeastWeight) remove(i);
    total_ = 0;
    for (int64_t i = 0; i < count_; i++) total_ += weight[i];
    return true;
  }

  // Learn a row: the places that are new or changed (-1 for none), and its squared distance to what was nearest.
  struct Learned {
    int64_t first, second;
    double nearest;
  };
  Learned add(const double *x) {
    Learned learned{count_, -1, open(x)};
    while (count_ > budget) {
      const int64_t i = cheapest(price.data());
      if (partner[i] == kUnknown) {
        appraise(i);
      } else {
        learned.first = std::min(i, partner[i]), learned.second = std::max(i, partner[i]);
        merge(learned.first, learned.second);
        if (learned.second == count_) learned.second = -1;
      }
    }
    return learned;
  }

  void clear() {
    std::fill(price.begin(), price.end(), kNever);
    count_ = 0, total_ = 0, unit_ = 1;
  }

  static constexpr int64_t kColumns = 4;  // of what is saved beside a centroid: weight, scatter, price, partner
  void save(double *positions, double *table) const {
    for (int64_t i = 0; i < count_; i++) {
      for (int64_t j = 0; j < p; j++) positions[i * p + j] = position[place(i, j)];
      const double all[kColumns] = {weight[i], scatter[i], price[i], double(partner[i])};
      std::copy(all, all + kColumns, table + i * kColumns);
    }
  }
  void load_from(const double *positions, const double *table, int64_t count, double unit, double total) {
    if (!(unit >= 1 && unit < kLargestUnit)) throw BadState("units");
    clear();
    for (int64_t i = 0; i < count; i++) {
      for (int64_t j = 0; j < p; j++) {
        if (!std::isfinite(positions[i * p + j])) throw BadState("centroids");
        position[place(i, j)] = positions[i * p + j];
      }
      const double *all = table + i * kColumns;
      const bool known = all[3] >= 0 && all[3] < double(count) && all[3] != double(i) && all[3] == std::floor(all[3]);
      if (!(all[0] > 0 && all[0] < 1e300 && all[1] >= 0 && all[1] < kNever && all[2] >= 0 && (known || all[3] == kUnknown)))
        throw BadState("centroid_table");
      weight[i] = all[0], scatter[i] = all[1], price[i] = all[2], partner[i] = int64_t(all[3]);
    }
    if (count && !(total > 0 && total < 1e300)) throw BadState("class_weights");
    count_ = count, unit_ = unit, total_ = total;
  }

 private:
  using V = VectorOf<kLanes>::type;
  static constexpr double kNever = __builtin_inf();
  static constexpr int64_t kUnknown = -1;
  static constexpr double kLargestUnit = 0x1p60, kLeastWeight = 0x1p-60;  // a new row weighs 1 to 2 when dead ones are sought

  // Centroids stand in lanes: coordinate j of as many as there are lanes, then coordinate j + 1.
  int64_t place(int64_t i, int64_t j) const { return (i / kLanes * p + j) * kLanes + i % kLanes; }

  // The first of the least; beyond the count, values are kNever.
  int64_t cheapest(const double *values) const {
    return std::find(values, values + count_, least(values)) - values;
  }
  double least(const double *values) const {
    V lanes = broadcast<V>(kNever);
    for (int64_t i = 0; i < count_; i += kLanes) {
      const V here = load<V>(values + i);
      lanes = here < lanes ? here : lanes;
    }
    double lowest = lanes[0];
    for (int lane = 1; lane < kLanes; lane++) lowest = std::min(lowest, lanes[lane]);
    return lowest;
  }

  void measure(const double *x) {
    squares(x, square.data());
    for (int64_t i = count_; i % kLanes; i++) square[i] = kNever;
  }
  // Squared distances become prices, for a centroid of this weight.
  void price_all(double with) {
    for (int64_t i = 0; i < count_; i += kLanes) {
      const V w = load<V>(weight.data() + i);
      store<V>(square.data() + i, w * with / (w + with) * load<V>(square.data() + i));
    }
  }

  double open(const double *x) {
    measure(x);
    const double nearest = least(square.data());
    price_all(unit_);
    for (int64_t i = 0; i < count_; i++)
      if (square[i] < price[i]) price[i] = square[i], partner[i] = count_;
    const int64_t cheap = count_ ? cheapest(square.data()) : kUnknown;
    for (int64_t j = 0; j < p; j++) position[place(count_, j)] = x[j];
    weight[count_] = unit_, scatter[count_] = 0;
    price[count_] = count_ ? square[cheap] : kNever, partner[count_] = cheap;
    count_++;
    total_ += unit_;
    return nearest;
  }

  // The least price of i, and with whom.
  void appraise(int64_t i) {
    for (int64_t j = 0; j < p; j++) row[j] = position[place(i, j)];
    measure(row.data());
    price_all(weight[i]);
    square[i] = kNever;
    partner[i] = cheapest(square.data());
    price[i] = square[partner[i]];
  }

  void merge(int64_t i, int64_t j) {
    const double share = weight[j] / (weight[i] + weight[j]);
    scatter[i] += scatter[j] + (partner[i] == j ? price[i] : price[j]);
    for (int64_t k = 0; k < p; k++) position[place(i, k)] += share * (position[place(j, k)] - position[place(i, k)]);
    weight[i] += weight[j];
    price[i] = std::min(price[i], price[j]);  // a bound; what it is now, is computed when it matters
    for (int64_t k = 0; k < count_; k++)
      if (partner[k] == i) partner[k] = kUnknown;
    partner[i] = kUnknown;
    remove(j);
  }

  // The last one takes the place of i.
  void remove(int64_t i) {
    const int64_t last = --count_;
    for (int64_t k = 0; k < last; k++) {
      if (partner[k] == i) partner[k] = kUnknown;
      if (partner[k] == last) partner[k] = i;
    }
    if (i != last) {
      for (int64_t j = 0; j < p; j++) position[place(i, j)] = position[place(last, j)];
      weight[i] = weight[last], scatter[i] = scatter[last], price[i] = price[last];
      partner[i] = partner[last] == i ? kUnknown : partner[last];
    }
    price[last] = kNever, partner[last] = kUnknown;
  }

  int64_t p, budget, room, count_ = 0;
  double unit_ = 1, total_ = 0;
  Buffer position, weight, scatter, price;
  std::vector<int64_t> partner;
  Buffer square, row;  // working space
};

}  // namespace thalweg::THALWEG_LEVEL
