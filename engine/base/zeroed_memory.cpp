#include "base/zeroed_memory.h"

#include <sys/mman.h>

#include <new>

namespace tidemark {
namespace {

void* takePages(size_t bytes) {
  void* const pages =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  // A wish: small pages do as well.
  static_cast<void>(::madvise(pages, bytes, MADV_HUGEPAGE));
  return pages;
}

}  // namespace

ZeroedMemory::ZeroedMemory(size_t bytes) : bytes_(bytes), data_(takePages(bytes)) {}

ZeroedMemory::~ZeroedMemory() {
  ::munmap(data_, bytes_);
}

}  // namespace tidemark
