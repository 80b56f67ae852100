#pragma once

#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/invariant.h"
#include "protocol/framing.h"

namespace tidemark::coordinator {

/// Key of a coordinator's record, behind its type. Texts in it are shorter than any that could fail (checked before).
template <class Key>
ByteVector encodedKey(const Key& key) {
  Result<ByteVector> encoded = protocol::encodeCoordinatorKey(key);
  TIDEMARK_INVARIANT(encoded.has_value(), encoded.error().message);
  return std::move(*encoded);
}

/// Value of a coordinator's record, behind its version.
template <class Value>
ByteVector encodedValue(const Value& value, int16_t version) {
  Result<ByteVector> encoded = protocol::encodeVersioned(value, version);
  TIDEMARK_INVARIANT(encoded.has_value(), encoded.error().message);
  return std::move(*encoded);
}

}  // namespace tidemark::coordinator
