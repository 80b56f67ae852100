#include "log/handle_cache.h"

#include "log/segment.h"

namespace tidemark::log {

uint64_t HandleCache::newId() {
  const Lock lock(mutex_);
  return ++lastId_;
}

std::shared_ptr<SegmentFiles> HandleCache::find(uint64_t id) {
  const Lock lock(mutex_);
  const auto found = byId_.find(id);
  if (found == byId_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->files;
}

void HandleCache::insert(uint64_t id, std::shared_ptr<SegmentFiles> files) {
  std::list<Entry> dropped;  // closed after the lock
  {
    const Lock lock(mutex_);
    if (const auto found = byId_.find(id); found != byId_.end()) {
      dropped.splice(dropped.end(), entries_, found->second);
      byId_.erase(found);
    }
    entries_.push_front({id, std::move(files)});
    byId_[id] = entries_.begin();
    while (entries_.size() > capacity_) {
      byId_.erase(entries_.back().id);
      dropped.splice(dropped.end(), entries_, std::prev(entries_.end()));
    }
  }
}

void HandleCache::erase(uint64_t id) {
  std::list<Entry> dropped;
  {
    const Lock lock(mutex_);
    if (const auto found = byId_.find(id); found != byId_.end()) {
      dropped.splice(dropped.end(), entries_, found->second);
      byId_.erase(found);
    }
  }
}

size_t HandleCache::size() const {
  const Lock lock(mutex_);
  return entries_.size();
}

}  // namespace tidemark::log
