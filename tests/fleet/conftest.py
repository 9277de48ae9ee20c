"""The step of a row on a GPU, compiled for this machine."""

import ctypes
import shutil
import subprocess
from importlib.resources import files

import pytest

#: The lanes of a key in turn, phase by phase.
HOST = """
#include <cstring>
#include <vector>
#include "discriminant_step.cuh"
#include "least_squares_step.cuh"
#include "linear_step.cuh"
using namespace thalweg::record;
template <class Model, class Value>
void take(double *record, const double *X, const Value *y, int rows, const void *given, Value *answers) {
  typename Model::Options options;
  std::memcpy(&options, given, sizeof options);
  std::vector<double> scratch(Model::kScratch);
  std::vector<Model> lanes;
  for (int lane = 0; lane < Model::kLanes; lane++) lanes.push_back(Model{record, scratch.data(), options, lane});
  for (int row = 0; row < rows; row++) {
    const auto for_each_lane = [&](auto act) {  // by turns from either side: no order is kept on a GPU
      for (int i = 0; i < Model::kLanes; i++) act(lanes[row % 2 ? i : Model::kLanes - 1 - i]);
    };
    for_each_lane([&](Model &each) {
      double own[Model::kOwn] = {};
      for (int i = each.lane; i < Model::kFeatures; i += Model::kLanes) {
        own[i / Model::kLanes] = X[row * Model::kFeatures + i];
      }
      each.begin(own);
    });
    for_each_lane([&](Model &each) { each.project(y[row]); });
    for_each_lane([&](Model &each) {
      const Value found = each.decide(y[row]);
      if (each.lane == 0) answers[row] = found;
    });
    for_each_lane([&](Model &each) { each.update(y[row]); });
    if constexpr (Model::kHolds) {
      for (int phase = 0; phase < 3 * options.turns; phase++) {
        for_each_lane([&](Model &each) { each.hold(phase); });
      }
    }
  }
}
using Model = MODEL;
extern "C" int words() { return Model::kWords; }
extern "C" int scratch() { return Model::kScratch; }
extern "C" void run(double *record, const double *X, const Model::Value *y, int rows, const void *given,
                    Model::Value *answers) {
  take<Model>(record, X, y, rows, given, answers);
}
"""


@pytest.fixture(scope="session")
def step_of(tmp_path_factory):
    """The step of the GPU, compiled for this machine."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("step")

    def made(layout, lanes):
        name = f"{layout.step}<{layout.features}, {layout.classes}, {lanes}>"
        source, library = (folder / f"{abs(hash(name))}.{kind}" for kind in ("cpp", "so"))
        source.write_text(HOST.replace("MODEL", name))
        include = f"-I{files('thalweg.fleet.gpu')}"
        flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", include]
        subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))

    return made
