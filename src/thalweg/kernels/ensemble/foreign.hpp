// A learner that lives in Python: the committee's loop is one, whoever its members are.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

class Foreign final : public Learner {
 public:
  Foreign(int64_t p, nb::object given) : Learner(p), adapter(std::move(given)) {
    traits_.may_fail = true;
    if (nb::hasattr(adapter, "kept_size")) traits_.kept_size = nb::cast<int64_t>(adapter.attr("kept_size"));
  }
  Foreign(const Foreign &other) : Learner(other) {
    nb::gil_scoped_acquire locked;
    adapter = other.adapter.attr("copy")();
  }
  ~Foreign() override {
    nb::gil_scoped_acquire locked;
    adapter = nb::object();
  }
  Learner *copy() const override { return new Foreign(*this); }

  void posteriors(RowView x, double *out) const override {
    nb::gil_scoped_acquire locked;
    nb::object given = adapter.attr("posteriors")(row(x));
    auto values = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig>>(given);
    if (int64_t(values.size()) != classes())
      throw std::invalid_argument("a member gave another number of probabilities");
    std::copy_n(values.data(), classes(), out);
  }
  void scores(RowView x, double *out) const override {
    posteriors(x, out);
    for (int64_t c = 0; c < classes(); c++) out[c] = std::log(out[c]);
  }
  void mark_classes(bool *out) const override {
    if (traits_.kept_size == 0) return;
    nb::gil_scoped_acquire locked;
    nb::object marks = adapter.attr("kept_classes");
    for (int64_t i = 0; i < traits_.kept_size; i++) out[i] = nb::cast<bool>(marks[i]);
  }
  void keep(RowView x, double *scored, uint8_t *kept) const override {
    if (traits_.kept_size == 0) return scores(x, scored);
    nb::gil_scoped_acquire locked;
    const nb::bytes given = nb::cast<nb::bytes>(adapter.attr("keep")(row(x)));
    if (int64_t(given.size()) != traits_.kept_size)
      throw std::invalid_argument("a member kept another number of bytes");
    std::memcpy(kept, given.c_str(), given.size());
    scores(x, scored);
  }
  void judge_by(const uint8_t *kept) override { said = kept; }
  int64_t take_step(RowView x, int64_t k, double weight, const Wanted &wanted) override {
    show(x, wanted);
    const int64_t given = answer(x);
    const uint8_t *kept = std::exchange(said, nullptr);
    nb::gil_scoped_acquire locked;
    if (traits_.kept_size && kept)
      adapter.attr("learn")(row(x), k, weight, nb::bytes(kept, std::size_t(traits_.kept_size)));
    else if (weight == 1) adapter.attr("learn")(row(x), k);
    else adapter.attr("learn")(row(x), k, weight);
    return given;
  }
  void forget() override {
    nb::gil_scoped_acquire locked;
    adapter.attr("forget")();
  }
  void visit(State &state) override { visit_classes(state); }  // what it learned is the adapter's to give out
  nb::object in_python() const { return adapter; }

 protected:
  void insert(int64_t at) override {
    nb::gil_scoped_acquire locked;
    adapter.attr("announce")(at);
  }

 private:
  nb::object row(const double *x) const {
    double *data = new double[features()];
    std::copy_n(x, features(), data);
    nb::capsule owner(data, [](void *raw) noexcept { delete[] static_cast<double *>(raw); });
    return nb::ndarray<nb::numpy, double>(data, {std::size_t(features())}, owner).cast();
  }

  nb::object adapter;
  const uint8_t *said = nullptr;
};

}  // namespace thalweg::THALWEG_LEVEL
