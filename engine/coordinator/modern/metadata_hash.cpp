#include "coordinator/modern/metadata_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"

namespace tidemark::coordinator {
namespace {

/// Which way of hashing a topic it is.
constexpr uint8_t kTopicHashMagic = 0;

/// Bytes as the library that Kafka uses (hash4j) feeds them to XXH3: numbers little-endian, texts as UTF-16 followed by
/// their length.
class HashBytes {
 public:
  void int8(uint8_t value) { bytes_.push_back(value); }
  void int32(uint32_t value) { little(value, 4); }
  void int64(uint64_t value) { little(value, 8); }
  void text(std::string_view utf8) {
    int32(units(utf8, [this](uint16_t unit) { little(unit, 2); }));
  }
  static uint32_t length(std::string_view utf8) {
    return units(utf8, [](uint16_t) {});
  }
  int64_t hash() const { return static_cast<int64_t>(XXH3_64bits(bytes_.data(), bytes_.size())); }

 private:
  void little(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  /// Calls `use` for each UTF-16 unit and returns how many there were.
  template <class Use>
  static uint32_t units(std::string_view utf8, const Use& use) {
    uint32_t count = 0;
    for (size_t i = 0; i < utf8.size();) {
      const auto lead = static_cast<uint8_t>(utf8[i]);
      const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      uint32_t point = length == 1 ? lead : lead & (0xFFU >> (length + 1));
      for (size_t j = 1; j < length && i + j < utf8.size(); ++j) {
        point = point << 6 | (static_cast<uint8_t>(utf8[i + j]) & 0x3FU);
      }
      i += length;
      if (point >= 0x10000) {
        point -= 0x10000;
        use(static_cast<uint16_t>(0xD800 + (point >> 10)));
        use(static_cast<uint16_t>(0xDC00 + (point & 0x3FF)));
        count += 2;
      } else {
        use(static_cast<uint16_t>(point));
        ++count;
      }
    }
    return count;
  }

  ByteVector bytes_;
};

uint64_t bigEndian(const uint8_t* bytes) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | bytes[i];
  return value;
}

}  // namespace

int64_t topicHash(const TopicFacts& topic) {
  HashBytes bytes;
  bytes.int8(kTopicHashMagic);
  bytes.int64(bigEndian(topic.id.bytes().data()));
  bytes.int64(bigEndian(topic.id.bytes().data() + 8));
  bytes.text(topic.name);
  bytes.int32(static_cast<uint32_t>(topic.partitionCount()));
  for (size_t i = 0; i < topic.racks.size(); ++i) {
    bytes.int32(static_cast<uint32_t>(i));
    for (const std::string& rack : topic.racks[i]) {
      bytes.int32(HashBytes::length(rack));
      bytes.text(rack);
    }
  }
  return bytes.hash();
}

int64_t TopicHashes::of(const std::string& topic) {
  const auto found = hashes_.find(topic);
  if (found != hashes_.end()) return found->second;
  const auto facts = topics_.topic(topic);
  return hashes_.emplace(topic, facts ? topicHash(*facts) : 0).first->second;
}

int64_t TopicHashes::ofGroup(const std::set<std::string>& topics) {
  HashBytes bytes;
  bool any = false;
  for (const std::string& topic : topics) {
    const int64_t hash = of(topic);
    if (hash == 0) continue;
    any = true;
    bytes.int64(static_cast<uint64_t>(hash));
  }
  return any ? bytes.hash() : 0;
}

void TopicHashes::forget(std::string_view topic) {
  const auto found = hashes_.find(topic);
  if (found != hashes_.end()) hashes_.erase(found);
}

}  // namespace tidemark::coordinator
