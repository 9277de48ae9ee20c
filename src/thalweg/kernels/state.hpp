// The state of a model, visited by name: written out or read in, whatever the format (bindings/python_state.hpp,
// fleet/flat_state.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "linear_algebra/buffer.hpp"

namespace thalweg::THALWEG_LEVEL {

struct BadState : std::invalid_argument {
  explicit BadState(const std::string &name);
  ~BadState() override;
};

// What numbers of a state have to be, lest the next step break: not NaN in any case.
constexpr auto not_negative = [](auto value) { return value >= 0; };
constexpr auto finite = [](double value) { return std::isfinite(value); };
constexpr auto below_infinity = [](double value) { return value < __builtin_inf(); };
constexpr auto amount = [](double value) { return value >= 0 && std::isfinite(value); };
constexpr auto positive = [](double value) { return value > 0 && std::isfinite(value); };
template <class T> auto within(T low, T high) {
  return [=](T value) { return low <= value && value <= high; };
}

// Visits a learner's state by name, either writing it out or reading it in.
class State {
 public:
  virtual ~State();
  virtual void real(const char *name, double &value) = 0;
  virtual void integer(const char *name, int64_t &value) = 0;
  virtual void integers(const char *name, std::vector<int64_t> &values) = 0;
  // rows x columns of a padded matrix; the padding is not part of the state. `above`: it is square, and zero on and below its
  // diagonal.
  virtual void matrix(const char *name, Buffer &values, int64_t rows, int64_t columns, int64_t stride,
                      bool above = false) = 0;
  virtual void matrix(const char *name, BufferOf<float> &values, int64_t rows, int64_t columns, int64_t stride,
                      bool above = false) = 0;

  // The same, where every number has to be such, or so many.
  template <class Valid> void real(const char *name, double &value, Valid valid) {
    real(name, value);
    if (!valid(value)) throw BadState(name);
  }
  template <class Valid> void integer(const char *name, int64_t &value, Valid valid) {
    integer(name, value);
    if (!valid(value)) throw BadState(name);
  }
  void integers(const char *name, std::vector<int64_t> &values, int64_t count);
  template <class T, class Valid>
  void matrix(const char *name, BufferOf<T> &values, int64_t rows, int64_t columns, int64_t stride, Valid valid) {
    matrix(name, values, rows, columns, stride);
    if (!std::all_of(values.begin(), values.end(), valid)) throw BadState(name);
  }

  // Visits numbers that may also be infinite, or are of no account.
  template <class Act> void unbounded(Act act) {
    const bool before = std::exchange(bounded_, false);
    act();
    bounded_ = before;
  }
  // A part of the model, under names that begin with a prefix of its own.
  template <class Act> void under(const std::string &prefix, Act act) {
    const std::size_t before = prefix_.size();
    prefix_ += prefix;
    act();
    prefix_.resize(before);
  }
  template <class T> void part(const std::string &prefix, T &what) {
    under(prefix, [&] { what.visit(*this); });
  }

  // whether anything whose name begins so is wanted
  virtual bool wants(const std::string &) const { return true; }
  // how many classes it may speak of: a forged number would take all memory
  virtual int64_t most_classes() const { return int64_t(1) << 24; }
  // whether it is read from, and not written to
  virtual bool reads() const { return false; }
  // whether it was never out of our hands, so that names and checks would only take time
  virtual bool trusted() const { return false; }
  // words without a name, one after the other, where it is trusted
  virtual void words(double *, int64_t) {}

 protected:
  std::string full(const std::string &name) const { return prefix_ + name; }
  // What was read from elsewhere is no further off than what rows of up to 1e50 lead to, or than rows can be counted: forged
  // numbers must not overflow later.
  template <class T> void check_reach(const char *name, const T *values, int64_t count) const {
    constexpr bool whole = std::is_integral_v<T>;
    constexpr T most = whole ? T(int64_t(1) << 60) : T(sizeof(T) < 8 ? 1e38 : 1e200);
    if ((whole || bounded_) && !std::all_of(values, values + count, within(-most, most))) throw BadState(full(name));
  }

 private:
  std::string prefix_;
  bool bounded_ = true;
};

}  // namespace thalweg::THALWEG_LEVEL
