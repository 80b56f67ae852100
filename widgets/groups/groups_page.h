#pragma once

#include <QPointer>
#include <QWidget>

#include "bridge/engine_bridge.h"
#include "groups/group_past.h"
#include "models/rows_model.h"

class QLabel;
class QPushButton;
class QSettings;
class QStackedWidget;
class QTableView;

namespace tidemark::widgets {

class GroupView;
class OffsetsDialog;

/// A line of the list of groups.
struct GroupListRow {
  std::string id;
  QString kind;
  QString state;
  int members = 0;
  int64_t lag = 0;
  QString coordinator;
  friend bool operator==(const GroupListRow&, const GroupListRow&) = default;
};
struct MemberTableRow {
  observe::GroupMemberSnapshot member;
  QString name;
  bool hasTarget = false;
  friend bool operator==(const MemberTableRow&, const MemberTableRow&) = default;
};
struct LagTableRow {
  observe::GroupPartitionSnapshot partition;
  QString owner;
  QString seconds;
  friend bool operator==(const LagTableRow&, const LagTableRow&) = default;
};
struct HappeningTableRow {
  QString time;
  QString what;
  uint64_t event = 0;
  friend bool operator==(const HappeningTableRow&, const HappeningTableRow&) = default;
};

/// The Groups view: a list of all groups, and one of them drawn, or as tables (T). O opens its offsets, ← → go through
/// its rebalances, ↑ ↓ through the groups. Fed with each snapshot and the events of each frame, also while it is not
/// shown.
class GroupsPage : public QWidget {
  Q_OBJECT

 public:
  explicit GroupsPage(EngineBridge& bridge, QWidget* parent = nullptr);
  ~GroupsPage() override;

  void setActive(bool active);
  bool showsTable() const noexcept { return m_asTable; }
  void showTable(bool table);
  void showGroup(const std::string& id);
  const std::string& shown() const noexcept { return m_shown; }
  GroupView& view() noexcept { return *m_view; }
  /// What is remembered at the moment that is shown.
  const GroupPast& past() const;
  QTableView& list() noexcept { return *m_list; }
  QTableView& members() noexcept { return *m_membersTable; }
  QTableView& lags() noexcept { return *m_lagTable; }
  QTableView& happenings() noexcept { return *m_pastTable; }
  /// Which rebalance is drawn, counted from the newest.
  void pickRebalance(size_t index);
  size_t rebalance() const noexcept { return m_rebalance; }
  OffsetsDialog* openOffsets();

 Q_SIGNALS:
  void eventWanted(uint64_t number);
  void told(const QString& text);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void onFrame(const Frame& frame);
  void fill();
  void fillTables(const observe::GroupSnapshot& group);
  void deleteGroup();
  const observe::GroupSnapshot* current() const;
  GroupTime now() const;

  EngineBridge& m_bridge;
  GroupPast m_past;
  /// The same at a moment of the past, if one is shown.
  mutable std::optional<std::pair<observe::Recording::Moment, GroupPast>> m_then;
  bool m_active = false;
  bool m_asTable = false;
  std::string m_shown;
  size_t m_rebalance = 0;
  QLabel* m_note;
  QPushButton* m_offsets;
  QPushButton* m_delete;
  QStackedWidget* m_stack = nullptr;
  QStackedWidget* m_detail = nullptr;
  QTableView* m_list = nullptr;
  QLabel* m_nothing;
  GroupView* m_view;
  QTableView* m_membersTable = nullptr;
  QTableView* m_lagTable = nullptr;
  QTableView* m_pastTable = nullptr;
  RowsModel<GroupListRow>* m_listModel;
  RowsModel<MemberTableRow>* m_memberModel;
  RowsModel<LagTableRow>* m_lagModel;
  RowsModel<HappeningTableRow>* m_pastModel;
  QPointer<OffsetsDialog> m_dialog;
};

}  // namespace tidemark::widgets
