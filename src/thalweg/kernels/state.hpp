// The state of a model, visited by name: written out or read in, whatever the format (bindings/python_state.hpp,
// fleet/flat_state.hpp).
#pragma once

#include <stdexcept>
#include <string>

#include "linear_algebra/buffer.hpp"

namespace thalweg::THALWEG_LEVEL {

struct BadState : std::invalid_argument {
  explicit BadState(const std::string &name);
  ~BadState() override;
};

// Visits a learner's state by name, either writing it out or reading it in.
struct State {
  virtual ~State();
  virtual void real(const char *name, double &value) = 0;
  virtual void integer(const char *name, int64_t &value) = 0;
  virtual void integers(const char *name, std::vector<int64_t> &values) = 0;
  // rows x columns of a padded matrix; the padding is not part of the state
  virtual void matrix(const char *name, Buffer &values, int64_t rows, int64_t columns, int64_t stride) = 0;
  // the same for a square one that is zero on and below its diagonal
  virtual void above_diagonal(const char *name, Buffer &values, int64_t order, int64_t stride) {
    matrix(name, values, order, order, stride);
  }
  virtual void above_diagonal(const char *name, BufferOf<float> &values, int64_t order, int64_t stride) = 0;
  // a table of floats; in doubles, where the format has no others
  virtual void floats(const char *name, BufferOf<float> &values, int64_t rows, int64_t columns);
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
};

}  // namespace thalweg::THALWEG_LEVEL
