#pragma once

#include <QString>

namespace tidemark::widgets {

/// Client ids of the window's own producer and consumer begin with this, so that they can be told from clients outside.
inline constexpr const char* kOwnClientPrefix = "tidemark-window";

struct ProduceOptions {
  QString bootstrap;
  QString topic;
  /// Records a second; 0: as fast as it goes.
  double rate = 5;
  /// Bytes of a value.
  int size = 200;
  /// How many different keys; 0: records without a key, spread over the partitions.
  int keys = 100;
  /// "all", "1" or "0".
  QString acks = QStringLiteral("all");
  /// "none", "gzip", "snappy", "lz4", "zstd".
  QString codec = QStringLiteral("none");
  bool idempotent = false;
  /// Every so many-th record has a key and no value: a tombstone. 0: none.
  int tombstoneEvery = 0;
  /// How long records wait for others to share a batch with.
  int lingerMs = 5;
};

struct ConsumeOptions {
  QString bootstrap;
  QString topic;
  /// -1: all of them.
  int partition = -1;
  bool fromBeginning = true;
  /// Only committed records of transactions, as Kafka's default for Java consumers is not.
  bool readCommitted = false;
};

}  // namespace tidemark::widgets
