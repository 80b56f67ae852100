#include "network/registry.h"

#include <algorithm>

namespace tidemark::network {

ConnectionInfo ConnectionRecord::info() const {
  ConnectionInfo info;
  info.peer = peer_;
  {
    Lock lock(mutex_);
    info.client = client_;
  }
  info.inFlight = inFlight.load(std::memory_order_relaxed);
  info.bytesIn = bytesIn.load(std::memory_order_relaxed);
  info.bytesOut = bytesOut.load(std::memory_order_relaxed);
  info.requests = requests.load(std::memory_order_relaxed);
  return info;
}

std::shared_ptr<ConnectionRecord> Registry::add(std::shared_ptr<const Peer> peer, uint64_t number) {
  Lock lock(mutex_);
  int& sameAddress = perAddress_[peer->address.host];
  if (sameAddress >= maxPerAddress_) return nullptr;
  ++sameAddress;
  auto record = std::make_shared<ConnectionRecord>(number, std::move(peer));
  records_.emplace(number, record);
  count_.fetch_add(1);
  return record;
}

void Registry::remove(const ConnectionRecord& record) {
  Lock lock(mutex_);
  const auto at = perAddress_.find(record.peer()->address.host);
  if (at != perAddress_.end() && --at->second == 0) perAddress_.erase(at);
  count_.fetch_sub(1);
  records_.erase(record.number());
}

bool Registry::has(std::string_view connectionId) const {
  Lock lock(mutex_);
  return std::ranges::any_of(records_,
                             [&](const auto& one) { return one.second->peer()->connectionId == connectionId; });
}

std::vector<ConnectionInfo> Registry::list() const {
  std::vector<std::shared_ptr<ConnectionRecord>> records;
  {
    Lock lock(mutex_);
    records.reserve(records_.size());
    for (const auto& [number, record] : records_) records.push_back(record);
  }
  std::vector<ConnectionInfo> list;
  list.reserve(records.size());
  for (const auto& record : records) list.push_back(record->info());
  return list;
}

}  // namespace tidemark::network
