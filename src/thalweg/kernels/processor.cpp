// The Python module _processor: which levels this processor runs. It is compiled for every processor of the family, so that
// a level is loaded only where it can run. Plain Python API: binding one function by nanobind would add 100 kB.
#include <Python.h>

#include <cstring>

namespace {

bool processor_has(const char *level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!std::strcmp(level, "v3"))
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  if (!std::strcmp(level, "v4"))
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#endif
  return !std::strcmp(level, "base");
}

PyObject *has(PyObject *, PyObject *level) {
  const char *name = PyUnicode_AsUTF8(level);
  return name ? PyBool_FromLong(processor_has(name)) : nullptr;
}

PyMethodDef functions[] = {{"has", has, METH_O, "Whether this processor runs a level."}, {}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_processor", nullptr, 0, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__processor() { return PyModuleDef_Init(&definition); }
