#pragma once

#include <cstdlib>
#include <new>

// For the one file of a program that counts what the program allocates: its own operators. The file declares before it
// includes this what is to be done at each, `static void onAllocation(size_t size)`.

static void* allocateAndTell(size_t size) {
  onAllocation(size);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void* operator new(size_t size) {
  return allocateAndTell(size);
}
void* operator new[](size_t size) {
  return allocateAndTell(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}
