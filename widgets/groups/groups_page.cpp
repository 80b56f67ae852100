#include "groups/groups_page.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "groups/group_scene.h"
#include "groups/group_view.h"
#include "groups/group_words.h"
#include "groups/offsets_dialog.h"
#include "text/format.h"
#include "theme/tables.h"
#include "theme/theme.h"
#include "views/page_parts.h"

namespace tidemark::widgets {

namespace {

/// Partitions, or the tasks of a streams application under Kafka's names.
QString piecesCell(const std::vector<TopicPartition>& partitions,
                   const std::vector<observe::GroupTaskSnapshot>& tasks) {
  QStringList names;
  for (const TopicPartition& one : partitions) names << partitionText(one);
  for (const observe::GroupTaskSnapshot& task : tasks) {
    const QString name = QStringLiteral("%1_%2").arg(fromUtf8(task.subtopology)).arg(task.partition);
    names << (task.role == observe::TaskRole::Active    ? name
              : task.role == observe::TaskRole::Standby ? GroupsPage::tr("%1 (standby)").arg(name)
                                                        : GroupsPage::tr("%1 (warm-up)").arg(name));
  }
  return names.join(QStringLiteral(", "));
}

QTableView* groupTable(QAbstractItemModel* model, const QString& name, QWidget* parent) {
  auto* table = new QTableView(parent);
  frameTwin(*table, model, name);
  table->horizontalHeader()->setStretchLastSection(true);
  return table;
}

}  // namespace

GroupsPage::GroupsPage(EngineBridge& bridge, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_note(new QLabel),
      m_offsets(new QPushButton(tr("Offsets…"))),
      m_delete(new QPushButton(tr("Delete…"))),
      m_nothing(new QLabel),
      m_view(new GroupView) {
  m_listModel = new RowsModel<GroupListRow>(
      {{tr("group"), [](const GroupListRow& row, int) { return fromUtf8(row.id); }},
       {tr("type"), [](const GroupListRow& row, int) { return row.kind; }},
       {tr("state"), [](const GroupListRow& row, int) { return row.state; }},
       {tr("members"), [](const GroupListRow& row, int) { return grouped(row.members); }, true},
       {tr("lag"), [](const GroupListRow& row, int) { return grouped(row.lag); }, true},
       {tr("coordinator"), [](const GroupListRow& row, int) { return row.coordinator; }}},
      this);
  m_memberModel = new RowsModel<MemberTableRow>(
      {{tr("member"), [](const MemberTableRow& row, int) { return fromUtf8(row.member.memberId); }},
       {tr("instance"), [](const MemberTableRow& row, int) { return fromUtf8(row.member.instanceId); }},
       {tr("client id"), [](const MemberTableRow& row, int) { return fromUtf8(row.member.clientId); }},
       {tr("host"), [](const MemberTableRow& row, int) { return fromUtf8(row.member.host); }},
       {tr("software"), [](const MemberTableRow& row, int) { return fromUtf8(row.member.software); }},
       {tr("epoch"), [](const MemberTableRow& row, int) { return QString::number(row.member.epoch); }, true},
       {tr("state"), [](const MemberTableRow& row, int) { return fromUtf8(row.member.state); }},
       {tr("owns"), [](const MemberTableRow& row, int) { return piecesCell(row.member.assigned, row.member.tasks); }},
       {tr("target"),
        [](const MemberTableRow& row, int) {
          return row.hasTarget ? piecesCell(row.member.target, row.member.targetTasks) : QStringLiteral("–");
        }},
       {tr("gives back"),
        [](const MemberTableRow& row, int) { return piecesCell(row.member.revoking, row.member.revokingTasks); }}},
      this);
  const auto optional = [](const std::optional<Offset>& offset) {
    return offset ? offsetText(*offset) : QStringLiteral("–");
  };
  m_lagModel = new RowsModel<LagTableRow>(
      {{tr("partition"), [](const LagTableRow& row, int) { return partitionText(row.partition.partition); }},
       {tr("committed"), [optional](const LagTableRow& row, int) { return optional(row.partition.committed); }, true},
       {tr("high watermark"), [optional](const LagTableRow& row, int) { return optional(row.partition.highWatermark); },
        true},
       {tr("lag"),
        [](const LagTableRow& row, int) {
          return row.partition.lag() ? grouped(*row.partition.lag()) : QStringLiteral("–");
        },
        true},
       {tr("seconds"), [](const LagTableRow& row, int) { return row.seconds; }, true},
       {tr("committed at"),
        [](const LagTableRow& row, int) {
          return row.partition.committedAt ? momentText(row.partition.committedAt->time_since_epoch().count())
                                           : QStringLiteral("–");
        }},
       {tr("member"), [](const LagTableRow& row, int) { return row.owner; }},
       {tr("metadata"), [](const LagTableRow& row, int) { return fromUtf8(row.partition.metadata); }}},
      this);
  m_pastModel = new RowsModel<HappeningTableRow>(
      {{tr("time"), [](const HappeningTableRow& row, int) { return row.time; }},
       {tr("what happened"), [](const HappeningTableRow& row, int) { return row.what; }}},
      this);

  QWidget* head = pageHead(this, tr("Groups"), m_note, {m_offsets, m_delete});

  m_stack = new QStackedWidget(this);
  auto* inside = new QWidget(m_stack);
  m_list = groupTable(m_listModel, tr("Groups"), inside);
  m_list->setSelectionMode(QAbstractItemView::SingleSelection);
  m_list->setColumnWidth(0, 260);
  m_list->setColumnWidth(1, 100);
  m_list->setColumnWidth(2, 200);
  m_list->setColumnWidth(3, 90);
  m_list->setColumnWidth(4, 110);
  m_detail = new QStackedWidget(inside);
  auto* scroll = new QScrollArea(m_detail);
  scrollDown(*scroll, m_view);
  auto* tables = new QWidget(m_detail);
  m_membersTable = groupTable(m_memberModel, tr("Members"), tables);
  m_membersTable->setColumnWidth(0, 230);
  m_lagTable = groupTable(m_lagModel, tr("Offsets and lag"), tables);
  m_pastTable = groupTable(m_pastModel, tr("What happened"), tables);
  m_pastTable->setColumnWidth(0, 110);
  auto* tablesDown = new QVBoxLayout(tables);
  tablesDown->setContentsMargins(0, 0, 0, 0);
  tablesDown->setSpacing(6);
  tablesDown->addWidget(kindLabel("head", tr("MEMBERS"), tables));
  tablesDown->addWidget(m_membersTable, 2);
  tablesDown->addWidget(kindLabel("head", tr("OFFSETS AND LAG"), tables));
  tablesDown->addWidget(m_lagTable, 3);
  tablesDown->addWidget(kindLabel("head", tr("WHAT HAPPENED, NEWEST FIRST"), tables));
  tablesDown->addWidget(m_pastTable, 2);
  m_detail->addWidget(scroll);
  m_detail->addWidget(tables);
  auto* down = new QVBoxLayout(inside);
  down->setContentsMargins(24, 0, 24, 16);
  down->setSpacing(12);
  // The list takes no more than it needs.
  m_list->setMaximumHeight(30 + 5 * 25 + 4);
  down->addWidget(m_list);
  down->addWidget(m_detail, 1);
  placeNothing(*m_nothing);
  m_nothing->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_stack->addWidget(inside);
  m_stack->addWidget(m_nothing);
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->setSpacing(0);
  whole->addWidget(head);
  whole->addWidget(m_stack, 1);
  setFocusProxy(m_view);

  connect(m_offsets, &QPushButton::clicked, this, &GroupsPage::openOffsets);
  connect(m_delete, &QPushButton::clicked, this, &GroupsPage::deleteGroup);
  connect(m_list->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
    if (index.isValid() && index.row() < static_cast<int>(m_listModel->rows().size()))
      showGroup(m_listModel->rows()[static_cast<size_t>(index.row())].id);
  });
  connect(m_view, &GroupView::rebalanceStepped, this, [this](int by) {
    if (by > 0 || m_rebalance > 0) pickRebalance(m_rebalance + static_cast<size_t>(by));
  });
  connect(m_view, &GroupView::groupStepped, this, [this](int by) {
    const int next = m_list->currentIndex().row() + by;
    if (next >= 0 && next < static_cast<int>(m_listModel->rows().size())) m_list->selectRow(next);
  });
  connect(m_view, &GroupView::picked, this, [this](int index) { pickRebalance(static_cast<size_t>(index)); });
  connect(m_view, &GroupView::eventWanted, this, &GroupsPage::eventWanted);
  connect(m_pastTable, &QTableView::activated, this, [this](const QModelIndex& index) {
    Q_EMIT eventWanted(m_pastModel->rows()[static_cast<size_t>(index.row())].event);
  });
  connect(&bridge, &EngineBridge::live, this, &GroupsPage::onFrame);
  // Another moment is shown, or the present again.
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (m_active && (m_bridge.moment() || m_then) && frame.snapshot != frame.previous) fill();
  });
  // What is told in seconds moves with the time.
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (m_active) fill();
  });
}

GroupsPage::~GroupsPage() = default;

const GroupPast& GroupsPage::past() const {
  const auto& moment = m_bridge.moment();
  if (!moment) {
    m_then.reset();
    return m_past;
  }
  if (!m_then || m_then->first != *moment) m_then.emplace(*moment, GroupPast::until(m_bridge.recording(), *moment));
  return m_then->second;
}

GroupTime GroupsPage::now() const {
  return m_bridge.snapshot()->wall + std::chrono::duration_cast<platform::WallClock::duration>(m_bridge.age());
}

const observe::GroupSnapshot* GroupsPage::current() const {
  const auto& groups = m_bridge.snapshot()->groups;
  const auto found = std::ranges::find(groups, m_shown, &observe::GroupSnapshot::id);
  return found == groups.end() ? nullptr : &*found;
}

void GroupsPage::onFrame(const Frame& frame) {
  if (frame.anotherCluster) {
    m_past.clear();
    m_shown.clear();
    m_rebalance = 0;
  }
  const bool news = m_past.add(*frame.snapshot, frame.events.events);
  if (m_active && (news || frame.snapshot != frame.previous)) fill();
}

void GroupsPage::setActive(bool active) {
  m_active = active;
  if (active) fill();
}

void GroupsPage::showTable(bool table) {
  m_asTable = table;
  m_detail->setCurrentIndex(table ? 1 : 0);
  if (m_active) fill();
  (table ? static_cast<QWidget*>(m_membersTable) : m_view)->setFocus();
}

void GroupsPage::showGroup(const std::string& id) {
  if (id == m_shown) return;
  m_shown = id;
  m_rebalance = 0;
  fill();
}

void GroupsPage::pickRebalance(size_t index) {
  const GroupRecord* record = past().find(m_shown);
  if (record == nullptr || record->rebalances.empty()) return;
  m_rebalance = std::min(index, record->rebalances.size() - 1);
  fill();
}

void GroupsPage::fill() {
  const observe::ClusterSnapshot& cluster = *m_bridge.snapshot();
  std::vector<GroupListRow> rows;
  for (const observe::GroupSnapshot& group : cluster.groups)
    rows.push_back(
        {group.id, kindText(group.kind), fromUtf8(group.state), static_cast<int>(group.members.size()), group.lag(),
         group.coordinator == kNoNode ? QStringLiteral("–") : tr("broker %1").arg(group.coordinator.value())});
  if (!rows.empty() && std::ranges::find(rows, m_shown, &GroupListRow::id) == rows.end()) {
    m_shown = rows.front().id;
    m_rebalance = 0;
  }
  const QString note = tr("%1 · their coordinators read them from __consumer_offsets")
                           .arg(tr("%n group(s)", nullptr, static_cast<int>(rows.size())));
  if (m_note->text() != note) m_note->setText(note);
  m_nothing->setText(m_bridge.moment() ? tr("There was no group at that moment.")
                                       : tr("No group yet. Any consumer with a group.id makes one appear here:\n\n"
                                            "kcat -b %1 -G readers orders")
                                             .arg(fromUtf8(cluster.bootstrap)));
  m_stack->setCurrentIndex(rows.empty() ? 1 : 0);
  const auto place = std::ranges::find(rows, m_shown, &GroupListRow::id);
  const int index = place == rows.end() ? -1 : static_cast<int>(place - rows.begin());
  m_list->setFixedHeight(32 + 25 * std::clamp(static_cast<int>(rows.size()), 1, 5));
  {
    const QSignalBlocker quiet(m_list->selectionModel());
    m_listModel->setRows(std::move(rows));
    if (index >= 0 && m_list->currentIndex().row() != index) m_list->selectRow(index);
  }
  m_list->viewport()->update();
  const observe::GroupSnapshot* group = current();
  const QString hindrance = m_bridge.hindrance();
  m_offsets->setEnabled(group != nullptr && hindrance.isEmpty());
  m_delete->setEnabled(group != nullptr && hindrance.isEmpty());
  m_offsets->setToolTip(hindrance.isEmpty() ? tr("Reset, edit or forget what the group has committed (O)") : hindrance);
  m_delete->setToolTip(hindrance.isEmpty() ? tr("Remove the group and its offsets") : hindrance);
  if (group == nullptr) return;
  if (m_asTable) fillTables(*group);
  m_view->setScene(groupScene(*group, past().find(m_shown), m_rebalance, now()));
}

void GroupsPage::fillTables(const observe::GroupSnapshot& group) {
  const GroupScene scene = groupScene(group, past().find(m_shown), m_rebalance, now());
  std::vector<MemberTableRow> members;
  for (const observe::GroupMemberSnapshot& member : group.members)
    members.push_back({member, memberName(member, group.members), scene.assignment.hasTarget});
  m_memberModel->setRows(std::move(members));
  std::vector<LagTableRow> lags;
  for (size_t i = 0; i < group.partitions.size(); ++i)
    lags.push_back({group.partitions[i], scene.lag[i].owner, scene.lag[i].seconds});
  m_lagModel->setRows(std::move(lags));
  std::vector<HappeningTableRow> happened;
  if (const GroupRecord* record = past().find(m_shown))
    for (auto one = record->happenings.rbegin(); one != record->happenings.rend(); ++one)
      if (QString text = happeningText(*one, *record); !text.isEmpty())
        happened.push_back({timeText(one->at), std::move(text), one->event});
  m_pastModel->setRows(std::move(happened));
}

OffsetsDialog* GroupsPage::openOffsets() {
  if (current() == nullptr) return nullptr;
  if (const QString hindrance = m_bridge.hindrance(); !hindrance.isEmpty()) {
    Q_EMIT told(hindrance);
    return nullptr;
  }
  if (m_dialog) m_dialog->deleteLater();
  m_dialog = new OffsetsDialog(m_bridge, m_shown, this);
  m_dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(m_dialog, &QDialog::accepted, this,
          [this, id = m_shown] { Q_EMIT told(tr("The offsets of %1 are changed").arg(fromUtf8(id))); });
  m_dialog->show();
  return m_dialog;
}

void GroupsPage::deleteGroup() {
  const observe::GroupSnapshot* group = current();
  if (group == nullptr) return;
  const QString name = fromUtf8(group->id);
  QMessageBox box(QMessageBox::Warning, tr("Delete %1?").arg(name),
                  tr("What it has committed for %n partition(s) is forgotten.", nullptr,
                     static_cast<int>(group->partitions.size())),
                  QMessageBox::Cancel, this);
  box.setInformativeText(
      group->members.empty()
          ? tr("Same in a shell: %1").arg(deleteGroupCommand(fromUtf8(m_bridge.snapshot()->bootstrap), name))
          : tr("It has %n member(s), so that its coordinator will refuse: stop its clients first.", nullptr,
               static_cast<int>(group->members.size())));
  QPushButton* go = box.addButton(tr("Delete the group"), QMessageBox::DestructiveRole);
  box.setDefaultButton(QMessageBox::Cancel);
  box.exec();
  if (box.clickedButton() != go) return;
  m_bridge.deleteGroup(name.toStdString(), this, [this, name](const Result<void>& done) {
    Q_EMIT told(done ? tr("Group %1 is deleted").arg(name) : tr("Not deleted: %1").arg(errorText(done.error())));
  });
}

void GroupsPage::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(m_view->asText());
    return;
  }
  if (event->key() == Qt::Key_O) {
    openOffsets();
    return;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace tidemark::widgets
