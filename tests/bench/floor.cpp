// The least that a broker can possibly do, as a yardstick: a plain loop on one blocking socket.
//
//   tidemark_bench_floor receive --bytes N --batch BYTES --file F    recv a batch, CRC-32C over it, write it to F
//   tidemark_bench_floor send --bytes N --batch BYTES --file F       sendfile F, which lies in the page cache, in such
//   pieces
//
// A child process is the other end. Prints the CPU time (user and system) of the loop alone, as JSON.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "base/crc32c.h"

namespace {

int64_t check(int64_t result, const char* what) {
  if (result < 0) throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
  return result;
}

double cpuSeconds() {
  rusage usage{};
  check(getrusage(RUSAGE_SELF, &usage), "getrusage");
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void sendAll(int socket, const std::vector<uint8_t>& from, int64_t bytes) {
  while (bytes > 0) {
    const size_t piece = std::min<size_t>(from.size(), static_cast<size_t>(bytes));
    bytes -= check(::send(socket, from.data(), piece, MSG_NOSIGNAL), "send");
  }
}

/// Forks; the child connects, runs `peer(socket)` and ends. Answers this side's end of the connection.
template <typename Peer>
int withPeer(Peer peer, pid_t& child) {
  const int listener = static_cast<int>(check(::socket(AF_INET, SOCK_STREAM, 0), "socket"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  check(::bind(listener, generic, size), "bind");
  check(::listen(listener, 1), "listen");
  check(::getsockname(listener, generic, &size), "getsockname");
  child = static_cast<pid_t>(check(::fork(), "fork"));
  if (child == 0) {
    try {
      const int socket = static_cast<int>(check(::socket(AF_INET, SOCK_STREAM, 0), "socket"));
      check(::connect(socket, generic, size), "connect");
      peer(socket);
      ::_exit(0);
    } catch (...) {
      ::_exit(1);
    }
  }
  const int socket = static_cast<int>(check(::accept(listener, nullptr, nullptr), "accept"));
  constexpr std::string_view kNoPacing = "reno";
  check(::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, kNoPacing.data(), kNoPacing.size()), "TCP_CONGESTION");
  ::close(listener);
  return socket;
}

void finish(int socket, pid_t child, int64_t bytes, double cpu, uint64_t sum) {
  ::close(socket);
  int status = 0;
  check(::waitpid(child, &status, 0), "waitpid");
  if (status != 0) throw std::runtime_error("the other end failed");
  fmt::print("{{\"bytes\":{},\"cpuSeconds\":{:.6f},\"sum\":{}}}\n", bytes, cpu, sum);
}

void receiveIntoFile(int64_t bytes, size_t batch, const std::string& path) {
  pid_t child = 0;
  const int socket = withPeer([&](int peer) { sendAll(peer, std::vector<uint8_t>(batch, 0x5a), bytes); }, child);
  const int file =
      static_cast<int>(check(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), path.c_str()));
  std::vector<uint8_t> buffer(batch);
  uint64_t sum = 0;
  const double before = cpuSeconds();
  for (int64_t left = bytes; left > 0;) {
    const auto want = static_cast<size_t>(std::min<int64_t>(left, static_cast<int64_t>(batch)));
    for (size_t have = 0; have < want;) {
      const int64_t got = check(::recv(socket, buffer.data() + have, want - have, 0), "recv");
      if (got == 0) throw std::runtime_error("the other end closed early");
      have += static_cast<size_t>(got);
    }
    sum += tidemark::crc32c({buffer.data(), want});
    for (size_t done = 0; done < want;) {
      done += static_cast<size_t>(check(::write(file, buffer.data() + done, want - done), "write"));
    }
    left -= static_cast<int64_t>(want);
  }
  const double cpu = cpuSeconds() - before;
  ::close(file);
  finish(socket, child, bytes, cpu, sum);
}

void sendFile(int64_t bytes, size_t batch, const std::string& path) {
  const int file =
      static_cast<int>(check(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), path.c_str()));
  // In pieces as a log has them: what is written at once lies together in the page cache and costs less to send.
  constexpr int64_t kBatch = 16'341;
  const std::vector<uint8_t> filler(kBatch, 0x5a);
  for (int64_t left = bytes; left > 0;) {
    left -= check(::write(file, filler.data(), static_cast<size_t>(std::min(left, kBatch))), "write");
  }
  pid_t child = 0;
  const int socket = withPeer(
      [&](int peer) {
        std::vector<uint8_t> buffer(1U << 20);
        for (int64_t left = bytes; left > 0;) {
          const int64_t got = check(::recv(peer, buffer.data(), buffer.size(), 0), "recv");
          if (got == 0) throw std::runtime_error("closed early");
          left -= got;
        }
      },
      child);
  off_t position = 0;
  const double before = cpuSeconds();
  while (position < bytes) {
    const auto piece = std::min<int64_t>(static_cast<int64_t>(batch), bytes - position);
    check(::sendfile(socket, file, &position, static_cast<size_t>(piece)), "sendfile");
  }
  const double cpu = cpuSeconds() - before;
  ::close(file);
  finish(socket, child, bytes, cpu, 0);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::string> options;
    for (int i = 2; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    const std::string command = argc > 1 ? argv[1] : "";
    if ((command != "receive" && command != "send") || options.size() != 3 || !options.contains("--bytes") ||
        !options.contains("--batch") || !options.contains("--file")) {
      throw std::runtime_error("expected (receive | send) --bytes N --batch BYTES --file F");
    }
    const auto run = command == "receive" ? receiveIntoFile : sendFile;
    run(std::stoll(options["--bytes"]), std::stoull(options["--batch"]), options["--file"]);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "tidemark_bench_floor: {}\n", e.what());
    return 1;
  }
}
