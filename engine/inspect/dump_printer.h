#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "inspect/dump.h"
#include "inspect/finding.h"
#include "log/epoch_cache.h"
#include "log/producer_state.h"
#include "log/txn_index.h"
#include "records/message_set.h"
#include "records/record.h"

namespace tidemark::inspect {

/// Writes the lines of a dump. Told file by file, things in the order in which they stand in it.
class DumpPrinter {
 public:
  virtual ~DumpPrinter() = default;

  /// `kind`: "log", "checkpoint", "index", "timeindex", "txnindex", "snapshot", …
  virtual void file(const std::string& path, std::string_view kind) = 0;
  virtual void logBegins(Offset base) = 0;
  virtual void snapshotBegins(Offset endOffset, LeaderEpoch epoch) = 0;
  virtual void batch(const records::BatchView& batch, uint64_t position, bool valid) = 0;
  virtual void oldBatch(const records::OldBatch& batch, uint64_t position) = 0;
  /// `shown`: key and value as well; else only what Kafka's --deep-iteration tells.
  virtual void record(const records::BatchHeader& batch, const records::RecordView& record, RecordSchema schema,
                      bool shown) = 0;
  virtual void oldRecord(const records::OldMessage& message, bool shown) = 0;
  virtual void offsetEntry(size_t number, const log::OffsetIndexEntry& entry) = 0;
  virtual void timeEntry(size_t number, const log::TimeIndexEntry& entry) = 0;
  virtual void abortedEntry(const log::AbortedTxn& entry) = 0;
  virtual void producer(const log::ProducerEntry& producer) = 0;
  virtual void epoch(const log::EpochEntry& entry) = 0;
  virtual void checkpointed(const TopicPartition& partition, Offset offset) = 0;
  virtual void property(std::string_view key, std::string_view value) = 0;
  virtual void finding(const Finding& finding) = 0;
  /// The file was checked; `errors` and `findings` were told.
  virtual void checked(const std::string& path, std::string_view kind, int64_t findings, bool empty) = 0;
};

std::unique_ptr<DumpPrinter> makeTextPrinter(const LineSink& sink);
std::unique_ptr<DumpPrinter> makeJsonPrinter(const LineSink& sink);

/// A finding as text: a line that says what and where, then what was expected, what was found, the bytes, the advice.
std::string findingText(const Finding& finding, std::string_view indent = "  ");
/// The same as an object of JSON.
std::string findingJson(const Finding& finding);

}  // namespace tidemark::inspect
