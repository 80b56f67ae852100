#include <gmock/gmock.h>

#include <functional>

#include "inspect_fixture.h"
#include "log/lookup_trace.h"

namespace tidemark::inspect {
namespace {

using log::LookupStep;
using Kind = LookupStep::Kind;

std::vector<LookupStep> stepsOf(const Lookup& lookup, Kind kind) {
  std::vector<LookupStep> found;
  for (const LookupStep& step : lookup.trace.steps())
    if (step.kind == kind) found.push_back(step);
  return found;
}

class PartitionViewTest : public InspectFixture {
 protected:
  /// Three segments of 40 batches, two records each.
  void SetUp() override {
    openLog();
    for (int segment = 0; segment < 3; ++segment) {
      appendMany(40);
      if (segment == 2) break;
      ASSERT_TRUE(log_->roll());
    }
  }
};

TEST_F(PartitionViewTest, aFolderIsListedAsItsLogSeesIt) {
  const auto live = PartitionView::of(log_, *process_);
  const auto stored = view();
  EXPECT_TRUE(live->live());
  EXPECT_FALSE(stored->live());
  EXPECT_EQ(stored->partition(), (TopicPartition{"orders", PartitionIndex(0)}));
  EXPECT_EQ(stored->bounds().logEndOffset.offset, Offset(240));
  const auto ofLog = live->segments();
  const auto ofFolder = stored->segments();
  ASSERT_EQ(ofLog.size(), 3u);
  ASSERT_EQ(ofFolder.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(ofFolder[i].baseOffset, Offset(static_cast<int64_t>(i) * 80));
    EXPECT_EQ(ofFolder[i].endOffset, Offset(static_cast<int64_t>(i) * 80 + 80));
    EXPECT_EQ(ofFolder[i].bytes, ofLog[i].bytes);
    EXPECT_EQ(ofFolder[i].fileBytes, ofFolder[i].bytes);
    // The newest of the active one are not in its file yet.
    EXPECT_EQ(ofFolder[i].offsetEntries == ofLog[i].offsetEntries, i < 2);
    EXPECT_EQ(ofFolder[i].timeEntries == ofLog[i].timeEntries, i < 2);
    EXPECT_GT(ofLog[i].offsetEntries.value(), 10u);
    EXPECT_EQ(ofFolder[i].maxTimestampMs, ofLog[i].maxTimestampMs);
    EXPECT_EQ(ofFolder[i].firstTimestampMs, 1'700'000'000'001 + static_cast<int64_t>(i) * 40'000);
    EXPECT_EQ(ofFolder[i].active, i == 2);
  }
}

TEST_F(PartitionViewTest, everyLookupByOffsetFindsItsBatchAndSaysHow) {
  for (const auto& looked : {PartitionView::of(log_, *process_), view()}) {
    for (int64_t offset = 0; offset < 240; ++offset) {
      const Lookup lookup = looked->lookupOffset(Offset(offset));
      ASSERT_FALSE(lookup.error) << lookup.error->message;
      ASSERT_TRUE(lookup.batch);
      EXPECT_LE(lookup.batch->header.baseOffset, Offset(offset));
      EXPECT_GE(lookup.batch->header.lastOffset(), Offset(offset));
      const auto chosen = stepsOf(lookup, Kind::SegmentChosen);
      ASSERT_EQ(chosen.size(), 1u);
      EXPECT_EQ(chosen[0].segmentBase, Offset(offset / 80 * 80));
      EXPECT_EQ(chosen[0].count, 3u);
      // Each probe halves what is possible, and the floor entry is where the last one left it.
      size_t low = 0;
      const auto segment = looked->segments()[static_cast<size_t>(offset / 80)];
      size_t high = segment.offsetEntries.value();
      for (const LookupStep& probe : stepsOf(lookup, Kind::Probe)) {
        EXPECT_EQ(probe.index, LookupStep::Index::Offset);
        EXPECT_EQ(probe.low, low);
        EXPECT_EQ(probe.high, high);
        EXPECT_EQ(probe.taken, probe.offset <= Offset(offset));
        (probe.taken ? low : high) = probe.taken ? probe.entry + 1 : probe.entry;
      }
      EXPECT_EQ(low, high);
      const auto begins = stepsOf(lookup, Kind::ScanBegins);
      ASSERT_EQ(begins.size(), 1u);
      if (low == 0) {
        EXPECT_EQ(stepsOf(lookup, Kind::NoFloorEntry).size(), 1u);
        EXPECT_EQ(begins[0].position, 0);
      } else {
        const auto floor = stepsOf(lookup, Kind::FloorEntry);
        ASSERT_EQ(floor.size(), 1u);
        EXPECT_EQ(floor[0].entry, low - 1);
        EXPECT_EQ(begins[0].position, floor[0].position);
      }
      const auto scanned = stepsOf(lookup, Kind::BatchScanned);
      ASSERT_FALSE(scanned.empty());
      EXPECT_EQ(scanned[0].position, begins[0].position);
      EXPECT_TRUE(scanned.back().taken);
      EXPECT_EQ(static_cast<uint64_t>(scanned.back().position), lookup.batch->position);
    }
  }
}

TEST_F(PartitionViewTest, aLookupByTimeFindsTheRecordAndSaysHow) {
  const auto stored = view();
  for (int64_t batch = 0; batch < 120; ++batch) {
    const Lookup lookup = stored->lookupTimestamp(1'700'000'000'001 + batch * 1000);
    ASSERT_TRUE(lookup.record);
    EXPECT_EQ(lookup.record->offset, Offset(batch * 2 + 1)) << "the record, not its batch";
    EXPECT_EQ(stepsOf(lookup, Kind::SegmentSkipped).size(), static_cast<size_t>(batch / 40));
    const auto found = stepsOf(lookup, Kind::RecordFound);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].entry, 1u);
    EXPECT_EQ(found[0].offset, Offset(batch * 2 + 1));
    EXPECT_EQ(static_cast<uint64_t>(found[0].position), lookup.batch->position);
  }
  const Lookup none = stored->lookupTimestamp(1'800'000'000'000);
  EXPECT_FALSE(none.record);
  EXPECT_EQ(stepsOf(none, Kind::SegmentSkipped).size(), 3u);
  const Lookup largest = stored->lookupTimestamp(log::kMaxTimestamp);
  ASSERT_TRUE(largest.record);
  EXPECT_EQ(largest.record->offset, Offset(239));
  EXPECT_EQ(stepsOf(largest, Kind::SegmentChosen).size(), 1u);
  const Lookup earliest = stored->lookupTimestamp(log::kEarliestTimestamp);
  EXPECT_EQ(stepsOf(earliest, Kind::KnownOffset).size(), 1u);
}

TEST_F(PartitionViewTest, outsideTheLogALookupSaysSo) {
  const auto stored = view();
  const Lookup beyond = stored->lookupOffset(Offset(241));
  ASSERT_TRUE(beyond.error);
  EXPECT_EQ(beyond.error->code, ErrorCode::OffsetOutOfRange);
  const Lookup end = stored->lookupOffset(Offset(240));
  EXPECT_FALSE(end.error);
  EXPECT_FALSE(end.batch);
  EXPECT_EQ(stepsOf(end, Kind::KnownOffset).size(), 1u);
}

TEST_F(PartitionViewTest, indexEntriesComeByThePage) {
  const auto stored = view();
  const auto all = stored->offsetIndex(Offset(80), 0, 1000);
  ASSERT_TRUE(all);
  const auto page = stored->offsetIndex(Offset(80), 3, 4);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->total, all->entries.size());
  EXPECT_THAT(page->entries, testing::ElementsAreArray(all->entries.begin() + 3, all->entries.begin() + 7));
  EXPECT_EQ(log_->offsetIndexEntries(Offset(80), 0, 1000).value(), all->entries);
  EXPECT_EQ(log_->timeIndexEntries(Offset(80), 0, 1000).value(), stored->timeIndex(Offset(80), 0, 1000)->entries);
  EXPECT_TRUE(stored->offsetIndex(Offset(80), 1'000'000, 5)->entries.empty());
  // The newest entries of a live log are not in its file yet.
  const auto live = PartitionView::of(log_, *process_);
  const auto newest = live->offsetIndex(Offset(160), 2, 1000);
  EXPECT_EQ(newest->total, live->segments()[2].offsetEntries);
  EXPECT_EQ(newest->entries.size(), newest->total - 2);
  EXPECT_EQ(live->timeIndex(Offset(160), 0, 1000)->entries, log_->timeIndexEntries(Offset(160), 0, 1000).value());
  EXPECT_EQ(stored->abortedIndex(Offset(80), 0, 5)->total, 0u);
}

TEST_F(PartitionViewTest, batchesAndTheirRecordsComeByThePage) {
  const auto stored = view();
  const auto first = stored->batches(Offset(80), 0, 30);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->batches.size(), 30u);
  ASSERT_TRUE(first->next);
  const auto rest = stored->batches(Offset(80), *first->next, 30);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->batches.size(), 10u);
  EXPECT_FALSE(rest->next);
  EXPECT_FALSE(rest->damagedAt);
  const auto records = stored->records(Offset(80), rest->batches[0].position, 1, 10);
  ASSERT_TRUE(records);
  EXPECT_EQ(records->total, 2u);
  ASSERT_EQ(records->records.size(), 1u);
  const RecordFields& record = records->records[0];
  EXPECT_EQ(record.offset, Offset(141));
  EXPECT_EQ(asText(record.key->view()), "key-1");
  EXPECT_EQ(asText(record.value->view()), std::string(100, 'b'));
  ASSERT_EQ(record.headers.size(), 1u);
  EXPECT_EQ(record.headers[0].key, "trace");
  EXPECT_EQ(asText(record.headers[0].value->view()), "on");
}

TEST_F(PartitionViewTest, lookingChangesNothing) {
  const auto names = [this] {
    std::vector<std::pair<std::string, uint64_t>> found;
    const auto entries = process_->files().list("/data/orders-0");
    for (const auto& entry : *entries) found.emplace_back(entry.name, entry.size);
    return found;
  };
  closeLog();
  // Padded as by a broker that was killed, an index missing, and a torn tail.
  ByteVector index = bytes(file(160, ".index"));
  index.resize(4096);
  write(file(160, ".index"), index);
  ASSERT_TRUE(process_->files().remove(file(0, ".timeindex")));
  ByteVector log = bytes(file(160, ".log"));
  log.resize(log.size() - 5);
  write(file(160, ".log"), log);
  const auto before = names();

  const auto stored = view();
  EXPECT_EQ(stored->bounds().logEndOffset.offset, Offset(238)) << "behind the last whole batch";
  EXPECT_EQ(stored->segments()[2].fileBytes - stored->segments()[2].bytes, log.size() / 40 - 5 + 1);
  const Lookup lookup = stored->lookupOffset(Offset(79));
  EXPECT_EQ(stepsOf(lookup, Kind::IndexUnusable).size(), 1u);
  EXPECT_EQ(lookup.batch->header.baseOffset, Offset(78));
  EXPECT_TRUE(stored->check(Offset(0)));
  EXPECT_TRUE(stored->batches(Offset(160), 0, 100)->damagedAt);
  EXPECT_EQ(names(), before);
  EXPECT_EQ(bytes(file(160, ".index")).size(), 4096u);
}

TEST_F(PartitionViewTest, anEntryThatIsNotTrueIsToldAndLeadsNobodyAstray) {
  closeLog();
  const std::string path = file(80, ".index");
  poke(path, 4, readBigEndian<int32_t>(bytes(path).data() + 4) + 9);
  const ByteVector damaged = bytes(path);
  const Offset entry = Offset(80) + readBigEndian<int32_t>(damaged.data());
  const auto stored = view();
  const Lookup lookup = stored->lookupOffset(entry.next());
  const auto told = stepsOf(lookup, Kind::EntryFalse);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].index, LookupStep::Index::Offset);
  EXPECT_EQ(told[0].offset, entry);
  EXPECT_EQ(told[0].segmentBase, Offset(80));
  EXPECT_EQ(stepsOf(lookup, Kind::BatchScanned)[0].position, 0) << "from the segment's front";
  EXPECT_EQ(lookup.batch->header.baseOffset, entry.next());
  EXPECT_EQ(bytes(path), damaged) << "who only looks changes nothing";
}

TEST_F(PartitionViewTest, aSingleFileUnderAnotherNameIsRead) {
  closeLog();
  ASSERT_TRUE(process_->files().rename(file(80, ".log"), file(80, ".log.deleted")));
  ASSERT_TRUE(process_->files().rename(file(80, ".index"), file(80, ".index.deleted")));
  write("/data/copy.bin", bytes(file(160, ".log")));
  const auto deleted = view(file(80, ".log.deleted"));
  ASSERT_EQ(deleted->segments().size(), 1u);
  EXPECT_EQ(deleted->bounds().logEndOffset.offset, Offset(160));
  EXPECT_EQ(deleted->lookupOffset(Offset(99)).batch->header.baseOffset, Offset(98));
  const auto copy = view("/data/copy.bin");
  EXPECT_EQ(copy->segments()[0].baseOffset, Offset(160));
  EXPECT_EQ(copy->lookupOffset(Offset(239)).batch->header.baseOffset, Offset(238));

  write("/data/other", asBytes("this is no log of anybody's, is it"));
  const auto none = PartitionView::open(*process_, "/data/other");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, testing::HasSubstr("does not begin with a record batch"));
  EXPECT_FALSE(PartitionView::open(*process_, "/data/nothing"));
}

TEST_F(PartitionViewTest, aBatchIsTakenApartToItsLastByte) {
  append({.count = 3, .codec = records::Codec::Zstd});
  const auto stored = view();
  const auto segment = stored->segments().back();
  const auto page = stored->batches(segment.baseOffset, 0, 1000);
  for (const BatchSummary& batch : page->batches) {
    const auto anatomy = stored->anatomy(segment.baseOffset, batch.position);
    ASSERT_TRUE(anatomy);
    EXPECT_TRUE(anatomy->crcValid);
    EXPECT_EQ(anatomy->problem, "");
    size_t at = 0;
    for (const AnatomyField& field : anatomy->headerFields) {
      EXPECT_EQ(field.begin, at) << field.name;
      at = field.end;
    }
    EXPECT_EQ(at, anatomy->bytes.size());
    EXPECT_EQ(anatomy->recordFields.size(), static_cast<size_t>(batch.header.recordCount));
    const std::function<void(const AnatomyField&)> expectCovered = [&](const AnatomyField& field) {
      if (field.children.empty()) return;
      size_t inside = field.begin;
      for (const AnatomyField& child : field.children) {
        EXPECT_EQ(child.begin, inside) << field.name << "." << child.name;
        inside = child.end;
        expectCovered(child);
      }
      EXPECT_EQ(inside, field.end) << field.name;
    };
    at = 0;
    for (const AnatomyField& record : anatomy->recordFields) {
      EXPECT_EQ(record.begin, at);
      at = record.end;
      expectCovered(record);
    }
    EXPECT_EQ(at, anatomy->records.size());
  }
  const auto last = stored->anatomy(segment.baseOffset, page->batches.back().position);
  EXPECT_TRUE(last->compressed);
  EXPECT_EQ(last->headerFields[5].note, "zstd, CreateTime");
}

TEST_F(PartitionViewTest, eachFieldOfABatchSaysWhatItIs) {
  const auto stored = view();
  const auto page = stored->batches(Offset(80), 0, 1);
  ASSERT_TRUE(page);
  const auto anatomy = stored->anatomy(Offset(80), page->batches.at(0).position);
  ASSERT_TRUE(anatomy);
  ASSERT_EQ(anatomy->headerFields.size(), 14u);
  for (size_t i = 0; i < anatomy->headerFields.size(); ++i)
    EXPECT_EQ(anatomy->headerFields[i].name, nameOf(anatomy->headerFields[i].kind)) << i;
  EXPECT_EQ(anatomy->headerFields[4].kind, FieldKind::Crc);
  EXPECT_EQ(anatomy->headerFields[13].kind, FieldKind::Records);
  std::vector<FieldKind> kinds;
  std::vector<std::string> names;
  const std::function<void(const AnatomyField&)> take = [&](const AnatomyField& field) {
    kinds.push_back(field.kind);
    names.push_back(field.name);
    for (const AnatomyField& child : field.children) take(child);
  };
  take(anatomy->recordFields.at(1));
  using F = FieldKind;
  EXPECT_THAT(kinds,
              testing::ElementsAre(F::Record, F::RecordLength, F::RecordAttributes, F::TimestampDelta, F::OffsetDelta,
                                   F::KeyLength, F::Key, F::ValueLength, F::Value, F::HeadersCount, F::Header,
                                   F::HeaderKeyLength, F::HeaderKey, F::HeaderValueLength, F::HeaderValue));
  EXPECT_THAT(names, testing::ElementsAre("[1]", "length", "attributes", "timestampDelta", "offsetDelta", "keyLength",
                                          "key", "valueLength", "value", "headersCount", "headers[0]", "keyLength",
                                          "key", "valueLength", "value"));
}

}  // namespace
}  // namespace tidemark::inspect
