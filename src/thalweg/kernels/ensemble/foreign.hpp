// A learner that lives in Python: the committee's loop is one, whoever its members are.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

class Foreign final : public Learner {
 public:
  Foreign(int64_t p, nb::object adapter) : Learner(p), adapter(std::move(adapter)) {}
  Foreign(const Foreign &other) : Learner(other) {
    nb::gil_scoped_acquire locked;
    adapter = other.adapter.attr("copy")();
  }
  ~Foreign() override {
    nb::gil_scoped_acquire locked;
    adapter = nb::object();
  }
  Learner *copy() const override { return new Foreign(*this); }
  double rate() const override { return std::nan(""); }
  bool may_fail() const override { return true; }

  void posteriors(const double *x, double *out) const override {
    nb::gil_scoped_acquire locked;
    nb::object given = adapter.attr("posteriors")(row(x));
    auto values = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig>>(given);
    if (int64_t(values.size()) != classes())
      throw std::invalid_argument("a member gave another number of probabilities");
    std::copy_n(values.data(), classes(), out);
  }
  void scores(const double *x, double *out) const override {
    posteriors(x, out);
    for (int64_t c = 0; c < classes(); c++) out[c] = std::log(out[c]);
  }
  int64_t step(const double *x, int64_t k) override {
    const int64_t given = answer(x);
    nb::gil_scoped_acquire locked;
    adapter.attr("learn")(row(x), k);
    return given;
  }
  void begin(const double *X, const int64_t *y, int64_t rows) override {
    {
      nb::gil_scoped_acquire locked;
      adapter.attr("forget")();
    }
    for (int64_t i = 0; i < rows; i++) step(X + i * features(), y[i]);
  }
  void visit(State &state) override { visit_classes(state); }  // what it learned is the adapter's to give out
  nb::object in_python() const { return adapter; }

 protected:
  void insert(int64_t at) override {
    nb::gil_scoped_acquire locked;
    adapter.attr("announce")(at);
  }
  int64_t weighted_step(const double *x, int64_t k, double weight) override {
    const int64_t given = answer(x);
    nb::gil_scoped_acquire locked;
    adapter.attr("learn")(row(x), k, weight);
    return given;
  }

 private:
  nb::object row(const double *x) const {
    double *data = new double[features()];
    std::copy_n(x, features(), data);
    nb::capsule owner(data, [](void *raw) noexcept { delete[] static_cast<double *>(raw); });
    return nb::ndarray<nb::numpy, double>(data, {std::size_t(features())}, owner).cast();
  }

  nb::object adapter;
};

}  // namespace thalweg::THALWEG_LEVEL
