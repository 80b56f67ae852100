#include "odd_calls.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>

namespace tidemark::platform {

thread_local OddCalls* oddCalls = nullptr;

}  // namespace tidemark::platform

using tidemark::platform::oddCalls;

extern "C" ssize_t pread(int descriptor, void* into, size_t bytes, off_t position) {
  if (oddCalls != nullptr) {
    if (oddCalls->fails()) return -1;
    bytes = oddCalls->bounded(bytes);
  }
  return ::syscall(SYS_pread64, descriptor, into, bytes, position);
}

extern "C" int accept4(int descriptor, sockaddr* address, socklen_t* length, int flags) {
  if (oddCalls != nullptr && oddCalls->fails()) return -1;
  return static_cast<int>(::syscall(SYS_accept4, descriptor, address, length, flags));
}

extern "C" ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t position) {
  if (oddCalls == nullptr || oddCalls->most == 0) {
    if (oddCalls != nullptr && oddCalls->fails()) return -1;
    return ::syscall(SYS_pwritev, descriptor, pieces, count, position, 0);
  }
  if (oddCalls->fails()) return -1;
  // So many bytes of the pieces from the front.
  size_t left = oddCalls->most;
  std::array<iovec, 64> part;
  int used = 0;
  for (; used < count && used < 64 && left > 0; ++used) {
    part[static_cast<size_t>(used)] = pieces[used];
    part[static_cast<size_t>(used)].iov_len = std::min(left, pieces[used].iov_len);
    left -= part[static_cast<size_t>(used)].iov_len;
  }
  return ::syscall(SYS_pwritev, descriptor, part.data(), used, position, 0);
}
