#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "base/ids.h"

namespace tidemark::events {

/// Up to N − 1 bytes of text inside an event; what does not fit is cut off and shown by `cut()`.
template <size_t N>
class ShortText {
 public:
  static_assert(N >= 2 && N <= 256);
  constexpr ShortText() = default;
  // Implicit, so that events can be written as aggregates.
  constexpr ShortText(std::string_view text) noexcept {
    const size_t length = std::min(text.size(), N - 2);
    std::copy_n(text.begin(), length, bytes_.data());
    length_ = static_cast<uint8_t>(length);
    cut_ = text.size() > length;
  }
  constexpr ShortText(const char* text) noexcept : ShortText(std::string_view(text)) {}
  constexpr std::string_view view() const noexcept { return {bytes_.data(), length_}; }
  constexpr bool cut() const noexcept { return cut_; }

 private:
  uint8_t length_ = 0;
  bool cut_ = false;
  std::array<char, N - 2> bytes_{};
};

/// Broker ids of an ISR. Holds the first seven; `total()` counts all of them.
class NodeList {
 public:
  static constexpr size_t kCapacity = 7;
  constexpr NodeList() = default;
  constexpr NodeList(std::initializer_list<NodeId> nodes) noexcept : NodeList(std::span(nodes.begin(), nodes.size())) {}
  explicit constexpr NodeList(std::span<const NodeId> nodes) noexcept : total_(static_cast<int32_t>(nodes.size())) {
    std::copy_n(nodes.begin(), std::min(nodes.size(), kCapacity), nodes_.begin());
  }
  constexpr std::span<const NodeId> view() const noexcept {
    return std::span(nodes_).first(std::min(static_cast<size_t>(total_), kCapacity));
  }
  constexpr int32_t total() const noexcept { return total_; }

 private:
  int32_t total_ = 0;
  std::array<NodeId, kCapacity> nodes_{};
};

/// A topic name that a Recorder has interned (Recorder::topic). 0: none. Means something only beside that Recorder.
using TopicTag = Id<struct TopicTagTag, int32_t>;
inline constexpr TopicTag kNoTopicTag{0};

struct PartitionTag {
  TopicTag topic = kNoTopicTag;
  PartitionIndex partition;
  friend bool operator==(const PartitionTag&, const PartitionTag&) = default;
};

}  // namespace tidemark::events
