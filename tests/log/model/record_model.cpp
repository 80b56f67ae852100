#include "record_model.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::log {

std::string described(const ModelRecord& record) {
  return fmt::format("{}{}:{}={}@{}", record.control ? "marker " : "", record.offset, record.key,
                     record.value.value_or("-"), record.epoch);
}

void RecordModel::append(std::vector<ModelRecord> records, Offset next) {
  records_.insert(records_.end(), records.begin(), records.end());
  end_ = next;
}

Offset RecordModel::batchStart(Offset offset) const {
  const auto above = batches_.upper_bound(offset);
  if (above == batches_.begin()) return offset;
  const auto& [first, next] = *std::prev(above);
  return offset < next ? first : offset;
}

void RecordModel::truncate(Offset offset) {
  while (!records_.empty() && records_.back().offset >= offset) {
    // What comes in its place is another record.
    gone_.erase(records_.back().offset);
    records_.pop_back();
  }
  batches_.erase(batches_.lower_bound(offset), batches_.end());
  end_ = std::min(end_, offset);
  start_ = std::min(start_, end_);
  highWatermark_ = std::min(highWatermark_, end_);
  flushed_ = std::min(flushed_, dataEnd());
}

void RecordModel::raiseHighWatermark(Offset offset) {
  if (offset <= highWatermark_) return;
  markGone(highWatermark_, offset);
  highWatermark_ = offset;
}

void RecordModel::markGone(Offset from, Offset to) {
  const std::set<Offset> abortedNow = aborted();
  std::set<std::string> newer;
  for (auto record = records_.rbegin(); record != records_.rend(); ++record) {
    if (record->offset >= to) continue;
    if (record->control || abortedNow.contains(record->offset)) {
      gone_.insert(record->offset);
      continue;
    }
    if (!record->value || newer.contains(record->key)) gone_.insert(record->offset);
    newer.insert(record->key);
  }
  (void)from;
}

std::set<Offset> RecordModel::aborted() const {
  std::set<Offset> aborted;
  std::map<ProducerId, std::vector<Offset>> open;
  for (const ModelRecord& record : records_) {
    if (!record.transactional && !record.control) continue;
    if (!record.control) {
      open[record.producer].push_back(record.offset);
      continue;
    }
    if (record.key == "abort") aborted.insert(open[record.producer].begin(), open[record.producer].end());
    open.erase(record.producer);
  }
  return aborted;
}

std::map<ProducerId, Offset> RecordModel::open(Offset from) const {
  std::map<ProducerId, Offset> open;
  for (const ModelRecord& record : records_) {
    if (record.control)
      open.erase(record.producer);
    else if (record.transactional && record.offset >= from)
      open.try_emplace(record.producer, record.offset);
  }
  return open;
}

void RecordModel::adopt(Offset start, Offset end) {
  if (end < end_) {
    std::set<Offset> gone = gone_;
    const Offset highWatermark = highWatermark_;
    truncate(end);
    gone_ = std::move(gone);
    gone_.erase(gone_.lower_bound(end), gone_.end());
    highWatermark_ = std::min(highWatermark, end);
  }
  end_ = end;
  start_ = start;
  flushed_ = std::min(flushed_, end_);
}

}  // namespace tidemark::log
