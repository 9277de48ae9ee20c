// The rows of one class as at most D weighted centroids, learned in one pass.
//
// A row arrives as a centroid of its own. Once there are more than D, the two that are cheapest to merge become one, at
// Ward's price: the scatter that is lost to sight,
//     w_i w_j / (w_i + w_j) |z_i - z_j|^2.
// So a row joins and moves a centroid where that is cheapest, and else opens one while two others merge. Weight, mean and
// whole scatter of the class are kept exactly: a centroid knows its weight, its mean and the scatter of its own rows.
//
// Each centroid remembers its cheapest partner, that price, and a bound from below of its price with anyone else. A merger of
// the cheapest pair makes no other pair cheaper (Ward's price is reducible), so bounds stay bounds; who had merged with
// one of the pair goes with both if that is still below its bound. All prices of a centroid are computed afresh when it was
// merged, and where a mere bound is the lowest of all: O(D p) a row, two passes over the centroids in most rows.
//
// Forgetting divides all weights alike, so prices keep their order; instead, the weight of a new row grows, and is set back
// by a power of two, without rounding, before it is too large.
#pragma once

#include "learner.hpp"
#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

class Centroids {
 public:
  Centroids(int64_t features, int64_t budget) : p(features), budget(budget), row(p) {}

  int64_t count() const { return count_; }
  int64_t capacity() const { return room; }
  double total() const { return total_; }  // of the weights, where a row learned now weighs unit()
  double unit() const { return unit_; }
  double weight_of(int64_t i) const { return weight[i]; }
  double variance_of(int64_t i) const { return scatter[i] / (weight[i] * double(p)); }  // within, of one feature

  // |x - z_i|^2 of all centroids; `out` has the room of whole vectors.
  void squares(const double *x, double *out) const {
    int64_t i = 0;
    for (; i + 3 * kLanes < count_; i += 4 * kLanes) squares_from<4>(i, x, out);
    for (; i < count_; i += kLanes) squares_from<1>(i, x, out);
  }

  // The weights of all earlier rows fade by `factor`, as against those to come; true where a centroid may have died.
  bool fade(double factor) {
    unit_ /= std::max(factor, 1e-250);
    if (unit_ < kLargestUnit) return false;
    const double half = std::ldexp(1.0, -std::ilogb(unit_));
    unit_ *= half;
    for (Buffer *values : {&weight, &scatter, &price, &others})
      for (int64_t i = 0; i < count_; i++) (*values)[i] *= half;
    for (int64_t i = count_ - 1; i >= 0; i--)
      if (weight[i] < kLeastWeight) remove(i);
    total_ = 0;
    for (int64_t i = 0; i < count_; i++) total_ += weight[i];
    return true;
  }

  // Learn a row that counts so many times: the places that are new or changed (-1 for none), and its squared distance to
  // what was nearest, 0 for a row that repeats it.
  struct Learned {
    int64_t first, second;
    double nearest;
  };
  // `known`, unless null, are its squares.
  Learned add(const double *x, double times, const double *known) {
    Learned learned{count_, -1, open(x, times * unit_, known)};
    while (count_ > budget) {
      const int64_t i = place_of(price.data(), least(price.data()).first);
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
    for (Buffer *values : {&price, &others}) std::fill(values->begin(), values->end(), kNever);
    count_ = 0, total_ = 0, unit_ = 1;
  }

  static constexpr int64_t kColumns = 5;  // of what is saved beside a centroid
  void save(double *positions, double *table) const {
    for (int64_t i = 0; i < count_; i++) {
      for (int64_t j = 0; j < p; j++) positions[i * p + j] = position[place(i, j)];
      const double all[kColumns] = {weight[i], scatter[i], price[i], others[i], double(partner[i])};
      std::copy(all, all + kColumns, table + i * kColumns);
    }
  }
  void load_from(const double *positions, const double *table, int64_t count, double unit, double total) {
    if (!(unit >= 1 && unit < kLargestUnit)) throw BadState("units");
    clear();
    make_room(count);
    for (int64_t i = 0; i < count; i++) {
      for (int64_t j = 0; j < p; j++) {
        if (!std::isfinite(positions[i * p + j])) throw BadState("centroids");
        position[place(i, j)] = positions[i * p + j];
      }
      const double *all = table + i * kColumns;
      const double with = all[4];
      const bool known = with >= 0 && with < double(count) && with != double(i) && with == std::floor(with);
      if (!(all[0] > 0 && all[0] < 1e300 && all[1] >= 0 && all[1] < kNever && all[2] >= 0 && all[3] >= 0 &&
            (known || with == kUnknown)))
        throw BadState("centroid_table");
      weight[i] = all[0], scatter[i] = all[1], price[i] = all[2], others[i] = all[3], partner[i] = int64_t(with);
    }
    if (count && !(total > 0 && total < 1e300)) throw BadState("class_weights");
    count_ = count, unit_ = unit, total_ = total;
  }

 private:
  using V = VectorOf<kLanes>::type;
  static constexpr double kNever = __builtin_inf();
  static constexpr int64_t kUnknown = -1;
  static constexpr double kLargestUnit = 0x1p60,
                          kLeastWeight = 0x1p-60;  // a new row weighs 1 to 2 when dead ones are sought

  static constexpr double kRounding = 0x1p-88,
                          kTrace = 0x1p-20;  // of squares: 256 units in the last place, a thousandth

  // Vectors of centroids side by side, so that their sums need not wait for one another.
  template <int Vectors> THALWEG_INLINE void squares_from(int64_t i, const double *x, double *out) const {
    const double *z = position.data() + i * p;
    V sum[Vectors]{};
    for (int64_t j = 0; j < p; j++)
      for (int v = 0; v < Vectors; v++) {
        const V d = x[j] - load<V>(z + (v * p + j) * kLanes);
        sum[v] += d * d;
      }
    for (int v = 0; v < Vectors; v++) store<V>(out + i + v * kLanes, sum[v]);
  }

  // Memory follows the centroids there are: a class that was only announced has none.
  void make_room(int64_t centroids) {
    if (centroids <= room) return;
    room = std::max(centroids, std::min(2 * room, budget + 1)) + kLanes - 1;
    room -= room % kLanes;
    position.resize(room * p, 0.0);
    partner.resize(room, kUnknown);
    for (Buffer *values : {&scatter, &square}) values->resize(room, 0.0);
    never.resize(room, kNever);
    weight.resize(room, 1.0);  // without a centroid, too, where a price is weight times kNever
    for (Buffer *values : {&price, &others}) values->resize(room, kNever);
  }

  // Centroids stand in lanes: coordinate j of as many as there are lanes, then coordinate j + 1.
  int64_t place(int64_t i, int64_t j) const { return (i / kLanes * p + j) * kLanes + i % kLanes; }

  // Where a value that is there comes first.
  int64_t place_of(const double *values, double value) const {
    for (int64_t i = 0;; i += kLanes)
      if (const int lane = first_set(load<V>(values + i) == value); lane < kLanes) return i + lane;
  }
  // The two least; beyond the count, values are kNever.
  struct Least {
    double first, second;
  };
  Least least(const double *values) const {
    V low = broadcast<V>(kNever), next = low;
    for (int64_t i = 0; i < count_; i += kLanes) join(low, next, load<V>(values + i), broadcast<V>(kNever));
    if constexpr (kLanes > 4) join(low, next, shift<4>(low, low), shift<4>(next, next));
    if constexpr (kLanes > 2) join(low, next, shift<2>(low, low), shift<2>(next, next));
    join(low, next, shift<1>(low, low), shift<1>(next, next));
    return {low[0], next[0]};
  }
  static THALWEG_INLINE void join(V &low, V &next, V other_low, V other_next) {
    next = smaller(smaller(next, other_next), greater(low, other_low));
    low = smaller(low, other_low);
  }

  void measure(const double *x, const double *known = nullptr) {
    if (known) std::copy_n(known, count_, square.data());
    else squares(x, square.data());
    for (int64_t i = count_; i % kLanes; i++) square[i] = kNever;
  }
  // Squared distances become prices, for a centroid of this weight.
  void price_all(double with) {
    for (int64_t i = 0; i < count_; i += kLanes) {
      const V w = load<V>(weight.data() + i);
      store<V>(square.data() + i, w * with / (w + with) * load<V>(square.data() + i));
    }
  }
  // Partners change, a vector at a time: what becomes of those from k on. What is beyond the count does not matter.
  template <class Change> THALWEG_INLINE void change_partners(Change change) {
    for (int64_t k = 0; k < count_; k += kLanes) {
      Integers with;
      std::memcpy(&with, partner.data() + k, sizeof with);
      with = change(k, with);
      std::memcpy(partner.data() + k, &with, sizeof with);
    }
  }
  void rename(int64_t i, int64_t now) {
    change_partners([&](int64_t, Integers with) THALWEG_LAMBDA { return with == i ? now - Integers{} : with; });
  }

  // Squared distances being known: the centroid of rows equal to x is beside x by rounding and by traces of faded rows that
  // were merged into it. So a row repeats where that is all there is, by its own size or by how far off the next one is.
  bool repeats(const double *x, const Least &nearest) const {
    double size = 0;
    for (int64_t j = 0; j < p; j++) size += x[j] * x[j];
    return nearest.first <= kRounding * size || (nearest.second < kNever && nearest.first <= kTrace * nearest.second);
  }

  double open(const double *x, double heavy, const double *known) {
    make_room(count_ + 1);
    measure(x, known);
    const Least found = least(square.data());
    const double nearest = repeats(x, found) ? 0 : found.first;
    price_all(heavy);
    change_partners([&](int64_t k, Integers with) THALWEG_LAMBDA {
      const V now = load<V>(square.data() + k), old = load<V>(price.data() + k);
      store<V>(others.data() + k, smaller(load<V>(others.data() + k), greater(now, old)));
      store<V>(price.data() + k, smaller(now, old));
      return now < old ? count_ - Integers{} : with;
    });
    for (int64_t j = 0; j < p; j++) position[place(count_, j)] = x[j];
    weight[count_] = heavy, scatter[count_] = 0;
    choose(count_);
    count_++;
    total_ += heavy;
    return nearest;
  }

  // All prices of i.
  void appraise(int64_t i) {
    for (int64_t j = 0; j < p; j++) row[j] = position[place(i, j)];
    measure(row.data());
    price_all(weight[i]);
    square[i] = kNever;
    choose(i);
  }
  // Prices being known: the partner of i, and the least price with anyone else.
  void choose(int64_t i) {
    const auto [lowest, next] = least(square.data());
    price[i] = lowest, others[i] = next;
    partner[i] = lowest == kNever ? kUnknown : place_of(square.data(), lowest);
  }

  void merge(int64_t i, int64_t j) {
    const double share = weight[j] / (weight[i] + weight[j]);
    scatter[i] += scatter[j] + (partner[i] == j ? price[i] : price[j]);
    for (int64_t k = 0; k < p; k++) position[place(i, k)] += share * (position[place(j, k)] - position[place(i, k)]);
    weight[i] += weight[j];
    rename(j, i);
    remove(j);
    appraise(i);
    part_from(i, square);
  }
  // Those who had i for a partner keep it at a price within the bound for all others. Without a partner, that bound is one
  // for all.
  void part_from(int64_t i, const Buffer &prices) {
    change_partners([&](int64_t k, Integers with) THALWEG_LAMBDA {
      const V now = load<V>(prices.data() + k), bound = load<V>(others.data() + k);
      store<V>(price.data() + k, with == i ? smaller(now, bound) : load<V>(price.data() + k));
      return (with == i) & ((now > bound) | (now == kNever)) ? kUnknown - Integers{} : with;
    });
  }

  // The last one takes the place of i.
  void remove(int64_t i) {
    const int64_t last = --count_;
    part_from(i, never);
    rename(last, i);
    if (i != last) {
      if (partner[last] == i) price[last] = others[last], partner[last] = kUnknown;
      for (int64_t j = 0; j < p; j++) position[place(i, j)] = position[place(last, j)];
      weight[i] = weight[last], scatter[i] = scatter[last];
      price[i] = price[last], others[i] = others[last], partner[i] = partner[last];
    }
    price[last] = others[last] = kNever, partner[last] = kUnknown;
  }

  int64_t p, budget, room = 0, count_ = 0;
  double unit_ = 1, total_ = 0;
  Buffer position, weight, scatter, price, others;
  std::vector<int64_t> partner;
  Buffer square, row;  // working space
  Buffer never;        // kNever throughout
};

}  // namespace thalweg::THALWEG_LEVEL
