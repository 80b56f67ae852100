#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "network/server.h"

namespace tidemark::network {

/// What anyone may read about a connection while its processor works on it.
class ConnectionRecord {
 public:
  ConnectionRecord(uint64_t number, std::shared_ptr<const Peer> peer)
      : number_(number), peer_(std::move(peer)), client_(std::make_shared<const ClientInfo>()) {}

  uint64_t number() const noexcept { return number_; }
  const std::shared_ptr<const Peer>& peer() const noexcept { return peer_; }
  void setClient(std::shared_ptr<const ClientInfo> client) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    client_.swap(client);
  }
  ConnectionInfo info() const EXCLUDES(mutex_);

  // Written by the processor alone.
  std::atomic<bool> inFlight = false;
  std::atomic<uint64_t> bytesIn = 0;
  std::atomic<uint64_t> bytesOut = 0;
  std::atomic<uint64_t> requests = 0;

 private:
  const uint64_t number_;
  const std::shared_ptr<const Peer> peer_;
  mutable Mutex mutex_;
  std::shared_ptr<const ClientInfo> client_ GUARDED_BY(mutex_);
};

/// All connections of a server, and how many each address has. Any thread.
class Registry {
 public:
  explicit Registry(int maxPerAddress) noexcept : maxPerAddress_(maxPerAddress) {}

  /// Takes a new connection in; null if its address has too many already.
  std::shared_ptr<ConnectionRecord> add(std::shared_ptr<const Peer> peer, uint64_t number) EXCLUDES(mutex_);
  void remove(const ConnectionRecord& record) EXCLUDES(mutex_);
  int count() const noexcept { return count_.load(); }
  /// In the order in which they came.
  std::vector<ConnectionInfo> list() const EXCLUDES(mutex_);
  /// A look at all of them.
  bool has(std::string_view connectionId) const EXCLUDES(mutex_);

 private:
  const int maxPerAddress_;
  std::atomic<int> count_ = 0;
  mutable Mutex mutex_;
  std::map<uint64_t, std::shared_ptr<ConnectionRecord>> records_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, int> perAddress_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::network
