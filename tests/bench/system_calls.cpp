#include "system_calls.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace tidemark::bench {

namespace {

constexpr int kMark = SIGUSR1;
/// What the tracer sees of a system call, as opposed to a breakpoint.
constexpr int kCallStop = SIGTRAP | 0x80;
/// The child's exit status if it may not be traced.
constexpr int kNotAllowed = 77;

constexpr std::pair<int64_t, std::string_view> kNames[] = {
    {SYS_openat, "openat"},        {SYS_close, "close"},         {SYS_read, "read"},
    {SYS_pread64, "pread64"},      {SYS_write, "write"},         {SYS_pwritev, "pwritev"},
    {SYS_fstat, "fstat"},          {SYS_newfstatat, "fstatat"},  {SYS_statx, "statx"},
    {SYS_lseek, "lseek"},          {SYS_getdents64, "getdents"}, {SYS_ftruncate, "ftruncate"},
    {SYS_fsync, "fsync"},          {SYS_fdatasync, "fdatasync"}, {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},        {SYS_madvise, "madvise"},     {SYS_brk, "brk"},
    {SYS_mprotect, "mprotect"},    {SYS_fcntl, "fcntl"},         {SYS_futex, "futex"},
    {SYS_readlinkat, "readlinkat"}};

std::string nameOf(uint64_t number) {
  for (const auto& [known, name] : kNames)
    if (known == static_cast<int64_t>(number)) return std::string(name);
  return "call " + std::to_string(number);
}

[[noreturn]] void becomeTraced(const std::vector<std::string>& arguments) {
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(kNotAllowed);
  std::string self = "/proc/self/exe";
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers{self.data()};
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(self.c_str(), pointers.data());
  ::_exit(1);
}

/// Lets the child go on to its end.
int follow(pid_t child, SystemCalls& calls) {
  bool counting = false;
  int status = 0;
  int signal = 0;
  bool known = false;
  while (::waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    signal = 0;
    if (!known) {
      // It has just become the program.
      known = true;
      ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    } else if (WSTOPSIG(status) == kMark) {
      counting = !counting;
    } else if (WSTOPSIG(status) == kCallStop) {
      __ptrace_syscall_info info{};
      const auto got = ::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info);
      if (got > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY) ++calls[nameOf(info.entry.nr)];
    } else {
      signal = WSTOPSIG(status);
    }
    ::ptrace(counting ? PTRACE_SYSCALL : PTRACE_CONT, child, nullptr, static_cast<ptrdiff_t>(signal));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::optional<SystemCalls> countSystemCalls(const std::vector<std::string>& arguments) {
  const pid_t child = ::fork();
  if (child < 0) return std::nullopt;
  if (child == 0) becomeTraced(arguments);
  SystemCalls calls;
  const int ended = follow(child, calls);
  if (ended == kNotAllowed) return std::nullopt;
  if (ended != 0) throw std::runtime_error("the program that is traced has failed");
  return calls;
}

void markSystemCalls() {
  ::raise(kMark);
}

}  // namespace tidemark::bench
