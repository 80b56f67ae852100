#pragma once

#include <cstddef>
#include <cstdint>

#include "coordinator/consumer/consumer_config.h"
#include "coordinator/share/share_groups.h"
#include "events/recorder.h"
#include "platform/clock.h"
#include "records/codec.h"

namespace tidemark::coordinator {

/// Kafka's settings of the group coordinator, under their names and with their defaults; and where its events go.
struct GroupConfig {
  /// `group.min.session.timeout.ms`, `group.max.session.timeout.ms`
  platform::milliseconds minSessionTimeout{6000};
  platform::milliseconds maxSessionTimeout{1800000};
  /// `group.initial.rebalance.delay.ms`
  platform::milliseconds initialRebalanceDelay{3000};
  /// `group.max.size`
  int32_t maxGroupSize = INT32_MAX;
  /// How long the JoinGroup of a new member stays parked (no setting: five minutes in Kafka as well).
  platform::milliseconds newMemberJoinTimeout{300000};
  /// `offset.metadata.max.bytes`, which Kafka compares with the number of UTF-16 units in spite of its name.
  size_t offsetMetadataMax = 4096;
  /// `offsets.retention.minutes`, `offsets.retention.check.interval.ms`
  platform::milliseconds offsetsRetention{10080 * 60000LL};
  platform::milliseconds offsetsRetentionCheckInterval{600000};
  /// `offsets.commit.timeout.ms`: how long a write may take to be committed.
  platform::milliseconds commitTimeout{5000};
  /// `offsets.load.buffer.size`: read at a time while a partition is loaded.
  size_t loadBufferSize = 5242880;
  /// `offsets.topic.compression.codec`
  records::Codec codec = records::Codec::None;

  /// `group.consumer.*`
  ConsumerGroupConfig consumer;
  ShareGroupsEnvironment share;

  /// What groups do is told there. May be null; outlives the coordinator.
  events::Recorder* recorder = nullptr;
};

}  // namespace tidemark::coordinator
