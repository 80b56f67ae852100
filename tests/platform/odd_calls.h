#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <limits>

// The system's calls as they may be and rarely are: ended early, interrupted by a signal, refused half-way. A program
// with odd_calls.cpp has its own pread, pwritev and accept4 for that; they do what the system's do unless a test on the
// same thread says otherwise.

namespace tidemark::platform {

struct OddCalls {
  /// Most bytes that a call moves; 0: as many as it is asked to.
  size_t most = 0;
  /// Every other call ends with EINTR before it has done anything.
  bool interrupted = false;
  /// The error of the call after so many that moved something.
  int error = 0;
  int errorAfter = 0;
  /// So many calls end with it, and then they are as they were.
  int errors = std::numeric_limits<int>::max();

  int made = 0;
  int moved = 0;
  int interruptions = 0;

  /// Whether the call fails; errno is set.
  bool fails() {
    ++made;
    if (interrupted && made % 2 == 1) {
      errno = EINTR;
      ++interruptions;
      return true;
    }
    if (error != 0 && moved >= errorAfter && errors > 0) {
      --errors;
      errno = error;
      return true;
    }
    ++moved;
    return false;
  }
  size_t bounded(size_t bytes) const { return most == 0 ? bytes : std::min(bytes, most); }
};

/// How the calls of this thread are; null: as the system's are.
extern thread_local OddCalls* oddCalls;

}  // namespace tidemark::platform
