#include "models/event_model.h"

#include <algorithm>

#include <QDateTime>
#include <QJsonDocument>
#include <QJsonObject>

#include "text/format.h"

namespace tidemark::widgets {

void EventModel::append(const observe::EventBatch& batch) {
  const uint64_t before = lost();
  const uint64_t thinnedBefore = m_thinned;
  m_lost = batch.lost;
  m_missed += batch.missed;
  std::vector<observe::ObservedEvent> wanted;
  for (const observe::ObservedEvent& event : batch.events)
    if (wants(event)) wanted.push_back(event);
  if (m_paused) {
    m_held.insert(m_held.end(), wanted.begin(), wanted.end());
    if (m_held.size() > kCapacity) m_held.erase(m_held.begin(), m_held.end() - static_cast<std::ptrdiff_t>(kCapacity));
  } else {
    insert(std::move(wanted));
  }
  if (lost() != before || thinned() != thinnedBefore || (m_paused && !batch.events.empty())) Q_EMIT countsChanged();
}

bool EventModel::wants(const observe::ObservedEvent& event) {
  if (m_chatty) return true;
  switch (weightOf(event.event.payload)) {
    case Weight::Chatty:
      return false;
    case Weight::Frequent:
      // The quorum's own log moves all the time.
      if (event.topic.starts_with("__")) return false;
      break;
    case Weight::Normal:
    case Weight::Grave:
      return true;
  }
  const int64_t now = event.event.wall.time_since_epoch().count();
  const auto [newest, first] = m_newest.try_emplace(event.event.payload.index(), now);
  // A clock that was set back begins anew.
  if (!first && now >= newest->second && now - newest->second < kThinnedMs) {
    ++m_thinned;
    return false;
  }
  newest->second = now;
  return true;
}

void EventModel::insert(std::vector<observe::ObservedEvent> events) {
  if (events.size() > kCapacity) events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(kCapacity));
  if (events.empty()) return;
  beginInsertRows({}, 0, static_cast<int>(events.size()) - 1);
  for (observe::ObservedEvent& event : events) {
    EventWords words = wordsOf(event);
    m_rows.push_front({std::move(event), std::move(words)});
  }
  endInsertRows();
  if (m_rows.size() > kCapacity) {
    beginRemoveRows({}, static_cast<int>(kCapacity), static_cast<int>(m_rows.size()) - 1);
    m_rows.resize(kCapacity);
    endRemoveRows();
  }
}

void EventModel::clear() {
  beginResetModel();
  m_rows.clear();
  m_held.clear();
  m_missed = 0;
  m_thinned = 0;
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

QVariant EventModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = m_rows[static_cast<size_t>(index.row())];
  const EventWords& words = row.words;
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
      return index.column() == Detail ? words.detail : QVariant();
    case ShapeRole:
      return static_cast<int>(words.shape);
    case ShapeColorRole:
      return words.color;
    case WeightRole:
      return static_cast<int>(words.weight);
    case GroupRole:
      return static_cast<int>(words.group);
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

QString isoTime(const QModelIndex& index) {
  return QDateTime::fromMSecsSinceEpoch(index.data(EventModel::WallRole).toLongLong()).toString(Qt::ISODateWithMs);
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
