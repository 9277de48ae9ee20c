// The Python module _processor: which levels this processor runs. It is compiled for every processor of the family, so that
// a level is loaded only where it can run. It asks the processor itself: __builtin_cpu_supports needs a library that not
// every Clang has. Plain Python API: binding one function by nanobind would add 100 kB.
#include <Python.h>

#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace {

#if defined(__x86_64__)
constexpr unsigned kV3 = bit_AVX2 | bit_BMI2;
constexpr unsigned kV4 = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;

// What the processor has among some of these, with registers that the system saves: of AVX, and of AVX-512. macOS saves
// the latter only for programs that have used them, so that there a program begins with v3.
unsigned usable() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
  const bool fused = c & bit_FMA;
  unsigned saved, high;
  asm("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  return ((saved & 0x6) == 0x6 && fused ? b & kV3 : 0) | ((saved & 0xe6) == 0xe6 ? b & kV4 : 0);
}
#endif

bool processor_has(const char *level) {
#if defined(__x86_64__)
  if (!std::strcmp(level, "v3")) return (usable() & kV3) == kV3;
  if (!std::strcmp(level, "v4")) return (usable() & kV4) == kV4;
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
