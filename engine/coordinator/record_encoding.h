#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/invariant.h"
#include "protocol/fields.h"
#include "protocol/framing.h"

namespace tidemark::coordinator {

/// Key of a coordinator's record, behind its type. Texts in it are shorter than any that could fail (checked before).
template <class Key>
ByteVector encodedKey(const Key& key) {
  Result<ByteVector> encoded = protocol::encodeCoordinatorKey(key);
  TIDEMARK_INVARIANT(encoded.has_value(), encoded.error().message);
  return std::move(*encoded);
}

/// Key of a record about a group as a whole. `Key`: a message with `groupId`.
template <class Key>
ByteVector keyOfGroup(std::string_view groupId) {
  Key key;
  key.groupId = protocol::Text::borrowed(groupId);
  return encodedKey(key);
}

/// Key of a record about one of its members.
template <class Key>
ByteVector keyOfMember(std::string_view groupId, std::string_view memberId) {
  Key key;
  key.groupId = protocol::Text::borrowed(groupId);
  key.memberId = protocol::Text::borrowed(memberId);
  return encodedKey(key);
}

/// What may be none, as a value to encode; `text` must outlive it.
inline std::optional<protocol::Text> borrowedText(const std::optional<std::string>& text) {
  return text ? std::optional(protocol::Text::borrowed(*text)) : std::nullopt;
}

/// Value of a coordinator's record, behind its version.
template <class Value>
ByteVector encodedValue(const Value& value, int16_t version) {
  Result<ByteVector> encoded = protocol::encodeVersioned(value, version);
  TIDEMARK_INVARIANT(encoded.has_value(), encoded.error().message);
  return std::move(*encoded);
}

}  // namespace tidemark::coordinator
