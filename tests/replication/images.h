#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "metadata/delta.h"
#include "metadata/records.h"
#include "replication/replica_manager.h"

namespace tidemark::replication {

/// The images that broker 1 makes of metadata records.
struct Images {
  metadata::ImagePtr newest = std::make_shared<const metadata::Image>();
  int64_t offset = 0;

  /// What these records change of the newest.
  MetadataChange take(const metadata::Records& records) {
    metadata::Delta delta(newest);
    for (const metadata::Record& record : records) {
      const auto replayed = delta.replay(record);
      EXPECT_TRUE(replayed) << (replayed ? "" : replayed.error().message);
    }
    newest = delta.apply(
        {.lastContainedOffset = Offset(++offset), .lastContainedEpoch = LeaderEpoch(1), .lastContainedLogTimeMs = 0});
    return MetadataChange::of(delta, newest, NodeId(1));
  }
};

}  // namespace tidemark::replication
