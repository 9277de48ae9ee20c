#include "linear_algebra/triangle.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace {

// D and, in place of S, the entries L[i, j] = U[j, i], i > j, of P = S^-1, for a covariance given as its strictly upper
// rows and its diagonal; false, and D as it was, where S is singular. S = C E C' with C unit upper triangular from the
// last coordinate backwards; L' = C^-1, D = E^-1.
bool invert_covariance(int64_t p, int64_t stride, double *S, const double *diagonal, double *D) {
  Scratch room(p);
  double *E = room.data();
  std::copy(diagonal, diagonal + p, E);
  for (int64_t i = p - 1; i >= 0; i--) {
    if (!(E[i] > kSingular * diagonal[i]) || !(E[i] > kLeastVariance)) return false;
    for (int64_t j = 0; j < i; j++) {
      const double c = S[j * stride + i] / E[i];
      E[j] -= c * S[j * stride + i];
      for (int64_t k = j + 1; k < i; k++) S[j * stride + k] -= c * S[k * stride + i];
    }
    for (int64_t j = 0; j < i; j++) S[j * stride + i] /= E[i];
  }
  for (int64_t j = p - 1; j >= 0; j--) {  // row j of C^-1, from the rows below it, in the place of C
    D[j] = 1 / E[j];
    for (int64_t k = p - 1; k > j; k--) {
      const double c = S[j * stride + k];
      S[j * stride + k] = -c;
      for (int64_t i = k + 1; i < p; i++) S[j * stride + i] -= c * S[k * stride + i];
    }
  }
  return true;
}

}  // namespace

void Triangle::identity() {
  set_rows(Buffer(p).data(), 0);
  for (int64_t i = 0; i < p * models; i++) D[i] = in_units() ? std::min(1 / measured(i, 1), most) : 1;
}

void Triangle::measure(int64_t j, double variance) {
  if (in_units()) per_unit[j] = variance > 0 ? std::exp2(-std::round(0.5 * std::log2(variance))) : 1;
}

bool Triangle::cap(const Buffer &variance, bool wanted) {
  bool changed = false;
  for (int64_t j = 0; wanted && j < p; j++)
    changed |= in_units() ? cap_entry<float>(measured(j, variance[j]), D[j]) : cap_entry<double>(variance[j], D[j]);
  return changed;
}

void Triangle::hold_above(const Buffer &variance, double share) {
  for (int64_t j = 0; j < p; j++) D[j] = std::min(D[j], 1 / (share * std::max(variance[j], kLeastVariance)));
}

bool Triangle::invert(double *S, int64_t stride, const double *diagonal) {
  if (!invert_covariance(p, stride, S, diagonal, D.data())) return false;
  set_rows(S, stride);
  for (int64_t j = 0; in_units() && j < p; j++) D[j] /= measured(j, 1);
  return true;
}

void Triangle::apply_rows(const double *rows, int64_t stride, const double *m, double *w) const {
  std::fill_n(w, p, 0.0);
  for (int64_t j = 0; j < p; j++) {
    double f = m[j];
    for (int64_t i = j + 1; i < p; i++) f += rows[j * stride + i] * m[i];
    const double g = f * D[j] * measured(j, 1);
    w[j] += g;
    for (int64_t i = j + 1; i < p; i++) w[i] += g * rows[j * stride + i];
  }
}

void Triangle::adopt(const double *precision) {
  Buffer rows(p * p);
  for (int64_t j = 0; j < p; j++) {
    double d = precision[j * p + j];
    for (int64_t k = 0; k < j; k++) d -= rows[k * p + j] * rows[k * p + j] * D[k];
    if (!(d > 0)) return identity();
    D[j] = d;
    for (int64_t i = j + 1; i < p; i++) {
      double l = precision[i * p + j];
      for (int64_t k = 0; k < j; k++) l -= rows[k * p + i] * rows[k * p + j] * D[k];
      rows[j * p + i] = l / d;
    }
  }
  set_rows(rows.data(), p);
}

template <class T> template <class Act> void TriangleOf<T>::each_run(Act act) {
  T *at = U.data();
  if (lanes == 0) {
    for (int64_t j = 0; j + 1 < p; at += p - ++j) act(at, j, j + 1, p - j - 1);
    return;
  }
  for (int64_t from = 0, left = blocks; from < p; from += lanes, left--) {
    for (int64_t j = from; j < std::min(from + lanes, p); j++) {
      T *row = at + (j - from) * lanes;
      for (int64_t c = from; c < p; c += lanes, row += lanes * lanes) {
        const int64_t i = std::max(c, j + 1), end = std::min(c + lanes, p);
        if (i < end) act(row + (i - c), j, i, end - i);
      }
    }
    at += left * lanes * lanes;
  }
}

template <class T> void TriangleOf<T>::visit(State &state) {
  if constexpr (std::is_same_v<T, double>)
    if (state.trusted()) {
      each_run([&](T *run, int64_t, int64_t, int64_t count) { state.words(run, count); });
      return state.words(D.data(), p);
    }
  BufferOf<T> rows(p * p);
  each_run([&](T *run, int64_t j, int64_t i, int64_t count) { std::copy_n(run, count, &rows[j * p + i]); });
  state.matrix("factor_rows", rows, p, p, p, true);
  state.matrix("factor_diagonal", D, 1, p, int64_t(D.size()));
  if (!std::all_of(D.begin(), D.begin() + p, positive)) throw BadState("factor_diagonal");
  for (int64_t j = 0; j < p; j++)
    for (int64_t i = 0; i <= j; i++)
      if (rows[j * p + i] != 0) throw BadState("factor_rows");
  if (this->in_units()) state.matrix("factor_units", per_unit, 1, p, int64_t(per_unit.size()), positive);
  each_run([&](T *run, int64_t j, int64_t i, int64_t count) { std::copy_n(&rows[j * p + i], count, run); });
}

template <class T> void TriangleOf<T>::set_rows(const double *rows, int64_t stride) {
  each_run([&](T *run, int64_t j, int64_t i, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
      const double row = rows[j * stride + i + k];
      run[k] = in_units() ? T(row * per_unit[j] / per_unit[i + k]) : T(row);
    }
  });
}

template class TriangleOf<double>;
template class TriangleOf<float>;

}  // namespace thalweg::THALWEG_LEVEL
