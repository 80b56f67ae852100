#include "client/fetch_reader.h"

#include <algorithm>

#include "records/control.h"

namespace tidemark::client {

using records::Step;

void FetchReader::begin(ByteView bytes, Offset position) {
  batches_ = records::BatchCursor(bytes, records::BatchCursor::Check::Checksum);
  cursor_.reset();
  aborted_.clear();
  sorted_ = false;
  nextAborted_ = 0;
  aborting_.clear();
  position_ = position;
  lastEpoch_ = {};
}

Step FetchReader::next() {
  for (;;) {
    if (!cursor_) {
      const Step step = nextBatch();
      if (step != Step::Next) return step;
      continue;
    }
    switch (cursor_->next()) {
      case Step::Next:
        if (cursor_->record().offset < position_) continue;
        position_ = cursor_->record().offset.next();
        return Step::Next;
      case Step::End:
        position_ = std::max(position_, header_.nextOffset());
        cursor_.reset();
        continue;
      case Step::Corrupt:
        return corrupt(cursor_->reason());
    }
  }
}

/// Next: there is one more batch, whose records follow unless it is hidden.
Step FetchReader::nextBatch() {
  switch (batches_.next()) {
    case Step::End:
      return Step::End;
    case Step::Corrupt:
      if (batches_.reason() == records::CorruptReason::Incomplete) return Step::End;
      return corrupt(std::string(records::describe(batches_.reason())));
    case Step::Next:
      break;
  }
  const records::BatchView& batch = batches_.batch();
  header_ = batch.header;
  lastEpoch_ = header_.leaderEpoch;
  if (hides(batch) || header_.lastOffset() < position_) {
    position_ = std::max(position_, header_.nextOffset());
    return Step::Next;
  }
  const auto payload = records::openPayload(batch, buffer_);
  if (!payload) return corrupt(payload.error().message);
  cursor_.emplace(header_, *payload);
  return Step::Next;
}

bool FetchReader::hides(const records::BatchView& batch) {
  if (!sorted_) {
    std::sort(aborted_.begin(), aborted_.end());
    sorted_ = true;
  }
  const records::BatchHeader& header = batch.header;
  while (nextAborted_ < aborted_.size() && aborted_[nextAborted_].first <= header.lastOffset()) {
    aborting_.insert(aborted_[nextAborted_++].producer);
  }
  if (header.isControl()) {
    // An abort marker ends what its producer had aborted; the next transaction may be a good one.
    ByteVector buffer;
    if (const auto payload = records::openPayload(batch, buffer)) {
      records::RecordCursor cursor(header, *payload);
      if (cursor.next() == Step::Next && records::controlType(cursor.record()) == records::ControlType::Abort) {
        aborting_.erase(header.producerId);
      }
    }
    return true;
  }
  return header.isTransactional() && aborting_.contains(header.producerId);
}

Step FetchReader::corrupt(std::string reason) {
  reason_ = std::move(reason);
  cursor_.reset();
  return Step::Corrupt;
}

}  // namespace tidemark::client
