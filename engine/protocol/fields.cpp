#include "protocol/fields.h"

#include <cstring>
#include <ostream>

#include "base/invariant.h"

namespace tidemark::protocol {
namespace detail {

Held::Held(const void* data, size_t size) {
  if (size == 0) return;
  TIDEMARK_INVARIANT(size <= UINT32_MAX, fmt::format("a field of {} bytes", size));
  auto* copy = new uint8_t[size];
  std::memcpy(copy, data, size);
  data_ = copy;
  size_ = static_cast<uint32_t>(size);
  owned_ = true;
}

Held& Held::operator=(const Held& other) {
  if (this != &other) *this = Held(other);
  return *this;
}

Held& Held::operator=(Held&& other) noexcept {
  if (this == &other) return *this;
  if (owned_) release();
  data_ = other.data_;
  size_ = other.size_;
  owned_ = other.owned_;
  other.forget();
  return *this;
}

void Held::release() noexcept {
  delete[] data_;  // NOLINT(clang-analyzer-cplusplus.NewDelete): what was given away is forgotten, which it does not
                   // see
}

}  // namespace detail

void PrintTo(const Text& text, std::ostream* out) {
  *out << '"' << text.view() << '"';
}
void PrintTo(const Blob& blob, std::ostream* out) {
  *out << blob.size() << " bytes";
  for (const uint8_t byte : blob.view()) *out << fmt::format(" {:02x}", byte);
}

}  // namespace tidemark::protocol
