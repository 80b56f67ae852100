#include "tidemark/suggest.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace tidemark::app {
namespace {

constexpr size_t kNear = 2;

/// Levenshtein's.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

bool isFree(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return false;
  const int descriptor = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  // As the brokers do: connections that are being closed do not count.
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool bound = ::bind(descriptor, found->ai_addr, found->ai_addrlen) == 0 && ::listen(descriptor, 1) == 0;
  ::close(descriptor);
  ::freeaddrinfo(found);
  return bound;
}

}  // namespace

std::string nearest(std::string_view typed, std::span<const std::string> names) {
  std::string found;
  size_t least = kNear + 1;
  for (const std::string& name : names) {
    const size_t steps = distance(typed, name);
    // A name as short as that would be near to anything.
    if (steps >= least || steps >= name.size()) continue;
    least = steps;
    found = name;
  }
  return found;
}

bool canListen(const std::string& host) {
  return isFree(host, 0);
}

std::optional<uint16_t> freePort(const std::string& host, uint16_t port, int nodes) {
  constexpr int kTries = 50;
  constexpr int kStep = 10;
  for (int i = 0; i < kTries; ++i) {
    const int from = port + i * kStep;
    // As Cluster lays them out: nodes, and their controllers a hundred above.
    if (from + 100 + nodes > 65536) return std::nullopt;
    bool all = true;
    for (int node = 0; all && node < nodes; ++node) all = isFree(host, from + node) && isFree(host, from + 100 + node);
    if (all) return static_cast<uint16_t>(from);
  }
  return std::nullopt;
}

}  // namespace tidemark::app
