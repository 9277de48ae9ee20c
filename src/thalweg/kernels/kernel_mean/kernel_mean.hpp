// The kernel mean machine with a budget (Bounsiar, Beauseroy & Grall, eq. (5)), for streams: the score of class c is
//     ln(w_c p_c(x) + b_c),      p_c(x) = the mean over the class's rows of exp(-sigma |x - x_i|^2),
// and the rows are centroids (centroids.hpp). The rows behind one are taken for a Gaussian of its own variance v, over which
// the kernel's mean is (1 + 2 sigma v)^(-p/2) exp(-sigma |x - z|^2 / (1 + 2 sigma v)).
//
// Where no sigma is given, a bank of them, an octave apart, goes along and is mixed by discounted mistakes.
#pragma once

#include <numeric>

#include "foreseen.hpp"
#include "kernel_mean/centroids.hpp"
#include "kernel_mean/octaves.hpp"
#include "linear_algebra/lanes.hpp"

namespace thalweg::THALWEG_LEVEL {

struct KernelMeanOptions {
  int64_t budget = 128;
  double forgetting = 0;
  double sigma = 0;  // 0: a bank of octaves
  // One number for each class, or a single one for the last class seen: its odds rho : 1 - rho against each other class,
  // and its bias. None: classes weigh as they are frequent, without bias.
  std::vector<double> rho, bias;
};

// T is what the terms of a sum over centroids are computed in: floats, of which a vector holds twice as many, do where only
// the posteriors of a member are wanted.
template <class T> class KernelMean final : public Learner {
 public:
  KernelMean(int64_t p, KernelMeanOptions options)
      : Learner(p), options(options), log_kept(std::log1p(-options.forgetting)), bank(options.sigma) {
    count_members();
  }
  Learner *copy() const override { return new KernelMean(*this); }

  double rate() const override { return options.forgetting; }
  void shares(double *out) const override { bank.shares(out); }

  void scores(RowView x, double *out) const override {
    Scratch room((kMost + 1) * classes());
    opinions(x, room.data(), room.data() + kMost * classes());
    mix(room.data(), out);
  }
  void posteriors(RowView x, double *out) const override {
    Scratch room((kMost + 1) * classes());
    opinions(x, room.data(), room.data() + kMost * classes());
    mix_posteriors(room.data(), out);
  }
  void foresee(RowView x, double *out) override {
    Scratch room((kMost + 1) * classes());
    ahead.resize(kMost * classes());
    opinions(x, ahead.data(), room.data());
    std::copy(ahead.begin(), ahead.end(), room.data());
    mix_posteriors(room.data(), out);
    foreseen.remember(x, features());
  }

  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    Scratch room((kMost + 2) * classes()), distances(team[k].rows.capacity());
    double *opinion = room.data(), *mixed = opinion + kMost * classes(), wrong[kMost];
    if (foreseen.take(x)) {
      std::copy(ahead.begin(), ahead.end(), opinion);
      team[k].rows.squares(x, distances.data());
    } else {
      opinions(x, opinion, mixed + classes(), k, distances.data());
    }
    find_mistakes(opinion, k, wrong);
    if (wanted.kind == Wanted::kPosteriors) {
      mix_posteriors(opinion, wanted.out);
    } else {
      mix(opinion, mixed);
      show_scores(mixed, wanted);
    }
    const int64_t given = wanted.kind == Wanted::kPosteriors ? -1 : highest(mixed, classes());
    if (bank.size() > 1 && last_seen() >= 0)
      for (int64_t s = 0; s < bank.size(); s++) bank.charge(s, weight * wrong[s]);
    learn(x, k, weight, seen(k) ? distances.data() : nullptr);
    return given;
  }

  // What was tuned, with one weight and one bias for each class, stays; `begin` and all that follows go by it.
  void settle(double sigma, const double *weights, const double *biases) {
    foreseen.forget();
    bank = Octaves(sigma);
    count_members();
    for (int64_t c = 0; c < classes(); c++) team[c].weight = weights[c], team[c].bias = biases[c];
    rebuild();
  }

  void forget() override {
    foreseen.forget();
    for (Member &member : team) member.rows.clear(), member.last = 0;
    bank.clear();
    rebuild();
    learned = 0;
  }
  void begin(const double *X, const int64_t *y, const double *weights, int64_t rows) override {
    forget();
    run(X, y, weights, rows, {});
  }

  // A single sigma learns nothing from its answers, so where nobody wants them they are not given.
  void run(const double *X, const int64_t *y, const double *weights, int64_t rows, const Outputs &out) override {
    const DenseAccess all{X, rows, features()};
    if (bank.size() > 1 || out.answers || out.scores || out.rates || out.shares || weights)
      return run_as(*this, all, y, weights, out);
    for (int64_t i = 0; i < rows; i++) learn(all.to_learn(i), y[i], 1, nullptr);
  }

  void visit(State &state) override;

 protected:
  void insert(int64_t at) override {
    foreseen.forget();
    team.emplace(team.begin() + at, features(), options.budget);
  }

 private:
  using V = typename Entries<T>::V;
  using D = VectorOf<kLanes>::type;
  static constexpr int L = Entries<T>::L;
  static constexpr int64_t kMost = Octaves::kMost;
  static constexpr double kNever = -__builtin_inf();
  static constexpr double kNothing = -1e30;                       // of a place without a centroid, which adds nothing
  static constexpr double kForgotten = -60 * 0.6931471805599453;  // ln 2^-60

  // A class: its rows, and for each centroid and sigma the slope and the height of the logarithm of its term.
  struct Member {
    Member(int64_t p, int64_t budget) : rows(p, budget) {}
    Centroids rows;
    BufferOf<T> slope, height;
    double weight = -1, bias = 0;  // as settled; -1: not so
    int64_t last = 0;              // the row of the stream that was its last
  };

  // Terms of floats are powers of two: their exponential needs one rounding less.
  static constexpr bool kPowersOfTwo = std::is_same_v<T, float>;
  static constexpr double kUnit = kPowersOfTwo ? 1.4426950408889634 : 1;

  void count_members() { traits_.members = bank.size() > 1 ? bank.size() : 0; }
  bool is_bank() const { return bank.size() > 1; }
  // In floats, of which a vector holds as many, the sigmas of a bank lie side by side, else the centroids.
  bool by_sigma() const { return kPowersOfTwo && is_bank(); }
  static int64_t room_of(const Member &member) { return (member.rows.capacity() + L - 1) / L * L; }
  void describe(Member &member, int64_t i) {
    const double half_p = 0.5 * double(features()), log_weight = log_of(member.rows.weight_of(i));
    const double variance = member.rows.variance_of(i);
    const int64_t from = by_sigma() ? i * kMost : i, step = by_sigma() ? 1 : room_of(member);
    T *slope = member.slope.data() + from, *height = member.height.data() + from;
    double widening[kMost];
    for (int64_t s = 0; s < bank.size(); s++) {
      widening[s] = 1 + 2 * bank.sigma(s) * variance;  // ours
      slope[s * step] = T(-bank.sigma(s) / widening[s] * kUnit);
    }
    logarithms(widening, bank.size());
    for (int64_t s = 0; s < bank.size(); s++) height[s * step] = T((log_weight - half_p * widening[s]) * kUnit);
  }
  void describe_all(Member &member) {
    member.slope.assign((is_bank() ? kMost : 1) * room_of(member), T(0));
    member.height.assign(member.slope.size(), T(kNothing));
    for (int64_t i = 0; i < member.rows.count(); i++) describe(member, i);
  }
  void rebuild() {
    for (Member &member : team) describe_all(member);
  }

  // `known`, unless null: the squared distances of x to the centroids of its class.
  void learn(const double *x, int64_t k, double weight, const double *known) {
    Member &member = team[k];
    learned++;
    if (options.forgetting > 0 && member.rows.count()) {
      const double factor = std::exp(double(learned - member.last) * log_kept);
      if (member.rows.fade(factor)) describe_all(member), known = nullptr;
    }
    member.last = learned;
    const int64_t room = member.rows.capacity();
    const auto [first, second, nearest] = member.rows.add(x, weight, known);
    if (member.rows.capacity() != room) describe_all(member);
    describe(member, first);
    if (second >= 0) describe(member, second);
    if (bank.observe(nearest)) rebuild();
  }

  static double log_of(double a) { return kPowersOfTwo ? logarithm(a) : std::log(a); }
  static void logarithms(double *values, int64_t count) {
    if constexpr (kPowersOfTwo) {
      for (int64_t i = 0; i < count; i += kLanes) store<D>(values + i, logarithm_of(load<D>(values + i)));
    } else {
      for (int64_t i = 0; i < count; i++) values[i] = std::log(values[i]);
    }
  }
  static THALWEG_INLINE V term_of(V logarithm) {
    if constexpr (kPowersOfTwo) return power_of_two(logarithm);
    else return exponential_of(logarithm);
  }
  // In each lane the highest logarithm of so many terms, and the sum of the terms relative to it; four terms at a time,
  // so that none waits for another.
  template <class At> static THALWEG_INLINE std::pair<V, V> sum_of_terms(int64_t count, At at) {
    V tops[4], sums[4]{};
    for (V &top : tops) top = broadcast<V>(T(kNever));
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
      for (int v = 0; v < 4; v++) tops[v] = greater(at(i + v), tops[v]);
    for (; i < count; i++) tops[0] = greater(at(i), tops[0]);
    const V top = greater(greater(tops[0], tops[1]), greater(tops[2], tops[3]));
    for (i = 0; i + 4 <= count; i += 4)
      for (int v = 0; v < 4; v++) sums[v] += term_of(at(i + v) - top);
    for (; i < count; i++) sums[0] += term_of(at(i) - top);
    return {top, (sums[0] + sums[1]) + (sums[2] + sums[3])};
  }
  // ln p_c(x) at each sigma, by squared distances; every sum is at least 1 times its greatest term, so nothing underflows.
  __attribute__((noinline)) void log_densities(const Member &member, const double *exact, double *out) const {
    const int64_t count = member.rows.count();
    const T *slope = member.slope.data(), *height = member.height.data();
    const double log_total = log_of(member.rows.total());
    T tops[kMost]{}, sums[kMost]{};
    double whole[kMost];
    Scratch scratch(room_of(member));
    T *square = reinterpret_cast<T *>(scratch.data());
    for (int64_t i = 0; i < room_of(member); i++) square[i] = i < count ? T(exact[i]) : T(0);
    for (int64_t s = 0; s < bank.size(); s += by_sigma() ? L : 1) {
      if (by_sigma()) {
        const auto [top, sum] = sum_of_terms(count, [&](int64_t i) THALWEG_LAMBDA {
          return load<V>(height + i * kMost + s) + load<V>(slope + i * kMost + s) * square[i];
        });
        store<V>(tops + s, top), store<V>(sums + s, sum);
      } else {
        const int64_t from = s * room_of(member);
        const auto [top, sum] = sum_of_terms((count + L - 1) / L, [&](int64_t i) THALWEG_LAMBDA {
          return load<V>(height + from + i * L) + load<V>(slope + from + i * L) * load<V>(square + i * L);
        });
        tops[s] = greatest_lane(top);
        sums[s] = T(THALWEG_LEVEL::sum(folded(sum * term_of(top - tops[s]))));
      }
    }
    for (int64_t s = 0; s < kMost; s++) whole[s] = double(sums[s]);
    logarithms(whole, bank.size());
    for (int64_t s = 0; s < kMost; s++) out[s] = double(tops[s]) / kUnit + whole[s] - log_total;
  }

  // The score of every class (row) at every sigma (column); minus infinity for a class never seen. `distances`, unless null,
  // get the squares to the centroids of class k.
  void opinions(const double *x, double *out, double *log_weights, int64_t k = -1, double *distances = nullptr) const {
    weigh(log_weights);
    const int64_t last = last_seen();
    double least = __builtin_inf();
    for (int64_t c = 0; c < classes(); c++)
      if (seen(c)) least = std::min(least, bias_of(c, last));
    for (int64_t c = 0; c < classes(); c++) {
      double *score = out + c * kMost;
      std::fill_n(score, kMost, kNever);
      if (!seen(c)) continue;
      Scratch room(c == k ? 0 : team[c].rows.capacity());
      double *square = c == k ? distances : room.data();
      team[c].rows.squares(x, square);
      log_densities(team[c], square, score);
      for (int64_t s = 0; s < kMost; s++) score[s] += log_weights[c];
      const double above = bias_of(c, last) - least;  // only differences of biases matter
      for (int64_t s = 0; above > 0 && s < bank.size(); s++)
        score[s] = sum_of_logs(score[s], std::log(above));  // eq. (5)
    }
    for (int64_t c = 0; c < classes(); c++)
      if (seen(c) && forgotten(c, log_weights)) silence(c, log_weights, out);
  }
  // A class forgotten altogether is not answered, however far the others are: it comes after the least of them.
  void silence(int64_t which, const double *log_weights, double *score) const {
    for (int64_t s = 0; s < bank.size(); s++) {
      double least = __builtin_inf(), &own = score[which * kMost + s];
      for (int64_t c = 0; c < classes(); c++)
        if (seen(c) && !forgotten(c, log_weights)) least = std::min(least, score[c * kMost + s]);
      own = std::min(own, least + log_weights[which]);
    }
  }
  // At which sigmas class k is not the first of the highest score.
  void find_mistakes(const double *opinion, int64_t k, double *wrong) const {
    const double *own = opinion + k * kMost;
    for (int64_t s = 0; s < kMost; s++) wrong[s] = !(own[s] > kNever);
    for (int64_t c = 0; c < classes(); c++) {
      const double *other = opinion + c * kMost;
      if (c < k)
        for (int64_t s = 0; s < kMost; s++) wrong[s] = own[s] > other[s] ? wrong[s] : 1;
      else
        for (int64_t s = 0; s < kMost; s++) wrong[s] = own[s] >= other[s] ? wrong[s] : 1;
    }
  }
  bool forgotten(int64_t c, const double *log_weights) const {
    return options.rho.empty() && team[c].weight < 0 && log_weights[c] < kForgotten;
  }
  static double sum_of_logs(double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b))); }

  // The posteriors of all sigmas mixed; those of a single sigma are its own.
  void mix_posteriors(double *opinion, double *out) const {
    if (!is_bank() || last_seen() < 0) {
      mix(opinion, out);
      return normalise(out);
    }
    mix_sigmas(opinion);
    double whole = 0;
    for (int64_t c = 0; c < classes(); c++) {
      const double *all = opinion + c * kMost;
      whole += out[c] = std::accumulate(all, all + bank.size(), 0.0);
    }
    for (int64_t c = 0; c < classes(); c++) out[c] /= whole;
  }
  // The same as scores; a single sigma's scores are its own.
  void mix(double *opinion, double *out) const {
    if (is_bank()) mix_sigmas(opinion);
    for (int64_t c = 0; c < classes(); c++) {
      const double *all = opinion + c * kMost;
      out[c] = !is_bank() ? all[0]
               : seen(c)  ? log_of(std::max(std::accumulate(all, all + bank.size(), 0.0), 1e-300))
                          : kNever;
    }
  }
  // Scores of all sigmas become posteriors, each times its sigma's share.
  void mix_sigmas(double *opinion) const {
    const int64_t n = classes();
    double share[kMost]{};
    bank.shares(share);
    for (int64_t s = 0; s < bank.size(); s += kLanes) {
      D top = broadcast<D>(kNever), whole{};
      for (int64_t c = 0; c < n; c++) top = greater(load<D>(opinion + c * kMost + s), top);
      for (int64_t c = 0; c < n; c++) {
        double *at = opinion + c * kMost + s;
        const D odds = seen(c) ? exponential_of(load<D>(at) - top) : D{};
        store<D>(at, odds);
        whole += odds;
      }
      const D part = load<D>(share + s) / whole;
      for (int64_t c = 0; c < n; c++) store<D>(opinion + c * kMost + s, load<D>(opinion + c * kMost + s) * part);
    }
  }

  bool seen(int64_t c) const { return team[c].rows.count() > 0; }
  int64_t last_seen() const {
    int64_t c = classes() - 1;
    while (c >= 0 && !seen(c)) c--;
    return c;
  }
  double bias_of(int64_t c, int64_t last) const {
    if (team[c].weight >= 0 || options.bias.empty()) return team[c].bias;
    return options.bias.size() > 1 ? options.bias[c] : c == last ? options.bias[0] : 0;
  }
  double log_frequency(const Member &member) const {
    return log_of(member.rows.total() / member.rows.unit()) + double(learned - member.last) * log_kept;
  }

  // ln w_c, where the w_c of the classes seen add up to one.
  void weigh(double *out) const {
    const int64_t last = last_seen();
    double settled = 0, top = kNever, whole = 0;
    int64_t known = 0, present = 0;
    for (int64_t c = 0; c < classes(); c++) {
      present += seen(c);
      if (seen(c) && team[c].weight >= 0) settled += team[c].weight, known++;
    }
    for (int64_t c = 0; c < classes(); c++) {
      const Member &member = team[c];
      if (!seen(c)) out[c] = kNever;
      else if (present == 1) out[c] = 0;
      else if (known) out[c] = std::log(member.weight >= 0 ? member.weight : settled / double(known));
      else if (options.rho.empty()) out[c] = log_frequency(member);
      else if (options.rho.size() > 1) out[c] = std::log(options.rho[c]);
      else out[c] = std::log(c == last ? options.rho[0] : 1 - options.rho[0]);
      top = std::max(top, out[c]);
    }
    for (int64_t c = 0; c < classes(); c++) whole += out[c] == kNever ? 0 : std::exp(out[c] - top);
    const double log_whole = top + std::log(whole);
    for (int64_t c = 0; c < classes(); c++)
      if (out[c] != kNever) out[c] -= log_whole;
  }

  // The parameters now in force, for whoever looks; they follow from the rest.
  void show(State &state) {
    const int64_t n = classes(), last = last_seen();
    Buffer share(bank.size()), weights(n), biases(n);
    bank.shares(share.data());
    double sigma = bank.sigma(std::max_element(share.begin(), share.end()) - share.begin());
    weigh(weights.data());
    for (int64_t c = 0; c < n; c++) weights[c] = std::exp(weights[c]), biases[c] = seen(c) ? bias_of(c, last) : 0;
    state.unbounded([&] {
      state.real("sigma", sigma);
      state.matrix("weights", weights, 1, n, n);
      state.matrix("biases", biases, 1, n, n);
    });
  }

  KernelMeanOptions options;
  double log_kept;  // ln of what a row leaves of the weight of those before it
  Octaves bank;
  std::vector<Member> team;
  int64_t learned = 0;
  Foreseen foreseen;
  Buffer ahead;  // its opinions
};

template <class T> void KernelMean<T>::visit(State &state) {
  foreseen.forget();
  visit_classes(state);
  const int64_t n = classes(), p = features();
  state.integer("rows", learned);
  bank.visit(state);
  count_members();
  std::vector<int64_t> counts(n), lasts(n);
  Buffer units(n), totals(n), weights(n), biases(n);
  int64_t all = 0;
  for (int64_t c = 0; c < n; c++) {
    counts[c] = team[c].rows.count(), lasts[c] = team[c].last;
    units[c] = team[c].rows.unit(), totals[c] = team[c].rows.total();
    weights[c] = team[c].weight, biases[c] = team[c].bias;
  }
  state.integers("counts", counts, n);
  state.integers("last_rows", lasts, n);
  state.matrix("units", units, 1, n, n);
  state.matrix("class_weights", totals, 1, n, n);
  state.matrix("settled_weights", weights, 1, n, n);
  state.matrix("settled_biases", biases, 1, n, n);
  for (int64_t c = 0; c < n; c++) {
    if (counts[c] < 0 || counts[c] > options.budget) throw BadState("counts");
    if (lasts[c] < 0 || lasts[c] > learned) throw BadState("last_rows");
    if (!((weights[c] >= 0 && weights[c] < 1e300) || weights[c] == -1)) throw BadState("settled_weights");
    if (!std::isfinite(biases[c])) throw BadState("settled_biases");
    all += counts[c];
  }
  Buffer positions(all * p), table(all * Centroids::kColumns);
  for (int64_t c = 0, at = 0; c < n && team[c].rows.count() == counts[c]; at += counts[c++])
    team[c].rows.save(positions.data() + at * p, table.data() + at * Centroids::kColumns);
  state.matrix("centroids", positions, all, p, p);
  state.unbounded([&] { state.matrix("centroid_table", table, all, Centroids::kColumns, Centroids::kColumns); });
  for (int64_t c = 0, at = 0; c < n; at += counts[c++]) {
    team[c].rows.load_from(positions.data() + at * p, table.data() + at * Centroids::kColumns, counts[c], units[c],
                           totals[c]);
    team[c].last = lasts[c], team[c].weight = weights[c], team[c].bias = biases[c];
  }
  rebuild();
  show(state);
}

}  // namespace thalweg::THALWEG_LEVEL
