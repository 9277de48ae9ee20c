// What CPython's headers ask about the platform, for 64-bit Windows and a compiler with GNU extensions. The other headers
// are the same on every platform. Only .ci/cross-compile uses it: a Python for Windows has its own.
#pragma once
#include <io.h>

#define MS_WIN32
#define MS_WINDOWS
#define Py_ENABLE_SHARED 1
#define HAVE_DECLSPEC_DLL
#define HAVE_DYNAMIC_LOADING 1
#define HAVE_STDDEF_H 1
#define HAVE_WCHAR_H 1
#define NT_THREADS
#define WITH_DOC_STRINGS 1
#define WITH_PYMALLOC 1

#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
