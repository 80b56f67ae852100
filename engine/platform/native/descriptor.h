#pragma once

#include <list>
#include <memory>
#include <utility>

#include "base/mutex.h"

namespace tidemark::platform::native {

/// The descriptors of one process's files, so that kill() can let go of them all while calls on them may be under way:
/// each number stays taken, by nothing, until its owner gives it back.
class DescriptorTable {
 public:
  DescriptorTable();
  ~DescriptorTable();
  DescriptorTable(const DescriptorTable&) = delete;
  DescriptorTable& operator=(const DescriptorTable&) = delete;

  using Place = std::list<int>::iterator;
  Place add(int descriptor);
  /// Closes it.
  void remove(Place place) noexcept;
  /// From now on every descriptor, those added later included, leads to nowhere. Locks on them are gone.
  void letGo() noexcept;

 private:
  Mutex mutex_;
  std::list<int> open_ GUARDED_BY(mutex_);
  bool letGo_ GUARDED_BY(mutex_) = false;
  int nowhere_;
};

/// Owns one descriptor of a table.
class Descriptor {
 public:
  Descriptor(std::shared_ptr<DescriptorTable> table, int descriptor)
      : table_(std::move(table)), place_(table_->add(descriptor)), descriptor_(descriptor) {}
  ~Descriptor() { table_->remove(place_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return descriptor_; }

 private:
  const std::shared_ptr<DescriptorTable> table_;
  const DescriptorTable::Place place_;
  const int descriptor_;
};

}  // namespace tidemark::platform::native
