#pragma once

#include <cstddef>

namespace tidemark {

/// Memory of the operating system's own, zeros at first: what is never touched takes none. In large pages where there
/// are such, since a look into many megabytes at random otherwise costs more for finding the page than for reading it.
class ZeroedMemory {
 public:
  /// At least one byte. std::bad_alloc if there is no such room.
  explicit ZeroedMemory(size_t bytes);
  ~ZeroedMemory();
  ZeroedMemory(const ZeroedMemory&) = delete;
  ZeroedMemory& operator=(const ZeroedMemory&) = delete;

  /// On a page's boundary.
  void* data() const noexcept { return data_; }

 private:
  const size_t bytes_;
  void* const data_;
};

}  // namespace tidemark
