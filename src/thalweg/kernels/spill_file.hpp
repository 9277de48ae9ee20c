// A file for records that are not in memory; all copies of a model may share it.
#pragma once

#if defined(_WIN32)
#include <io.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace thalweg::THALWEG_LEVEL {

// A place that was released is used again by a record of the same size.
class SpillFile {
 public:
  explicit SpillFile(int file) : file_(file) {}
  SpillFile(const SpillFile &) = delete;
  ~SpillFile() { ::close(file_); }

  // Where the bytes were written; -1 where the disk has no room for them.
  int64_t write(const void *bytes, int64_t count) {
    const std::lock_guard<std::mutex> alone(mutex_);
    auto &free = free_[count];
    const int64_t at = free.empty() ? end_ : free.back();
    for (int64_t done = 0; done < count;) {
      const int64_t n = write_at(static_cast<const char *>(bytes) + done, count - done, at + done);
      if (n <= 0) return -1;
      done += n;
    }
    if (free.empty()) end_ += count;
    else free.pop_back();
    return at;
  }
  void read(int64_t at, void *bytes, int64_t count) const {
    for (int64_t done = 0; done < count;) {
      const int64_t n = read_at(static_cast<char *>(bytes) + done, count - done, at + done);
      if (n <= 0) throw std::runtime_error("the file of models put aside cannot be read");
      done += n;
    }
  }
  void release(int64_t at, int64_t count) noexcept {
    const std::lock_guard<std::mutex> alone(mutex_);
    try {
      free_[count].push_back(at);
    } catch (...) {  // the place is lost, which costs disk only
    }
  }

 private:
#if defined(_WIN32)  // where a file is read and written at its position
  static constexpr int64_t kMost = 1 << 30;
  int64_t write_at(const char *bytes, int64_t count, int64_t at) {
    return ::_lseeki64(file_, at, SEEK_SET) < 0 ? -1 : ::_write(file_, bytes, unsigned(std::min(count, kMost)));
  }
  int64_t read_at(char *bytes, int64_t count, int64_t at) const {
    const std::lock_guard<std::mutex> alone(mutex_);
    return ::_lseeki64(file_, at, SEEK_SET) < 0 ? -1 : ::_read(file_, bytes, unsigned(std::min(count, kMost)));
  }
#else
  int64_t write_at(const char *bytes, int64_t count, int64_t at) {
    return ::pwrite(file_, bytes, std::size_t(count), at);
  }
  int64_t read_at(char *bytes, int64_t count, int64_t at) const {
    return ::pread(file_, bytes, std::size_t(count), at);
  }
#endif

  int file_;
  int64_t end_ = 0;
  mutable std::mutex mutex_;
  std::map<int64_t, std::vector<int64_t>> free_;  // by size
};

}  // namespace thalweg::THALWEG_LEVEL
