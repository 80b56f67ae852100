#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/formatting.h"
#include "base/uuid.h"

namespace tidemark {

/// A number that is a name: explicit in, `value()` out, comparable, no arithmetic.
template <class Tag, class Rep>
class Id {
 public:
  using Representation = Rep;
  constexpr Id() = default;
  explicit constexpr Id(Rep value) noexcept : value_(value) {}
  constexpr Rep value() const noexcept { return value_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  Rep value_ = -1;
};

/// `node.id`: of a broker, a controller, or both. -1: none.
using NodeId = Id<struct NodeIdTag, int32_t>;
using PartitionIndex = Id<struct PartitionIndexTag, int32_t>;
/// Drawn anew by the controller at each registration of a broker: the offset of its registration record.
using BrokerEpoch = Id<struct BrokerEpochTag, int64_t>;
/// Raised at every change of a partition's ISR, leader or replicas.
using PartitionEpoch = Id<struct PartitionEpochTag, int32_t>;
using ProducerId = Id<struct ProducerIdTag, int64_t>;
using ProducerEpoch = Id<struct ProducerEpochTag, int16_t>;

inline constexpr NodeId kNoNode{-1};
inline constexpr ProducerId kNoProducerId{-1};

/// Of a partition's leadership, or of the quorum's (Raft calls that a term). -1: none.
class LeaderEpoch {
 public:
  constexpr LeaderEpoch() = default;
  explicit constexpr LeaderEpoch(int32_t value) noexcept : value_(value) {}
  constexpr int32_t value() const noexcept { return value_; }
  constexpr LeaderEpoch next() const noexcept { return LeaderEpoch(value_ + 1); }
  friend constexpr auto operator<=>(LeaderEpoch, LeaderEpoch) = default;

 private:
  int32_t value_ = -1;
};
inline constexpr LeaderEpoch kNoLeaderEpoch{-1};

/// A record's place in its partition. Offset − Offset is a count; Offset + count is an Offset. At the ends of 64 bits
/// both wrap around: bytes of others name any offset, and it is looked at before it is believed.
class Offset {
 public:
  constexpr Offset() = default;
  explicit constexpr Offset(int64_t value) noexcept : value_(value) {}
  constexpr int64_t value() const noexcept { return value_; }
  constexpr Offset next() const noexcept { return *this + 1; }
  friend constexpr auto operator<=>(Offset, Offset) = default;
  friend constexpr Offset operator+(Offset a, int64_t count) noexcept { return Offset(sum(a.value_, count)); }
  friend constexpr Offset operator-(Offset a, int64_t count) noexcept { return Offset(difference(a.value_, count)); }
  friend constexpr int64_t operator-(Offset a, Offset b) noexcept { return difference(a.value_, b.value_); }

 private:
  static constexpr int64_t sum(int64_t a, int64_t b) noexcept {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
  static constexpr int64_t difference(int64_t a, int64_t b) noexcept {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }

  int64_t value_ = -1;
};
inline constexpr Offset kNoOffset{-1};

/// An offset together with the leader epoch of the record before it or at it; orders by epoch first, as Raft does.
struct OffsetAndEpoch {
  Offset offset;
  LeaderEpoch epoch;
  friend constexpr bool operator==(const OffsetAndEpoch&, const OffsetAndEpoch&) = default;
};

struct TopicPartition {
  std::string topic;
  PartitionIndex partition;
  friend auto operator<=>(const TopicPartition&, const TopicPartition&) = default;
  friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
};

struct TopicIdPartition {
  Uuid topicId;
  PartitionIndex partition;
  friend auto operator<=>(const TopicIdPartition&, const TopicIdPartition&) = default;
  friend bool operator==(const TopicIdPartition&, const TopicIdPartition&) = default;
};

}  // namespace tidemark

template <class Tag, class Rep>
struct std::hash<tidemark::Id<Tag, Rep>> {
  size_t operator()(tidemark::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value()); }
};
template <>
struct std::hash<tidemark::TopicPartition> {
  size_t operator()(const tidemark::TopicPartition& key) const noexcept {
    return std::hash<std::string>{}(key.topic) * 31 + static_cast<size_t>(key.partition.value());
  }
};
template <>
struct std::hash<tidemark::TopicIdPartition> {
  size_t operator()(const tidemark::TopicIdPartition& key) const noexcept {
    return std::hash<tidemark::Uuid>{}(key.topicId) * 31 + static_cast<size_t>(key.partition.value());
  }
};

template <class Tag, class Rep>
struct fmt::formatter<tidemark::Id<Tag, Rep>> : tidemark::PlainFormatter {
  auto format(tidemark::Id<Tag, Rep> id, format_context& context) const { return put(id.value(), context); }
};
template <>
struct fmt::formatter<tidemark::LeaderEpoch> : tidemark::PlainFormatter {
  auto format(tidemark::LeaderEpoch epoch, format_context& context) const { return put(epoch.value(), context); }
};
template <>
struct fmt::formatter<tidemark::Offset> : tidemark::PlainFormatter {
  auto format(tidemark::Offset offset, format_context& context) const { return put(offset.value(), context); }
};
template <>
struct fmt::formatter<tidemark::TopicPartition> : tidemark::PlainFormatter {
  auto format(const tidemark::TopicPartition& key, format_context& context) const {
    return put(fmt::format("{}-{}", key.topic, key.partition.value()), context);
  }
};
template <>
struct fmt::formatter<tidemark::TopicIdPartition> : tidemark::PlainFormatter {
  auto format(const tidemark::TopicIdPartition& key, format_context& context) const {
    return put(fmt::format("{}:{}", key.topicId.toString(), key.partition.value()), context);
  }
};
