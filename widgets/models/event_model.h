#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include "observe/history.h"
#include "text/event_words.h"

namespace tidemark::widgets {

/// The newest events, newest first; bounded, what comes with every record on its own: it never drives out what happens
/// once. While paused, what comes is held back (bounded as well) and counted. What is left out, and what was forgotten,
/// is counted as well.
class EventModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { Time, Source, Event, Where, Detail, ColumnCount };
  enum Role {
    ShapeRole = Qt::UserRole + 1,
    ShapeColorRole,
    WeightRole,
    GroupRole,
    /// Milliseconds since 1970.
    WallRole,
    NumberRole,
    /// The engine's own fields, "from=5 to=9".
    FieldsRole,
    /// All that is shown of it, in small letters, to be searched.
    SearchRole,
  };
  /// Rows of events that happen now and then.
  static constexpr size_t kCapacity = 4'000;
  /// Rows of chatter beside them.
  static constexpr size_t kChatter = 4'000;

  explicit EventModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  /// `cluster`: as it is by then, never null.
  void append(const observe::EventBatch& batch, const observe::SnapshotPtr& cluster);
  /// Another cluster.
  void clear();
  void setPaused(bool paused);
  bool isPaused() const noexcept { return m_paused; }
  /// Appends, fetches, index entries: hundreds a second, and of little news. Off: they are not kept either.
  /// While off, kinds that come with every record (high watermarks, parked produces) are thinned, so that what happens
  /// once stays in sight: a row of each kind and partition in kThinnedMs; those of internal topics are not kept.
  void setChatty(bool chatty);
  bool isChatty() const noexcept { return m_chatty; }
  static constexpr int64_t kThinnedMs = 5000;
  /// Events left out so.
  uint64_t leftOut() const noexcept { return m_leftOut; }
  /// Rows that had to go for newer ones.
  uint64_t forgotten() const noexcept { return m_forgotten; }
  size_t heldBack() const noexcept { return m_held.size(); }
  /// Events that never came or were forgotten before they could be shown.
  uint64_t lost() const noexcept { return m_lost + m_missed; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 Q_SIGNALS:
  void countsChanged();

 private:
  struct Row {
    observe::ObservedEvent event;
    /// Made when they are first asked for.
    mutable std::optional<EventWords> words;
    bool chatter = false;
  };
  const EventWords& wordsIn(const Row& row) const;
  /// Removes the oldest rows of a kind above its bound.
  void forget(bool chatter);
  void insert(std::vector<observe::ObservedEvent> events);
  bool wants(const observe::ObservedEvent& event);

  std::deque<Row> m_rows;
  /// Tells what its nodes are. Null before anything came.
  observe::SnapshotPtr m_cluster;
  std::vector<observe::ObservedEvent> m_held;
  bool m_paused = false;
  bool m_chatty = false;
  struct Thinned {
    size_t kind = 0;
    std::string topic;
    int32_t partition = -1;
    auto operator<=>(const Thinned&) const = default;
  };
  /// Of each kind and partition that is thinned: when its newest row happened.
  std::map<Thinned, int64_t> m_newest;
  /// Of m_rows.
  size_t m_chatterRows = 0;
  uint64_t m_leftOut = 0;
  uint64_t m_forgotten = 0;
  uint64_t m_lost = 0;
  uint64_t m_missed = 0;
};

/// What of it is shown: words anywhere in the row (all of them), kinds, one partition.
class EventFilterModel : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  explicit EventFilterModel(QObject* parent = nullptr) : QSortFilterProxyModel(parent) {}

  void setWords(const QString& words);
  /// Empty: all.
  void setGroups(std::set<EventGroup> groups);
  const std::set<EventGroup>& groups() const noexcept { return m_groups; }

  /// The rows that are shown, oldest first, as comma-separated values or as one JSON object a line.
  QString toCsv() const;
  QString toJson() const;
  /// The given rows (of this model), in their order, tab-separated with heads.
  QString toText(const std::vector<int>& rows) const;

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  QStringList m_words;
  std::set<EventGroup> m_groups;
};

}  // namespace tidemark::widgets
