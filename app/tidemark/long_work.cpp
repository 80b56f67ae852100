#include "tidemark/long_work.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace tidemark::app {
namespace {

volatile std::sig_atomic_t signalled = 0;

void onSignal(int) {
  signalled = 1;
}

constexpr auto kBetween = std::chrono::milliseconds(200);
/// Without a terminal a line is worth writing only now and then.
constexpr auto kBetweenLines = std::chrono::seconds(10);

}  // namespace

LongWork::LongWork(std::string what)
    : what_(std::move(what)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      began_(std::chrono::steady_clock::now()),
      told_(began_) {
  signalled = 0;
  struct sigaction action = {};
  action.sa_handler = onSignal;
  // A second one ends the program at once.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

LongWork::~LongWork() {
  clearLine();
}

bool LongWork::interrupted() noexcept {
  return signalled != 0;
}

bool LongWork::advance(uint64_t bytes) {
  bytes_ += bytes;
  const auto now = std::chrono::steady_clock::now();
  if (now - told_ >= (terminal_ ? std::chrono::nanoseconds(kBetween) : std::chrono::nanoseconds(kBetweenLines))) {
    told_ = now;
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const double mebibytes = static_cast<double>(bytes_) / (1 << 20);
    const std::string text = fmt::format("{:.0f} MiB {}, {:.0f} MiB/s", mebibytes, what_, mebibytes / seconds);
    std::fprintf(stderr, terminal_ ? "\r%s\x1b[K" : "%s\n", text.c_str());
    std::fflush(stderr);
    shown_ = terminal_;
  }
  return !interrupted();
}

void LongWork::clearLine() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace tidemark::app
