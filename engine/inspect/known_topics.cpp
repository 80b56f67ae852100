#include "inspect/known_topics.h"

#include <vector>

#include "inspect/batch_reader.h"
#include "inspect/file_kind.h"
#include "protocol/framing.h"
#include "protocol/generated/remove_topic_record.h"
#include "protocol/generated/topic_record.h"
#include "records/record.h"

namespace tidemark::inspect {

void KnownTopics::read(platform::FileSystem& files, const std::string& folder) {
  const auto entries = files.list(folder);
  if (!entries) return;
  std::string newest;
  Offset end(0);
  std::vector<std::string> logs;
  for (const auto& entry : *entries) {
    const FileKind kind = kindOf(entry.name);
    if (!kind.extra.empty()) continue;
    if (kind.type == FileType::Log) logs.push_back(folder + "/" + entry.name);
    if (kind.type == FileType::MetadataSnapshot && (newest.empty() || kind.offset >= end)) {
      newest = folder + "/" + entry.name;
      end = kind.offset;
    }
  }
  if (!newest.empty()) readFile(files, newest, Offset(0));
  for (const std::string& path : logs) readFile(files, path, end);
}

void KnownTopics::readFile(platform::FileSystem& files, const std::string& path, Offset from) {
  const auto file = files.open(path, platform::OpenMode::Read);
  if (!file) return;
  const auto size = (*file)->size();
  if (!size) return;
  BatchReader reader(**file, 0, *size);
  for (auto item = reader.next(); item && *item == BatchReader::Item::Batch; item = reader.next()) {
    const records::BatchView& batch = reader.batch();
    if (!reader.crcValid() || batch.header.isControl() || batch.header.lastOffset() < from) continue;
    (void)records::forEachRecord(batch, [&](const records::RecordView& record) {
      if (record.offset >= from && record.value) apply(*record.value);
    });
  }
}

void KnownTopics::apply(ByteView value) {
  const auto framed = protocol::decodeMetadataFrame(value);
  if (!framed) return;
  if (framed->type == protocol::TopicRecord::kRecordType) {
    if (const auto record = protocol::decode<protocol::TopicRecord>(framed->body, framed->version))
      ids_[std::string(record->name.view())] = record->topicId;
  } else if (framed->type == protocol::RemoveTopicRecord::kRecordType) {
    if (const auto record = protocol::decode<protocol::RemoveTopicRecord>(framed->body, framed->version))
      std::erase_if(ids_, [&](const auto& topic) { return topic.second == record->topicId; });
  }
}

}  // namespace tidemark::inspect
