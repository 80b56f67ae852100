#include "targets.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/crc32c.h"
#include "inspect/batch_anatomy.h"
#include "inspect/check.h"
#include "inspect/dump.h"
#include "inspect/named_record.h"
#include "inspect/partition_view.h"
#include "log/checkpoints.h"
#include "log/epoch_cache.h"
#include "log/file_names.h"
#include "log/producer_state.h"
#include "log/txn_index.h"
#include "network/frame_assembler.h"
#include "platform/simulated/world.h"
#include "protocol/framing.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/join_group_request.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/produce_request.h"
#include "protocol/reflect.h"
#include "raft/quorum_state_store.h"
#include "records/batch_builder.h"
#include "records/codec.h"
#include "records/message_set.h"
#include "records/record.h"
#include "records/validator.h"

namespace tidemark::fuzz {
namespace {

/// Bounds what a bomb may cost here.
constexpr size_t kLimit = 1u << 20;

void require(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

// --- batches and codecs ---
void walkRecords(const records::BatchView& batch) {
  ByteVector buffer;
  const auto payload = records::openPayload(batch, buffer, kLimit);
  if (!payload) return;
  records::RecordCursor cursor(batch.header, *payload);
  while (cursor.next() == records::Step::Next) {
    auto headers = cursor.record().headers();
    while (headers.next()) {
    }
    inspect::controlText(cursor.record());
  }
}

void batch(ByteView bytes) {
  records::BatchCursor cursor(bytes);
  while (cursor.next() == records::Step::Next) walkRecords(cursor.batch());
  require(cursor.position() <= bytes.size(), "a cursor stays inside its bytes");

  if (const auto anatomy = inspect::dissect(SharedBytes(ByteVector(bytes.begin(), bytes.end())), 0, 100)) {
    size_t at = 0;
    for (const auto& field : anatomy->headerFields) {
      require(field.begin == at && field.end <= bytes.size(), "a batch's header is covered without a gap");
      at = field.end;
    }
    for (const auto& record : anatomy->recordFields)
      require(record.end <= anatomy->records.size() && record.begin <= record.end, "records lie in the payload");
  }

  // As a broker takes it from a client; with a checksum that fits, or nothing would get further.
  for (const bool fitting : {false, true}) {
    ByteVector own(bytes.begin(), bytes.end());
    if (fitting && own.size() < records::kBatchHeaderSize) break;
    if (fitting) {
      writeBigEndian(own.data() + records::kLengthAt, static_cast<int32_t>(own.size() - records::kLogOverhead));
      own[records::kMagicAt] = records::kMagic;
      records::updateCrc(own);
    }
    const ByteVector before = own;
    records::ProduceOptions options;
    options.decompressedLimit = kLimit;
    options.nowMs = 1'700'000'000'000;
    ByteVector buffer;
    if (!records::validateForProduce(own, options, buffer)) require(own == before, "what is refused is not changed");
  }
}

template <records::Codec codec>
void decompress(ByteView bytes) {
  ByteVector buffer;
  if (const auto plain = records::decompress(codec, bytes, kLimit, buffer))
    require(plain->size() <= kLimit, "nothing grows past the limit");
  ByteVector packed;
  if (!records::compress(codec, records::kDefaultLevel, bytes, packed)) return;
  const auto back = records::decompress(codec, packed, std::max(kLimit, bytes.size()), buffer);
  require(back.has_value() && std::ranges::equal(*back, bytes), "what was compressed comes back");
}

void oldMessages(ByteView bytes) {
  (void)records::readOldBatch(bytes, kLimit);
  ByteVector buffer;
  (void)records::decompressLz4OfFormat0(bytes, kLimit, buffer);
}

// --- files of a partition ---
/// A folder with a sound segment, made once; a target replaces some of its files.
class Folder {
 public:
  static constexpr const char* kPath = "/data/orders-0";

  Folder() {
    for (int i = 0; i < 20; ++i) {
      records::BatchOptions options;
      options.baseOffset = Offset(i * 2);
      options.leaderEpoch = LeaderEpoch(0);
      options.producerId = ProducerId(5);
      options.producerEpoch = ProducerEpoch(0);
      options.baseSequence = i * 2;
      records::BatchBuilder builder(options);
      for (int k = 0; k < 2; ++k)
        builder.append(1'700'000'000'000 + i, asBytes("key"), asBytes("a value of some bytes"));
      const ByteVector built = builder.build();
      log_.insert(log_.end(), built.begin(), built.end());
    }
    require(process_->files().createDirectories(kPath).has_value(), "the simulated disk works");
  }
  ByteView log() const { return log_; }
  void put(std::string_view suffix, ByteView bytes) {
    const std::string path = log::offsetFilePath(kPath, Offset(0), suffix);
    auto file = process_->files().open(path, platform::OpenMode::Truncate);
    require(file.has_value(), "the simulated disk works");
    if (!bytes.empty()) (void)(*file)->writeAt(0, bytes);
  }
  /// Everything that looks at a segment: none of it changes a byte.
  void look() {
    inspect::CheckOptions options;
    options.active = true;
    options.indexIntervalBytes = 256;
    (void)inspect::checkSegment(process_->files(), kPath, Offset(0), options, [](const inspect::Finding&) {});
    inspect::DumpOptions dumping;
    dumping.records = true;
    (void)inspect::dump(process_->files(), kPath, dumping, [](std::string_view) {});
    const auto view = inspect::PartitionView::open(*process_, kPath);
    if (!view) return;
    const auto segments = (*view)->segments();
    for (const int64_t offset : {0, 7, 39, 40}) {
      const auto lookup = (*view)->lookupOffset(Offset(offset));
      if (lookup.batch)
        require(lookup.batch->header.lastOffset() >= Offset(offset), "a lookup by offset ends at or above it");
    }
    (void)(*view)->lookupTimestamp(1'700'000'000'007);
    (void)(*view)->lookupTimestamp(log::kMaxTimestamp);
    (void)(*view)->records(Offset(0), 0, 0, 10);
    (void)(*view)->abortedIndex(Offset(0), 0, 10);
  }
  static Folder& shared() {
    static Folder folder;
    return folder;
  }
  void restore() {
    put(log::kLogSuffix, log_);
    for (const std::string_view suffix : {log::kOffsetIndexSuffix, log::kTimeIndexSuffix, log::kTxnIndexSuffix})
      put(suffix, {});
  }

 private:
  platform::World world_;
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess("fuzz");
  ByteVector log_;
};

template <const std::string_view& suffix>
void indexFile(ByteView bytes) {
  Folder& folder = Folder::shared();
  folder.restore();
  folder.put(suffix, bytes);
  folder.look();
}

void logFile(ByteView bytes) {
  Folder& folder = Folder::shared();
  folder.restore();
  folder.put(log::kLogSuffix, bytes);
  folder.look();
}

void producerSnapshot(ByteView bytes) {
  constexpr size_t kHeader = 10;
  constexpr size_t kCrcFrom = 6;
  (void)log::decodeProducerSnapshot(bytes);
  ByteVector own(bytes.begin(), bytes.end());
  if (own.size() < kHeader) return;
  writeBigEndian<int16_t>(own.data(), 1);
  writeBigEndian(own.data() + 2, crc32c(ByteView(own).subspan(kCrcFrom)));
  const auto entries = log::decodeProducerSnapshot(own);
  if (!entries) return;
  std::vector<const log::ProducerEntry*> pointers;
  for (const auto& entry : *entries) pointers.push_back(&entry);
  const auto again = log::decodeProducerSnapshot(log::encodeProducerSnapshot(pointers));
  require(again.has_value() && again->size() == entries->size(), "a snapshot that was read can be written and read");
}

void abortedIndex(ByteView bytes) {
  const auto entries = log::decodeAbortedTxns(bytes, Offset(0));
  if (entries)
    require(std::ranges::equal(log::encodeAbortedTxns(*entries), bytes), "an aborted index is written as it was read");
  indexFile<log::kTxnIndexSuffix>(bytes);
}

void checkpoint(ByteView bytes) {
  const std::string_view text = asText(bytes);
  if (const auto offsets = log::decodeOffsetCheckpoint(text)) {
    const auto again = log::decodeOffsetCheckpoint(log::encodeOffsetCheckpoint(*offsets));
    require(again.has_value() && *again == *offsets, "a checkpoint that was read can be written and read");
  }
  if (const auto epochs = log::EpochCache::decode(text)) {
    const auto again = log::EpochCache::decode(epochs->encode());
    require(again.has_value() && again->entries() == epochs->entries(),
            "epochs that were read can be written and read");
  }
}

void properties(ByteView bytes) {
  const std::string_view text = asText(bytes);
  (void)log::decodeMetaProperties(text);
  if (const auto id = log::decodePartitionMetadata(text))
    require(log::decodePartitionMetadata(log::encodePartitionMetadata(*id)) == *id, "a topic id comes back");
  if (const auto epoch = log::decodeCleanShutdown(text))
    require(log::decodeCleanShutdown(log::encodeCleanShutdown(*epoch)) == *epoch, "a broker epoch comes back");
}

void quorumState(ByteView bytes) {
  const auto state = raft::decodeQuorumState(asText(bytes));
  if (!state) return;
  const std::string written = raft::encodeQuorumState(*state);
  const auto again = raft::decodeQuorumState(written);
  require(again.has_value() && raft::encodeQuorumState(*again) == written,
          "a vote that was read can be written and read");
}

// --- frames ---
/// The first byte says how many bytes arrive at a time. Whatever the portions, the frames are the same.
void frameStream(ByteView bytes) {
  if (bytes.empty()) return;
  constexpr uint32_t kLargestFrame = 1u << 16;
  const auto cut = [](ByteView stream, size_t portion, std::vector<ByteVector>& frames) {
    using Next = network::FrameAssembler::Next;
    network::FrameAssembler assembler(std::make_shared<network::FrameMemory>(kLimit, kLimit), kLargestFrame);
    while (true) {
      const Next next = assembler.next([] { return platform::Task([] {}); });
      if (next == Next::Complete) {
        const auto frame = assembler.take();
        frames.emplace_back(frame->bytes().begin(), frame->bytes().end());
        require(frames.back().size() <= kLargestFrame, "no frame is larger than allowed");
        continue;
      }
      if (next != Next::NeedsBytes || stream.empty()) return next == Next::BadLength;
      const MutableBytes room = assembler.room();
      require(!room.empty(), "who asks for bytes has room for them");
      const size_t count = std::min({portion, stream.size(), room.size()});
      std::copy_n(stream.begin(), count, room.begin());
      assembler.received(count);
      stream = stream.subspan(count);
    }
  };
  std::vector<ByteVector> whole;
  std::vector<ByteVector> parts;
  const ByteView stream = bytes.subspan(1);
  const bool bad = cut(stream, stream.size(), whole);
  require(cut(stream, 1u + bytes[0] % 32, parts) == bad && parts == whole, "portions do not change a stream's frames");
}

template <class Request>
void decodeRequest(ByteView body, int16_t version) {
  protocol::Reader reader(body);
  auto request = protocol::decode<Request>(reader, version);
  if (!request) return;
  protocol::FrameWriter writer;
  // A field that this version may not carry cannot have come from it.
  require(request->write(writer, version).has_value(), "a request that was read can be written");
  const auto written = writer.takeBytes();
  require(written.has_value(), "what was written is at hand");
  protocol::Reader again(*written);
  const auto same = protocol::decode<Request>(again, version);
  require(same.has_value() && *same == *request, "a request comes back");
}

void requestFrame(ByteView bytes) {
  protocol::Reader reader(bytes);
  const auto header = protocol::decodeRequestHeader(reader);
  if (!header) return;
  const auto key = static_cast<protocol::ApiKey>(header->requestApiKey);
  const protocol::MessageSchema* schema = protocol::requestSchema(key);
  const int16_t version = header->requestApiVersion;
  if (schema == nullptr || !schema->versions.contains(version)) return;
  const ByteView body = reader.rest();
  protocol::Visitor nobody;
  const auto walked = protocol::walk(body, *schema, version, nobody);
  const auto json = protocol::toJson(body, *schema, version);
  require(json.has_value() == (walked.has_value() && *walked == body.size()), "two walks agree");
  (void)protocol::describe(body, *schema, version, 1000);
  if (key == protocol::ApiKey::Produce) decodeRequest<protocol::ProduceRequest>(body, version);
  if (key == protocol::ApiKey::Fetch) decodeRequest<protocol::FetchRequest>(body, version);
  if (key == protocol::ApiKey::Metadata) decodeRequest<protocol::MetadataRequest>(body, version);
  if (key == protocol::ApiKey::JoinGroup) decodeRequest<protocol::JoinGroupRequest>(body, version);
}

/// The first byte chooses whose, the second how many bytes are the key.
void namedRecord(ByteView bytes) {
  if (bytes.size() < 2) return;
  constexpr std::array kSchemas{inspect::RecordSchema::Metadata, inspect::RecordSchema::Offsets,
                                inspect::RecordSchema::Transactions, inspect::RecordSchema::ShareState};
  records::RecordView record;
  const ByteView rest = bytes.subspan(2);
  const size_t keySize = std::min<size_t>(bytes[1], rest.size());
  record.key = rest.first(keySize);
  record.value = rest.subspan(keySize);
  (void)inspect::nameRecord(kSchemas[bytes[0] % kSchemas.size()], record);
  (void)inspect::controlText(record);
}

constexpr std::array kTargets{
    Target{"batch", batch},
    Target{"codec-gzip", decompress<records::Codec::Gzip>},
    Target{"codec-lz4", decompress<records::Codec::Lz4>},
    Target{"codec-snappy", decompress<records::Codec::Snappy>},
    Target{"codec-zstd", decompress<records::Codec::Zstd>},
    Target{"old-messages", oldMessages},
    Target{"log-file", logFile},
    Target{"offset-index", indexFile<log::kOffsetIndexSuffix>},
    Target{"time-index", indexFile<log::kTimeIndexSuffix>},
    Target{"aborted-index", abortedIndex},
    Target{"producer-snapshot", producerSnapshot},
    Target{"checkpoint", checkpoint},
    Target{"properties", properties},
    Target{"quorum-state", quorumState},
    Target{"frame-stream", frameStream},
    Target{"request-frame", requestFrame},
    Target{"named-record", namedRecord},
};

}  // namespace

std::span<const Target> targets() noexcept {
  return kTargets;
}

const Target* findTarget(std::string_view name) noexcept {
  const auto found = std::ranges::find(kTargets, name, &Target::name);
  return found == kTargets.end() ? nullptr : &*found;
}

}  // namespace tidemark::fuzz
