// Several threads that do the same work, where a call may have as many. WebAssembly has one.
#pragma once

#if !defined(__wasm__)
#include <future>
#include <vector>
#endif

#include "learner.hpp"

namespace thalweg::THALWEG_LEVEL {

template <class Work> void on_threads(bool is_worth_it, const Work &work) {
#if !defined(__wasm__)
  std::vector<std::future<void>> others;
  for (int i = 1; is_worth_it && i < threads_of_a_call(); i++) others.push_back(std::async(std::launch::async, work));
  work();
  for (auto &other : others) other.get();
#else
  (void)is_worth_it;
  work();
#endif
}

}  // namespace thalweg::THALWEG_LEVEL
