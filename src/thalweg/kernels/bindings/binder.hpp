// Functions bound behind their names, arguments and documentation, each as a statement:
//     Binder def(core);
//     def("announce", "at"_a) = [](Core &c, int64_t at) { … };
#pragma once

#include <nanobind/nanobind.h>

#include <tuple>

namespace thalweg::THALWEG_LEVEL {

namespace nb = nanobind;

// Target: a module or a class.
template <class Target> class Binder {
  template <class... Extra> struct Name {
    Target &target;
    const char *name;
    std::tuple<Extra...> extra;

    template <class Function> void operator=(Function &&function) {
      std::apply([&](const Extra &...each) { target.def(name, std::forward<Function>(function), each...); }, extra);
    }
  };

 public:
  explicit Binder(Target &target) : target_(target) {}
  template <class... Extra> Name<Extra...> operator()(const char *name, Extra... extra) const {
    return {target_, name, {extra...}};
  }

 private:
  Target &target_;
};

}  // namespace thalweg::THALWEG_LEVEL
