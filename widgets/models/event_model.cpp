#include "models/event_model.h"

#include <algorithm>

#include <QDateTime>
#include <QJsonDocument>
#include <QJsonObject>

#include "text/format.h"

namespace tidemark::widgets {

namespace {

bool isChatter(const observe::ObservedEvent& event) {
  const Weight weight = weightOf(event.event.payload);
  return weight == Weight::Chatty || weight == Weight::Frequent;
}

}  // namespace

void EventModel::setChatty(bool chatty) {
  if (chatty == m_chatty) return;
  m_chatty = chatty;
  Q_EMIT countsChanged();
}

void EventModel::append(const observe::EventBatch& batch, const observe::SnapshotPtr& cluster) {
  m_cluster = cluster;
  const uint64_t before = lost();
  const uint64_t leftOutBefore = m_leftOut;
  const uint64_t forgottenBefore = m_forgotten;
  m_lost = batch.lost;
  m_missed += batch.missed;
  std::vector<observe::ObservedEvent> wanted;
  for (const observe::ObservedEvent& event : batch.events)
    if (wants(event)) wanted.push_back(event);
  if (m_paused) {
    m_held.insert(m_held.end(), wanted.begin(), wanted.end());
    if (m_held.size() > kCapacity) {
      const auto over = static_cast<std::ptrdiff_t>(m_held.size() - kCapacity);
      m_forgotten += static_cast<uint64_t>(over);
      m_held.erase(m_held.begin(), m_held.begin() + over);
    }
  } else {
    insert(std::move(wanted));
  }
  if (lost() != before || m_leftOut != leftOutBefore || m_forgotten != forgottenBefore ||
      (m_paused && !batch.events.empty()))
    Q_EMIT countsChanged();
}

bool EventModel::wants(const observe::ObservedEvent& event) {
  if (m_chatty) return true;
  const bool internal = event.topic.starts_with("__");
  switch (weightOf(event.event.payload)) {
    case Weight::Chatty:
      ++m_leftOut;
      return false;
    case Weight::Frequent:
      if (!internal) break;
      // The quorum's own log moves all the time, and nobody shows it.
      if (event.topic != "__cluster_metadata") ++m_leftOut;
      return false;
    case Weight::Normal:
    case Weight::Grave:
      return true;
  }
  const int64_t now = event.event.wall.time_since_epoch().count();
  const auto [newest, first] =
      m_newest.try_emplace({event.event.payload.index(), event.topic, event.partition.value()}, now);
  // A clock that was set back begins anew.
  if (!first && now >= newest->second && now - newest->second < kThinnedMs) {
    ++m_leftOut;
    return false;
  }
  newest->second = now;
  return true;
}

void EventModel::insert(std::vector<observe::ObservedEvent> events) {
  if (events.empty()) return;
  beginInsertRows({}, 0, static_cast<int>(events.size()) - 1);
  for (observe::ObservedEvent& event : events) {
    const bool chatter = isChatter(event);
    m_chatterRows += chatter;
    m_rows.push_front({std::move(event), {}, chatter});
  }
  endInsertRows();
  forget(true);
  forget(false);
}

void EventModel::forget(bool chatter) {
  const size_t bound = chatter ? kChatter : kCapacity;
  size_t over = chatter ? m_chatterRows : m_rows.size() - m_chatterRows;
  over = over > bound ? over - bound : 0;
  // From the oldest on, neighbours at once.
  for (size_t end = m_rows.size(); over > 0 && end > 0;) {
    if (m_rows[end - 1].chatter != chatter) {
      --end;
      continue;
    }
    size_t begin = end - 1;
    while (begin > 0 && end - begin < over && m_rows[begin - 1].chatter == chatter) --begin;
    beginRemoveRows({}, static_cast<int>(begin), static_cast<int>(end) - 1);
    m_rows.erase(m_rows.begin() + static_cast<std::ptrdiff_t>(begin),
                 m_rows.begin() + static_cast<std::ptrdiff_t>(end));
    if (chatter) m_chatterRows -= end - begin;
    m_forgotten += end - begin;
    endRemoveRows();
    over -= end - begin;
    end = begin;
  }
}

void EventModel::clear() {
  beginResetModel();
  m_rows.clear();
  m_held.clear();
  m_newest.clear();
  m_chatterRows = 0;
  m_missed = 0;
  m_leftOut = 0;
  m_forgotten = 0;
  endResetModel();
  Q_EMIT countsChanged();
}

void EventModel::setPaused(bool paused) {
  if (paused == m_paused) return;
  m_paused = paused;
  if (!paused) insert(std::exchange(m_held, {}));
  Q_EMIT countsChanged();
}

int EventModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int EventModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

const EventWords& EventModel::wordsIn(const Row& row) const {
  if (!row.words) row.words = wordsOf(row.event, *m_cluster);
  return *row.words;
}

QVariant EventModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = m_rows[static_cast<size_t>(index.row())];
  // The filter asks for the group of every row: no words are made for it.
  if (role == GroupRole) return static_cast<int>(groupOf(row.event.event.payload));
  const EventWords& words = wordsIn(row);
  switch (role) {
    case Qt::DisplayRole:
      switch (index.column()) {
        case Time:
          return timeText(row.event.event.wall);
        case Source:
          return words.source;
        case Event:
          return words.name;
        case Where:
          return words.where;
        case Detail:
          return words.detail;
        default:
          return {};
      }
    case Qt::ToolTipRole:
      // Whatever the width of its column cuts. As HTML a long one is broken into lines.
      if (index.column() == Time) return {};
      return QStringLiteral("<p>%1</p>").arg(data(index, Qt::DisplayRole).toString().toHtmlEscaped());
    case ShapeRole:
      return static_cast<int>(words.shape);
    case ShapeColorRole:
      return words.color;
    case WeightRole:
      return static_cast<int>(words.weight);
    case WallRole:
      return static_cast<qlonglong>(row.event.event.wall.time_since_epoch().count());
    case NumberRole:
      return static_cast<qulonglong>(row.event.number);
    case FieldsRole:
      return fromUtf8(events::fieldsText(row.event.event.payload));
    case SearchRole:
      return (words.source + QLatin1Char(' ') + words.name + QLatin1Char(' ') + words.where + QLatin1Char(' ') +
              words.detail)
          .toLower();
    default:
      return {};
  }
}

QVariant EventModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case Time:
      return tr("time");
    case Source:
      return tr("source");
    case Event:
      return tr("event");
    case Where:
      return tr("partition");
    case Detail:
      return tr("detail");
    default:
      return {};
  }
}

void EventFilterModel::setWords(const QString& words) {
  m_words = words.toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  invalidateFilter();
}

void EventFilterModel::setGroups(std::set<EventGroup> groups) {
  m_groups = std::move(groups);
  invalidateFilter();
}

bool EventFilterModel::filterAcceptsRow(int row, const QModelIndex& parent) const {
  const QModelIndex at = sourceModel()->index(row, 0, parent);
  if (!m_groups.empty() && !m_groups.contains(static_cast<EventGroup>(at.data(EventModel::GroupRole).toInt())))
    return false;
  if (m_words.isEmpty()) return true;
  const QString text = at.data(EventModel::SearchRole).toString();
  return std::ranges::all_of(m_words, [&text](const QString& word) { return text.contains(word); });
}

namespace {

/// With its distance from UTC, so that another machine understands it.
QString isoTime(const QModelIndex& index) {
  const QDateTime local = QDateTime::fromMSecsSinceEpoch(index.data(EventModel::WallRole).toLongLong());
  return local.toOffsetFromUtc(local.offsetFromUtc()).toString(Qt::ISODateWithMs);
}

/// RFC 4180.
QString csvField(const QString& text) {
  if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"')) && !text.contains(QLatin1Char('\n')))
    return text;
  QString quoted = text;
  quoted.replace(QLatin1Char('"'), QStringLiteral("\"\""));
  return QLatin1Char('"') + quoted + QLatin1Char('"');
}

}  // namespace

QString EventFilterModel::toCsv() const {
  QString text = QStringLiteral("number,time,source,event,partition,detail,fields\n");
  for (int row = rowCount() - 1; row >= 0; --row) {
    const QModelIndex first = index(row, 0);
    QStringList fields{QString::number(first.data(EventModel::NumberRole).toULongLong()), isoTime(first)};
    for (int column = EventModel::Source; column < EventModel::ColumnCount; ++column)
      fields << csvField(index(row, column).data().toString());
    fields << csvField(first.data(EventModel::FieldsRole).toString());
    text += fields.join(QLatin1Char(',')) + QLatin1Char('\n');
  }
  return text;
}

QString EventFilterModel::toJson() const {
  QString text;
  for (int row = rowCount() - 1; row >= 0; --row) {
    const QModelIndex first = index(row, 0);
    QJsonObject object;
    object[QStringLiteral("number")] = static_cast<qint64>(first.data(EventModel::NumberRole).toULongLong());
    object[QStringLiteral("time")] = isoTime(first);
    object[QStringLiteral("source")] = index(row, EventModel::Source).data().toString();
    object[QStringLiteral("event")] = index(row, EventModel::Event).data().toString();
    object[QStringLiteral("partition")] = index(row, EventModel::Where).data().toString();
    object[QStringLiteral("detail")] = index(row, EventModel::Detail).data().toString();
    object[QStringLiteral("fields")] = first.data(EventModel::FieldsRole).toString();
    text += QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact)) + QLatin1Char('\n');
  }
  return text;
}

QString EventFilterModel::toText(const std::vector<int>& rows) const {
  QStringList heads;
  for (int column = 0; column < columnCount(); ++column) heads << headerData(column, Qt::Horizontal).toString();
  QString text = heads.join(QLatin1Char('\t')) + QLatin1Char('\n');
  for (const int row : rows) {
    QStringList fields;
    for (int column = 0; column < columnCount(); ++column) fields << index(row, column).data().toString();
    text += fields.join(QLatin1Char('\t')) + QLatin1Char('\n');
  }
  return text;
}

}  // namespace tidemark::widgets
