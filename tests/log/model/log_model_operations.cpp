#include "log_model.h"
#include "records/control.h"

// How a modelled log begins, and what is done to it.

namespace tidemark::log {

namespace {

const Uuid kId = *Uuid::parse("tJMO2nMoSU2UnLx3qwW8VA");

}  // namespace

void LogModel::did(std::string_view what, int64_t times) {
  const auto known = counts_.done.find(what);
  (known == counts_.done.end() ? counts_.done.emplace(what, 0).first : known)->second += times;
}

void LogModel::addDamage() {
  const platform::DiskDamage& damage = world_->disk("broker-1").damage();
  did("EIO", static_cast<int64_t>(damage.failed));
  did("ENOSPC", static_cast<int64_t>(damage.full));
  did("write cut short", static_cast<int64_t>(damage.cutShort));
  did(fmt::format("lost, sectors of {}", sectorSize_), static_cast<int64_t>(damage.lost));
  did(fmt::format("torn, sectors of {}", sectorSize_), static_cast<int64_t>(damage.torn));
  did(fmt::format("reordered, sectors of {}", sectorSize_), static_cast<int64_t>(damage.reordered));
}

void LogModel::start(uint64_t seed) {
  forget();
  startWorld(seed);
  model_ = {};
  maybeFlushedTo_ = Offset(INT64_MAX);
  syncFailed_ = false;
  epoch_ = 0;
  sequences_.clear();
  producerBase_ = 0;
  config_ = {};
  sectorSize_ = chance(50) ? 512 : 4096;
  process_->disk().setSectorSize(sectorSize_);
  // Larger than any batch, and of large sectors many in some.
  const bool large = sectorSize_ == 4096 && chance(50);
  config_.segmentBytes = (700 + static_cast<int32_t>(below(1500))) * (large ? 20 : 1);
  valueBytes_ = large ? 900 : 90;
  config_.indexIntervalBytes = static_cast<int32_t>(below(300));
  config_.segmentIndexBytes = 64 + static_cast<int32_t>(below(400));
  config_.compact = chance(70);
  config_.remove = !config_.compact || chance(20);
  config_.retentionMs = -1;
  config_.retentionBytes = config_.remove && chance(50) ? static_cast<int64_t>(below(8000)) : -1;
  config_.minCleanableDirtyRatio = static_cast<double>(below(50)) / 100;
  config_.deleteRetentionMs = static_cast<int64_t>(below(3)) * 2000;
  config_.minCompactionLagMs = chance(20) ? 1000 : 0;
  config_.flushMessages = chance(20) ? 5 : INT64_MAX;
  config_.fileDeleteDelayMs = static_cast<int64_t>(below(3)) * 500;
  config_.timestampAfterMaxMs = INT64_MAX;
  config_.producerIdExpirationMs = INT64_MAX;
  dedupeBytes_ = chance(30) ? 24 * 8 : 1 << 16;
  openManager();
}

void LogModel::forget() {
  log_.reset();
  manager_.reset();
  background_.reset();
}

CleanerConfig LogModel::cleanerConfig() const {
  CleanerConfig config;
  config.enabled = cleans_;
  config.dedupeBufferBytes = dedupeBytes_;
  config.backoff = std::chrono::milliseconds(500);
  return config;
}

void LogModel::openManager() {
  background_ = process_->createExecutor({.name = "background"});
  LogManagerOptions options;
  options.directories = {"/data"};
  options.defaults = config_;
  options.openSegments = 2;
  options.cleaner = cleanerConfig();
  recorder_ = std::make_unique<events::Recorder>(process_->clock(), NodeId(1));
  recorder_->want(events::Kinds::all());
  auto manager = LogManager::open(*process_, background_, recorder_.get(), options);
  ASSERT_TRUE(manager || !alive()) << manager.error().message;
  if (!manager) return;
  const auto loaded = (*manager)->load({});
  ASSERT_TRUE(loaded || !alive()) << loaded.error().message;
  if (!loaded) return;
  auto log = (*manager)->getOrCreate(kModelled, kId, config_);
  ASSERT_TRUE(log || !alive()) << log.error().message;
  if (!log) return;
  manager_ = *manager;
  log_ = *log;
}

ModelRecord LogModel::record(int64_t producer, bool transactional) {
  ModelRecord record;
  record.timestampMs = process_->clock().wallMs() + static_cast<int64_t>(below(5000));
  record.producer = ProducerId(producer);
  record.transactional = transactional;
  record.key = fmt::format("k{}", below(14));
  if (!chance(12)) record.value = fmt::format("v{}-{}", valueNumber_++, std::string(below(valueBytes_), 'x'));
  return record;
}

ByteVector LogModel::batchOf(const std::vector<ModelRecord>& records, const records::BatchOptions& options) {
  records::BatchBuilder builder(options);
  for (const ModelRecord& record : records)
    builder.append(record.timestampMs, asBytes(record.key),
                   record.value ? std::optional<ByteView>(asBytes(*record.value)) : std::nullopt);
  return builder.build();
}

void LogModel::remember(std::vector<ModelRecord> records, Offset first, LeaderEpoch epoch) {
  model_.noteBatch(first, first + static_cast<int64_t>(records.size()));
  Offset next = first;
  for (ModelRecord& record : records) {
    record.offset = next;
    record.epoch = epoch;
    next = next.next();
  }
  model_.append(std::move(records), next);
}

void LogModel::resumeSequences() {
  sequences_.clear();
  for (const ProducerInfo& producer : log_->producers())
    sequences_[producer.producerId.value()] = producer.lastSequence + 1;
}

void LogModel::appendAsLeader() {
  if (chance(10)) ++epoch_;
  const auto open = model_.open();
  const bool transactional = chance(30);
  const int64_t producer = transactional ? producerBase_ + static_cast<int64_t>(1 + below(2))
                           : chance(40)  ? producerBase_ + 3
                                         : -1;
  std::vector<ModelRecord> records;
  for (uint64_t i = 1 + below(4); i > 0; --i) records.push_back(record(producer, transactional));
  records::BatchOptions options{.codec = anyCodec(),
                                .producerId = ProducerId(producer),
                                .producerEpoch = ProducerEpoch(producer < 0 ? -1 : 0),
                                .baseSequence = producer < 0 ? -1 : sequences_[producer],
                                .transactional = transactional};
  ByteVector bytes = batchOf(records, options);
  ByteVector again = bytes;
  const Offset at = model_.end();
  const auto info = log_->appendAsLeader(bytes, LeaderEpoch(epoch_));
  // S3: never an offset twice.
  if (info) {
    ASSERT_EQ(info->firstOffset, at);
  }
  if (producer >= 0) sequences_[producer] += static_cast<int32_t>(records.size());
  remember(std::move(records), at, LeaderEpoch(epoch_));
  if (!came(info)) return;
  did("append");
  if (producer < 0 || !chance(30)) return;
  const auto retry = log_->appendAsLeader(again, LeaderEpoch(epoch_));
  if (!came(retry)) return;
  ASSERT_TRUE(retry->duplicate);
  did("retry");
  ASSERT_EQ(retry->firstOffset, at);
}

void LogModel::endTransaction() {
  const auto open = model_.open();
  if (open.empty()) return;
  const int64_t producer = std::next(open.begin(), static_cast<ptrdiff_t>(below(open.size())))->first.value();
  const bool commit = chance(50);
  ModelRecord marker;
  marker.timestampMs = process_->clock().wallMs();
  marker.producer = ProducerId(producer);
  marker.control = true;
  marker.key = commit ? "commit" : "abort";
  ByteVector bytes = records::buildEndTxnMarker(ProducerId(producer), ProducerEpoch(0),
                                                {.commit = commit, .coordinatorEpoch = 0}, marker.timestampMs);
  const Offset at = model_.end();
  const auto info = log_->appendAsLeader(bytes, LeaderEpoch(epoch_), {.origin = records::Origin::Coordinator});
  if (info) {
    ASSERT_EQ(info->firstOffset, at);
  }
  remember({marker}, at, LeaderEpoch(epoch_));
  if (came(info)) did("end of a transaction");
}

void LogModel::appendAsFollower() {
  ByteVector all;
  Offset next = model_.end();
  std::vector<std::pair<std::vector<ModelRecord>, std::pair<Offset, LeaderEpoch>>> batches;
  for (uint64_t i = 1 + below(5); i > 0; --i) {
    if (chance(30)) ++epoch_;
    if (config_.compact && chance(10)) next = next + static_cast<int64_t>(below(5));
    std::vector<ModelRecord> records;
    for (uint64_t k = 1 + below(3); k > 0; --k) records.push_back(record(-1, false));
    const ByteVector bytes =
        batchOf(records, {.baseOffset = next, .leaderEpoch = LeaderEpoch(epoch_), .codec = anyCodec()});
    all.insert(all.end(), bytes.begin(), bytes.end());
    batches.push_back({records, {next, LeaderEpoch(epoch_)}});
    next = next + static_cast<int64_t>(records.size());
  }
  if (came(log_->appendAsFollower(all)))
    did(batches.front().second.second == batches.back().second.second ? "append as follower"
                                                                      : "append of several epochs");
  for (auto& [records, place] : batches) remember(std::move(records), place.first, place.second);
}

void LogModel::moveHighWatermark() {
  const auto room = static_cast<uint64_t>(model_.end() - model_.highWatermark());
  const Offset target = chance(60) ? model_.end() : model_.highWatermark() + static_cast<int64_t>(below(room + 1));
  log_->updateHighWatermark(target);
  if (target > model_.highWatermark()) did("high watermark");
  model_.raiseHighWatermark(target);
}

void LogModel::truncate() {
  const Offset lowest = std::max(model_.highWatermark(), model_.start());
  const auto room = static_cast<uint64_t>(model_.end() - lowest);
  if (room == 0) return;
  const Offset target = lowest + static_cast<int64_t>(below(room));
  const Offset cut = model_.batchStart(target);
  if (cut < lowest) return;
  ++epoch_;
  const RecordModel before = model_;
  const auto moved = log_->truncateTo(target);
  model_.truncate(cut);
  if (alive() && !log_->offline()) resumeSequences();
  if (came(moved)) return did("truncation");
  // Whether it came to pass is open: batches from the cut on may be there in part.
  const Offset flushed = model_.flushed();
  model_ = before;
  model_.adopt(model_.start(), model_.end());
  maybeFlushedTo_ = flushed;
}

void LogModel::deleteRecords() {
  const auto room = static_cast<uint64_t>(model_.highWatermark() - model_.start());
  const Offset target = model_.start() + static_cast<int64_t>(below(room + 1));
  if (const auto start = log_->deleteRecords(target); start) {
    if (*start > model_.start()) did("DeleteRecords");
    model_.moveStart(*start);
  }
}

void LogModel::cleanUp() {
  const Offset first = log_->firstSegmentBase();
  manager_->cleanup();
  if (alive() && !log_->offline() && log_->firstSegmentBase() > first) did("retention");
  if (alive() && !log_->offline()) model_.moveStart(log_->logStartOffset());
}

void LogModel::flush() {
  if (came(log_->flush())) {
    did("flush");
    model_.noteFlushed();
  }
  if (chance(40) && alive()) manager_->checkpoint();
}

void LogModel::readMeanwhile() {
  const FetchIsolation isolation = chance(50) ? FetchIsolation::HighWatermark : FetchIsolation::Committed;
  const auto bound = [&] {
    const OffsetSnapshot ends = log_->offsetSnapshot();
    return isolation == FetchIsolation::HighWatermark ? ends.highWatermark.offset : ends.lastStableOffset.offset;
  };
  if (chance(50)) {
    // As a leader does it, who knows the offset and not its place.
    log_->maybeIncrementHighWatermark({.offset = model_.end()});
    model_.raiseHighWatermark(model_.end());
  }
  const Offset before = bound();
  const Offset start = model_.start() + static_cast<int64_t>(below(static_cast<uint64_t>(before - model_.start()) + 1));
  uint64_t readsBefore = below(3);
  bool changed = false;
  process_->disk().failWhen([&](platform::FileCall call, const std::string& path) {
    if (changed || call != platform::FileCall::Read || !path.ends_with(".log") || readsBefore-- > 0) return false;
    changed = true;
    switch (below(8)) {
      case 0:
        appendAsFollower();
        break;
      case 1:
        endTransaction();
        break;
      case 2:
        moveHighWatermark();
        break;
      case 3:
        came(log_->roll());
        break;
      case 4:
        truncate();
        break;
      case 5:
        deleteRecords();
        break;
      default:
        appendAsLeader();
    }
    return false;
  });
  const auto bytes = log_->readBytes(start, 1 + below(3000), isolation);
  process_->disk().failWhen(nullptr);
  if (HasFatalFailure()) return;
  if (!bytes) {
    ASSERT_EQ(bytes.error().code, ErrorCode::OffsetOutOfRange) << bytes.error().message;
    ASSERT_LT(start, model_.start()) << bytes.error().message;
    return;
  }
  std::vector<ModelRecord> found;
  addRecords(*bytes, found);
  const Offset end = std::max(before, bound());
  for (const ModelRecord& each : found) {
    ASSERT_LT(each.offset, end) << described(each) << " is beyond what is committed";
    const auto known = std::ranges::find(model_.records(), each.offset, &ModelRecord::offset);
    if (known == model_.records().end()) {
      ASSERT_LT(each.offset, model_.start()) << "nobody appended " << described(each);
    } else {
      ASSERT_EQ(each, *known);
    }
  }
  if (changed) did("read while the log changed");
}

}  // namespace tidemark::log
