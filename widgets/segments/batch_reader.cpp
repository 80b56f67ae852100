#include <algorithm>
#include <charconv>

#include <QCoreApplication>

#include "segments/partition_reader.h"
#include "text/format.h"

// Takes a batch apart for the Segments view.

namespace tidemark::widgets {

namespace {

using inspect::FieldKind;

struct BatchWords {
  Q_DECLARE_TR_FUNCTIONS(Segments)
};

void addFields(const inspect::AnatomyField& field, const QString& prefix, int32_t shift, int32_t record, bool payload,
               std::vector<FieldEntry>& into) {
  const QString name = prefix.isEmpty() ? fieldName(field.name) : prefix + QLatin1Char(' ') + fieldName(field.name);
  if (!field.children.empty()) {
    for (const inspect::AnatomyField& child : field.children) addFields(child, name, shift, record, payload, into);
    return;
  }
  if (field.end <= field.begin) return;
  into.push_back({.kind = field.kind,
                  .begin = static_cast<int32_t>(field.begin) + shift,
                  .length = static_cast<int32_t>(field.end - field.begin),
                  .name = name,
                  .value = fromUtf8(field.value),
                  .note = fromUtf8(field.note),
                  .record = record,
                  .payload = payload});
}

/// The engine's note on the attributes begins with the codec's name.
QString codecOf(const QString& attributesNote) {
  return attributesNote.section(QLatin1Char(','), 0, 0);
}

/// The value of a header's field as the window says it.
void wordHeader(FieldEntry& field, const inspect::BatchAnatomy& anatomy) {
  const records::BatchHeader& header = anatomy.header;
  if (field.kind == FieldKind::BaseOffset) field.value = offsetText(header.baseOffset);
  if (field.kind == FieldKind::Crc) field.bad = !anatomy.crcValid;
  if (field.kind == FieldKind::Attributes) {
    QStringList words;
    if (header.isCompressed()) words << codecOf(field.note);
    if (header.isTransactional()) words << BatchWords::tr("transactional");
    if (header.isControl()) words << BatchWords::tr("control");
    if (header.timestampType() == records::TimestampType::LogAppendTime) words << BatchWords::tr("append time");
    field.value = words.isEmpty() ? BatchWords::tr("none") : words.join(QStringLiteral(", "));
  }
  const bool isLatest = field.kind == FieldKind::MaxTimestamp;
  if (isLatest || field.kind == FieldKind::BaseTimestamp || field.kind == FieldKind::DeleteHorizonMs) {
    const int64_t moment = isLatest ? header.maxTimestampMs : header.baseTimestampMs;
    field.value = moment < 0 ? BatchWords::tr("none") : momentText(moment);
    field.note = QStringLiteral("%1 ms").arg(moment);
  }
  if (field.kind == FieldKind::ProducerId && !header.hasProducerId()) field.value = BatchWords::tr("none");
}

QString textOf(ByteView bytes) {
  return QString::fromUtf8(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()));
}

/// A header of a record: its key and its value are text more often than not.
void wordHeaderOf(FieldEntry& field, const BatchPicture& batch) {
  switch (field.kind) {
    case FieldKind::HeaderKey:
    case FieldKind::HeaderValue:
      field.value = textOf(batch.bytesOf({field.begin, std::min(field.length, 64)}));
      break;
    case FieldKind::HeaderKeyLength:
    case FieldKind::HeaderValueLength:
      if (field.value == QStringLiteral("-1")) field.value = BatchWords::tr("null");
      break;
    default:
      break;
  }
}

int64_t numberOf(const inspect::AnatomyField& field) {
  int64_t value = 0;
  std::from_chars(field.value.data(), field.value.data() + field.value.size(), value);
  return value;
}

/// The offset delta of a record.
int64_t deltaOf(const inspect::AnatomyField& record) {
  const auto found = std::ranges::find(record.children, FieldKind::OffsetDelta, &inspect::AnatomyField::kind);
  return found == record.children.end() ? 0 : numberOf(*found);
}

/// Reads the batch with those of its records that are kept: the first ones, or those around the one that is wanted.
Result<void> dissectAround(const inspect::PartitionView& view, int64_t wanted, BatchPicture& picture) {
  const auto read = [&](uint64_t from) -> Result<void> {
    TIDEMARK_ASSIGN(picture.anatomy, view.anatomy(picture.segment, static_cast<uint64_t>(picture.position), from,
                                                  BatchPicture::kRecordsKept));
    return {};
  };
  TIDEMARK_TRY(read(0));
  const records::BatchHeader& header = picture.anatomy.header;
  const int64_t delta = wanted - header.baseOffset.value();
  const auto kept = static_cast<int64_t>(BatchPicture::kRecordsKept);
  if (wanted < 0 || delta < kept || wanted > header.lastOffset().value()) return {};
  // Where compaction took records, the number of a record is below its delta: then it is looked for further in front.
  int64_t from = std::clamp<int64_t>(delta - kept / 2, 0, std::max<int64_t>(0, header.recordCount - kept));
  while (true) {
    TIDEMARK_TRY(read(static_cast<uint64_t>(from)));
    const auto& fields = picture.anatomy.recordFields;
    if (from == 0 || (!fields.empty() && header.baseOffset.value() + deltaOf(fields.front()) <= wanted)) return {};
    from = std::max<int64_t>(0, from - kept / 2);
  }
}

}  // namespace

QString fieldName(std::string_view name) {
  // Kafka's name says which epoch it is only there.
  if (name == "partitionLeaderEpoch") name = "leaderEpoch";
  if (name == "recordsCount") name = "records";
  QString words;
  for (const char letter : name) {
    if (letter >= 'A' && letter <= 'Z') {
      words += QLatin1Char(' ');
      words += QLatin1Char(static_cast<char>(letter - 'A' + 'a'));
    } else {
      words += QLatin1Char(letter);
    }
  }
  return words;
}

std::vector<HeaderEntry> headersOf(const BatchPicture& batch, const RecordEntry& record) {
  std::vector<HeaderEntry> headers;
  for (int32_t i = record.firstField; i < record.firstField + record.fieldCount; ++i) {
    const FieldEntry& field = batch.fields[static_cast<size_t>(i)];
    const Stretch itself{field.begin, field.length};
    // A stretch without bytes has a length and nothing else.
    const Stretch behind{field.begin + field.length, 0};
    switch (field.kind) {
      case FieldKind::HeaderKeyLength:
        headers.push_back({.key = behind, .value = {}});
        break;
      case FieldKind::HeaderKey:
        headers.back().key = itself;
        break;
      case FieldKind::HeaderValueLength:
        if (field.value == QStringLiteral("0")) headers.back().value = behind;
        break;
      case FieldKind::HeaderValue:
        headers.back().value = itself;
        break;
      default:
        break;
    }
  }
  return headers;
}

Result<BatchPicturePtr> readBatch(const observe::LookAccess& access, ReaderCache& cache, Offset segment,
                                  int64_t position, int64_t wanted) {
  TIDEMARK_ASSIGN(const PartitionViewPtr view, viewOf(access, cache, false));
  auto picture = std::make_shared<BatchPicture>();
  picture->segment = segment;
  picture->position = position;
  TIDEMARK_TRY(dissectAround(*view, wanted, *picture));
  const inspect::BatchAnatomy& anatomy = picture->anatomy;
  for (const inspect::AnatomyField& field : anatomy.headerFields) {
    // Records that are not compressed are shown one by one.
    if (field.kind == FieldKind::Records && !anatomy.compressed && !anatomy.recordFields.empty()) continue;
    const size_t before = picture->fields.size();
    addFields(field, {}, 0, -1, false, picture->fields);
    if (field.kind == FieldKind::Attributes) picture->codec = codecOf(fromUtf8(field.note));
    if (picture->fields.size() > before) wordHeader(picture->fields.back(), anatomy);
  }
  picture->headerFields = static_cast<int32_t>(picture->fields.size());
  const int32_t shift = anatomy.compressed ? 0 : static_cast<int32_t>(records::kBatchHeaderSize);
  for (size_t i = 0; i < anatomy.recordFields.size(); ++i) {
    const inspect::AnatomyField& field = anatomy.recordFields[i];
    RecordEntry record;
    record.whole = {static_cast<int32_t>(field.begin) + shift, static_cast<int32_t>(field.end - field.begin)};
    record.offset = anatomy.header.baseOffset.value() + picture->firstRecord() + static_cast<int64_t>(i);
    record.timestampMs = anatomy.header.baseTimestampMs;
    record.firstField = static_cast<int32_t>(picture->fields.size());
    for (const inspect::AnatomyField& child : field.children) {
      const auto number = [&child] { return numberOf(child); };
      const Stretch stretch{static_cast<int32_t>(child.begin) + shift, static_cast<int32_t>(child.end - child.begin)};
      if (child.kind == FieldKind::OffsetDelta) record.offset = anatomy.header.baseOffset.value() + number();
      if (child.kind == FieldKind::TimestampDelta)
        record.timestampMs = anatomy.header.timestampType() == records::TimestampType::LogAppendTime
                                 ? anatomy.header.maxTimestampMs
                                 : anatomy.header.baseTimestampMs + number();
      if (child.kind == FieldKind::KeyLength && number() == 0) record.key = {stretch.begin + stretch.length, 0};
      if (child.kind == FieldKind::ValueLength && number() == 0) record.value = {stretch.begin + stretch.length, 0};
      if (child.kind == FieldKind::Key) {
        record.key = stretch;
        record.meaning = fromUtf8(child.note);
      }
      if (child.kind == FieldKind::Value) record.value = stretch;
      if (child.kind == FieldKind::HeadersCount) record.headers = static_cast<int>(number());
      const size_t before = picture->fields.size();
      addFields(child, {}, shift, static_cast<int32_t>(i), anatomy.compressed, picture->fields);
      if (picture->fields.size() == before) continue;
      for (size_t added = before; added < picture->fields.size(); ++added)
        wordHeaderOf(picture->fields[added], *picture);
      FieldEntry& entry = picture->fields.back();
      if ((child.kind == FieldKind::Key || child.kind == FieldKind::Value) && child.note.empty())
        entry.value = textOf(picture->bytesOf({stretch.begin, std::min(stretch.length, 64)}));
      if (child.kind == FieldKind::KeyLength && number() < 0) entry.value = BatchWords::tr("null");
      if (child.kind == FieldKind::ValueLength && number() < 0) entry.value = BatchWords::tr("null");
    }
    record.fieldCount = static_cast<int32_t>(picture->fields.size()) - record.firstField;
    picture->records.push_back(record);
  }
  const int64_t next = position + static_cast<int64_t>(anatomy.bytes.size());
  if (auto page = view->batches(segment, static_cast<uint64_t>(next), 1); page && !page->batches.empty())
    picture->next = next;
  return picture;
}

}  // namespace tidemark::widgets
