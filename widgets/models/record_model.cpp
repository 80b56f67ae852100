#include "models/record_model.h"

#include <QStringDecoder>

#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

/// Text if it is UTF-8 without control characters, else the first bytes as hexadecimal digits.
QString shown(const QByteArray& bytes, bool isNull) {
  if (isNull) return RecordModel::tr("null");
  QStringDecoder decoder(QStringDecoder::Utf8);
  QString text = decoder(bytes);
  const bool fits = !decoder.hasError() && std::ranges::none_of(text, [](QChar c) {
    return c.category() == QChar::Other_Control && !c.isSpace();
  });
  if (fits) return text.simplified();
  return QString::fromLatin1(bytes.left(48).toHex(' ')) + (bytes.size() > 48 ? QStringLiteral(" …") : QString());
}

}  // namespace

void RecordModel::append(std::vector<ReadRecord> records) {
  m_total += static_cast<qint64>(records.size());
  if (records.size() > kCapacity)
    records.erase(records.begin(), records.end() - static_cast<std::ptrdiff_t>(kCapacity));
  if (records.empty()) return;
  const size_t over = m_rows.size() + records.size() > kCapacity ? m_rows.size() + records.size() - kCapacity : 0;
  if (over > 0) {
    beginRemoveRows({}, 0, static_cast<int>(over) - 1);
    m_rows.erase(m_rows.begin(), m_rows.begin() + static_cast<std::ptrdiff_t>(over));
    endRemoveRows();
  }
  beginInsertRows({}, static_cast<int>(m_rows.size()), static_cast<int>(m_rows.size() + records.size()) - 1);
  m_rows.insert(m_rows.end(), std::make_move_iterator(records.begin()), std::make_move_iterator(records.end()));
  endInsertRows();
}

void RecordModel::clear() {
  m_total = 0;
  if (m_rows.empty()) return;
  beginRemoveRows({}, 0, static_cast<int>(m_rows.size()) - 1);
  m_rows.clear();
  endRemoveRows();
}

int RecordModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int RecordModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant RecordModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const ReadRecord& record = m_rows[static_cast<size_t>(index.row())];
  if (role == Qt::FontRole) return Theme::mono(12);
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((index.column() <= Offset ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role == Qt::ForegroundRole) {
    const bool null = (index.column() == Key && record.keyIsNull) || (index.column() == Value && record.valueIsNull);
    return null || index.column() == Time ? QVariant(colors().muted) : QVariant();
  }
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  switch (index.column()) {
    case Partition:
      return record.partition;
    case Offset:
      return grouped(record.offset);
    case Time:
      return record.timestamp < 0 ? QStringLiteral("–")
                                  : timeText(platform::WallTime(std::chrono::milliseconds(record.timestamp)));
    case Key:
      return shown(record.key, record.keyIsNull);
    case Value:
      return shown(record.value, record.valueIsNull);
    default:
      return {};
  }
}

QVariant RecordModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((section <= Offset ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Partition:
      return tr("partition");
    case Offset:
      return tr("offset");
    case Time:
      return tr("time");
    case Key:
      return tr("key");
    case Value:
      return tr("value");
    default:
      return {};
  }
}

}  // namespace tidemark::widgets
