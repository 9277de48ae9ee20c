// The Python module _stopping: a thread of its own that ends the process some time after a signal. It never asks for the
// interpreter's lock, which a regular expression or a parser may hold for minutes.
#include <Python.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#if defined(_WIN32)
#include <winsock2.h>
#else
#include <sys/socket.h>
#endif
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

// Never destroyed: at the end of the process the thread may still wait.
struct Watch {
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
  bool on = false;
  double patience = 0.0;
  std::string message;
};
Watch &state = *new Watch;

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

bool ends_process(int number) {
#if defined(SIGBREAK)
  if (number == SIGBREAK) return true;
#endif
  return number == SIGINT || number == SIGTERM;
}

// Waits for the byte of a signal, which Python's handler writes at once, and then until the process may take no longer.
void watch_signals(int socket) {
  char number = 0;
  while (!ends_process(number))
    if (recv(socket, &number, 1, 0) != 1) return;
  const Clock::time_point heard = Clock::now();
  std::unique_lock<std::mutex> lock(state.mutex);
  while (state.on && Clock::now() < heard + seconds(state.patience))
    state.changed.wait_until(lock, heard + seconds(state.patience));
  if (!state.on) return;
  if (write(STDERR_FILENO, state.message.data(), state.message.size()) < 0) state.message.clear();
  _exit(128 + number);
}

void set(double longest, const char *text) {
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.patience = longest;
  state.message = text;
  state.changed.notify_all();
}

PyObject *watch(PyObject *, PyObject *arguments) {
  int socket;
  double longest;
  const char *text;
  if (!PyArg_ParseTuple(arguments, "ids", &socket, &longest, &text)) return nullptr;
  set(longest, text);
  state.on = true;
#if defined(_WIN32)
  state.thread = std::thread(watch_signals, socket);
#else
  sigset_t all, before;  // so that no signal breaks off the thread's reading
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  state.thread = std::thread(watch_signals, socket);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
  Py_RETURN_NONE;
}

PyObject *allow(PyObject *, PyObject *arguments) {
  double longest;
  const char *text;
  if (!PyArg_ParseTuple(arguments, "ds", &longest, &text)) return nullptr;
  set(longest, text);
  Py_RETURN_NONE;
}

// The other end of the socket must be closed before, or the thread would wait for its next byte.
PyObject *leave(PyObject *, PyObject *) {
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.on = false;
    state.changed.notify_all();
  }
  Py_BEGIN_ALLOW_THREADS;
  if (state.thread.joinable()) state.thread.join();
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"watch", watch, METH_VARARGS, "Read numbers of signals from a socket, and end the process so long after one."},
    {"allow", allow, METH_VARARGS, "Set how long after a signal the process is ended, and what it says then."},
    {"leave", leave, METH_NOARGS, "End the thread."},
    {}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_stopping", nullptr, 0, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__stopping() { return PyModuleDef_Init(&definition); }
