#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "base/mutex.h"

namespace tidemark::log {

class SegmentFiles;

/// Keeps the open files and mappings of the segments that were read last, for all logs of one broker, so that a broker
/// with many closed segments needs few descriptors. Active segments hold theirs themselves. Any thread; its lock is a
/// leaf.
class HandleCache {
 public:
  /// `capacity`: segments kept open; each has up to three files.
  explicit HandleCache(size_t capacity) : capacity_(capacity) {}

  /// A number that names one segment in this cache.
  uint64_t newId();
  /// Null if not kept.
  std::shared_ptr<SegmentFiles> find(uint64_t id);
  /// Whoever was read least recently makes room; users that still hold it keep it open.
  void insert(uint64_t id, std::shared_ptr<SegmentFiles> files);
  void erase(uint64_t id);
  size_t size() const;

 private:
  struct Entry {
    uint64_t id;
    std::shared_ptr<SegmentFiles> files;
  };
  const size_t capacity_;
  mutable Mutex mutex_;
  uint64_t lastId_ GUARDED_BY(mutex_) = 0;
  /// Most recently used first.
  std::list<Entry> entries_ GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, std::list<Entry>::iterator> byId_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::log
