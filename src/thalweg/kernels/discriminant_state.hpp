// What a discriminant keeps between rows, for one model or for several side by side.
#pragma once

#include "discriminant_move.hpp"

namespace thalweg::THALWEG_LEVEL {

// S: what models of one rate and age have in common, such as the weight of all rows; a number for each where they differ.
template <class N = double, class S = double> struct DiscriminantState {
  static constexpr int kCount = Of<N>::kCount;
  static constexpr double kGreatShrink = 1e-4;  // a row that shrinks P more than this spoils w: compute it afresh

  DiscriminantState(int64_t stride, const DiscriminantOptions &options)
      : options(options), stride_(stride), origin(stride), variance(stride), z_(stride), e_(stride), u_(stride) {}

  int64_t stride() const { return stride_; }

  THALWEG_APART void insert_class(int64_t at) {
    for (Buffer *values : {&counts, &log_prior, &half_square}) values->insert_zeros(at * kCount, kCount);
    for (Buffer *values : {&M, &weights}) values->insert_zeros(at * stride(), stride());
    std::fill_n(log_prior.begin() + at * kCount, kCount, -__builtin_inf());
    score_.resize(counts.size());
    known++;
  }

  DiscriminantOptions options;
  int64_t stride_, known = 0;             // numbers to a vector of features; classes
  Buffer counts, log_prior, half_square;  // per class
  Buffer M, weights;                      // class x feature: m_c and w_c = P m_c
  Buffer origin, variance;                // per feature
  Buffer z_, e_, u_, score_;              // the row at hand
  Index<N> last = -1, since_refresh = 0;
  S total = 0.0;                   // weight of all rows
  N last_gain_ = 0.0;              // by which the last row moved its class's mean
  N log_count = 0.0;               // of the last row's class, whose prior is tilted
  S fade_ = 1.0, log_fade_ = 0.0;  // of the last row
};

// The same for two classes and few features in the object itself, so that the compiler knows every place.
template <int P, class N = double, class S = double> struct TwoClassState {
  static constexpr int kCount = Of<N>::kCount;
  static constexpr int64_t known = 2;
  static constexpr double kGreatShrink = DiscriminantState<>::kGreatShrink;

  TwoClassState(int64_t, const DiscriminantOptions &options) : options(options) {}
  void insert_class(int64_t) {}  // they are there

  DiscriminantOptions options;
  Fixed<2 * kCount> counts, log_prior, half_square;
  Fixed<2 * P * kCount> M, weights;
  Fixed<P * kCount> origin, variance;
  Buffer e_, u_;  // not used
  Index<N> last, since_refresh;
  S total;
  N last_gain_, log_count;
  S fade_ = 1.0, log_fade_ = 0.0;
};

}  // namespace thalweg::THALWEG_LEVEL
