#include "groups/offsets_dialog.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDateTimeEdit>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "dialogs/dialog_parts.h"
#include "groups/group_words.h"
#include "text/format.h"
#include "theme/tables.h"
#include "theme/theme.h"

namespace tidemark::widgets {

OffsetsDialog::OffsetsDialog(EngineBridge& bridge, std::string group, QWidget* parent)
    : QDialog(parent),
      m_bridge(bridge),
      m_id(std::move(group)),
      m_action(new QComboBox),
      m_values(new QStackedWidget),
      m_number(new QLineEdit),
      m_time(new QDateTimeEdit(QDateTime::currentDateTime())),
      m_partitions(new QListWidget),
      m_table(new QTableView),
      m_command(new QLineEdit),
      m_note(new QLabel),
      m_apply(new QPushButton(tr("Reset offsets"))) {
  setWindowTitle(tr("Offsets of %1").arg(fromUtf8(m_id)));
  resize(760, 620);
  const std::pair<Action, QString> actions[] = {
      {Action::Earliest, tr("to the beginning of each log")},
      {Action::Latest, tr("to the end of each log")},
      {Action::Offset, tr("to an offset")},
      {Action::ShiftBy, tr("by so many records on, or back")},
      {Action::Datetime, tr("to the first record of a moment")},
      {Action::Current, tr("to what is committed, where the log still has it")},
      {Action::Forget, tr("forget what is committed")}};
  for (const auto& [which, text] : actions) m_action->addItem(text, static_cast<int>(which));
  m_number->setText(QStringLiteral("0"));
  m_time->setDisplayFormat(QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz"));
  m_values->addWidget(new QWidget);
  m_values->addWidget(m_number);
  m_values->addWidget(m_time);
  m_values->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  m_partitions->setMaximumHeight(110);
  m_partitions->setAccessibleName(tr("Partitions"));
  if (const observe::GroupSnapshot* found = this->group())
    for (const observe::GroupPartitionSnapshot& one : found->partitions) {
      auto* item = new QListWidgetItem(partitionText(one.partition), m_partitions);
      item->setFlags(item->flags() | Qt::ItemIsUserCheckable);
      item->setCheckState(Qt::Checked);
      item->setData(Qt::UserRole, fromUtf8(one.partition.topic));
      item->setData(Qt::UserRole + 1, one.partition.partition.value());
    }
  const auto offset = [](const std::optional<Offset>& value) {
    return value ? offsetText(*value) : QStringLiteral("–");
  };
  m_model = new RowsModel<observe::OffsetEdit>(
      {{tr("partition"), [](const observe::OffsetEdit& edit, int) { return partitionText(edit.partition); }},
       {tr("committed"), [offset](const observe::OffsetEdit& edit, int) { return offset(edit.from); }, true},
       {tr("then"),
        [offset](const observe::OffsetEdit& edit, int) { return edit.to ? offset(edit.to) : tr("forgotten"); }, true},
       {tr("change"),
        [](const observe::OffsetEdit& edit, int) {
          if (!edit.from || !edit.to) return QStringLiteral("–");
          const int64_t by = *edit.to - *edit.from;
          if (by == 0) return tr("none");
          return by > 0 ? tr("%1 skipped").arg(grouped(by)) : tr("%1 again").arg(grouped(-by));
        },
        true},
       {tr("note"),
        [](const observe::OffsetEdit& edit, int) { return edit.clipped ? tr("the nearest that exists") : QString(); }}},
      this);
  m_table->setModel(m_model);
  frameTable(*m_table, tr("What would change"));
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->setColumnWidth(0, 130);
  m_table->setColumnWidth(1, 84);
  m_table->setColumnWidth(2, 84);
  m_table->setColumnWidth(3, 104);
  m_command->setReadOnly(true);
  m_command->setFont(Theme::mono(12));
  m_command->setAccessibleName(tr("The same as a command"));
  auto* copy = new QPushButton(tr("Copy"));
  copy->setToolTip(tr("Copies the command line"));
  auto* commandRow = new QWidget;
  auto* row = new QHBoxLayout(commandRow);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(m_command, 1);
  row->addWidget(copy);
  DialogParts parts(*this, tr("Offsets of %1").arg(fromUtf8(m_id)),
                    tr("Nothing is written before you say so below. The group must have no members."));
  parts.add(tr("Move"), m_action);
  parts.add(tr("Value"), m_values);
  parts.add(tr("Partitions"), m_partitions);
  parts.add(tr("Would change"), m_table);
  parts.add(tr("Same in a shell"), commandRow);
  m_note->setWordWrap(true);
  auto* cancel = new QPushButton(tr("Cancel"));
  parts.finish(m_note, {cancel, m_apply});
  m_apply->setDefault(true);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(commandLine()); });
  connect(m_apply, &QPushButton::clicked, this, &OffsetsDialog::apply);
  connect(m_action, &QComboBox::currentIndexChanged, this, &OffsetsDialog::plan);
  connect(m_number, &QLineEdit::textChanged, this, &OffsetsDialog::plan);
  connect(m_time, &QDateTimeEdit::dateTimeChanged, this, &OffsetsDialog::plan);
  connect(m_partitions, &QListWidget::itemChanged, this, &OffsetsDialog::plan);
  plan();
}

const observe::GroupSnapshot* OffsetsDialog::group() const {
  const auto& groups = m_bridge.snapshot()->groups;
  const auto found = std::ranges::find(groups, m_id, &observe::GroupSnapshot::id);
  return found == groups.end() ? nullptr : &*found;
}

OffsetsDialog::Action OffsetsDialog::action() const {
  return static_cast<Action>(m_action->currentData().toInt());
}

void OffsetsDialog::setAction(Action action) {
  m_action->setCurrentIndex(m_action->findData(static_cast<int>(action)));
}

void OffsetsDialog::setValue(qint64 value) {
  if (action() == Action::Datetime)
    m_time->setDateTime(QDateTime::fromMSecsSinceEpoch(value));
  else
    m_number->setText(QString::number(value));
}

void OffsetsDialog::setPartitions(const std::vector<TopicPartition>& partitions) {
  for (int i = 0; i < m_partitions->count(); ++i) {
    QListWidgetItem* item = m_partitions->item(i);
    const TopicPartition which{item->data(Qt::UserRole).toString().toStdString(),
                               PartitionIndex(item->data(Qt::UserRole + 1).toInt())};
    item->setCheckState(std::ranges::find(partitions, which) != partitions.end() ? Qt::Checked : Qt::Unchecked);
  }
}

std::vector<TopicPartition> OffsetsDialog::ticked() const {
  std::vector<TopicPartition> partitions;
  for (int i = 0; i < m_partitions->count(); ++i)
    if (const QListWidgetItem* item = m_partitions->item(i); item->checkState() == Qt::Checked)
      partitions.push_back(
          {item->data(Qt::UserRole).toString().toStdString(), PartitionIndex(item->data(Qt::UserRole + 1).toInt())});
  return partitions;
}

observe::OffsetResetRequest OffsetsDialog::request() const {
  using Kind = observe::OffsetResetRequest::Kind;
  observe::OffsetResetRequest request{.group = m_id, .partitions = ticked()};
  if (const observe::GroupSnapshot* found = group()) request.groupKind = found->kind;
  switch (action()) {
    case Action::Earliest:
      request.kind = Kind::Earliest;
      break;
    case Action::Latest:
    case Action::Forget:
      request.kind = Kind::Latest;
      break;
    case Action::Current:
      request.kind = Kind::Current;
      break;
    case Action::Offset:
      request.kind = Kind::Offset;
      request.value = m_number->text().toLongLong();
      break;
    case Action::ShiftBy:
      request.kind = Kind::ShiftBy;
      request.value = m_number->text().toLongLong();
      break;
    case Action::Datetime:
      request.kind = Kind::Datetime;
      request.value = m_time->dateTime().toMSecsSinceEpoch();
      break;
  }
  return request;
}

void OffsetsDialog::refuse(const QString& text) {
  m_planned = false;
  m_apply->setEnabled(false);
  setNote(m_note, text, true);
}

void OffsetsDialog::plan() {
  const Action what = action();
  const bool number = what == Action::Offset || what == Action::ShiftBy;
  m_values->setCurrentIndex(number ? 1 : what == Action::Datetime ? 2 : 0);
  m_apply->setText(what == Action::Forget ? tr("Forget offsets") : tr("Reset offsets"));
  const observe::OffsetResetRequest wanted = request();
  const QString bootstrap = fromUtf8(m_bridge.snapshot()->bootstrap);
  m_command->setText(what == Action::Forget ? deleteOffsetsCommand(bootstrap, fromUtf8(m_id), wanted.partitions)
                                            : resetCommand(bootstrap, wanted, true));
  m_command->setCursorPosition(0);
  ++m_plan;
  if (wanted.partitions.empty()) {
    m_model->setRows(std::vector<observe::OffsetEdit>());
    return refuse(tr("no partition is ticked"));
  }
  bool isNumber = false;
  const qint64 value = m_number->text().toLongLong(&isNumber);
  if (number && (!isNumber || (what == Action::Offset && value < 0))) {
    m_model->setRows(std::vector<observe::OffsetEdit>());
    return refuse(what == Action::Offset ? tr("an offset is a number from 0 on") : tr("a number, negative to go back"));
  }
  if (what == Action::Forget) {
    std::vector<observe::OffsetEdit> edits;
    if (const observe::GroupSnapshot* found = group())
      for (const observe::GroupPartitionSnapshot& one : found->partitions)
        if (one.committed && std::ranges::find(wanted.partitions, one.partition) != wanted.partitions.end())
          edits.push_back({.partition = one.partition, .from = one.committed, .to = std::nullopt});
    return take(edits);
  }
  refuse({});
  m_bridge.planOffsets(wanted, this, [this, number = m_plan](const Result<std::vector<observe::OffsetEdit>>& planned) {
    if (number == m_plan) take(planned);
  });
}

void OffsetsDialog::take(const Result<std::vector<observe::OffsetEdit>>& planned) {
  if (!planned) {
    m_model->setRows(std::vector<observe::OffsetEdit>());
    return refuse(errorText(planned.error()));
  }
  m_model->setRows(*planned);
  const observe::GroupSnapshot* found = group();
  if (found != nullptr && !found->members.empty() && action() != Action::Forget)
    return refuse(
        tr("The group has %n member(s): stop its clients first.", nullptr, static_cast<int>(found->members.size())));
  m_planned = !planned->empty();
  m_apply->setEnabled(m_planned);
  setNote(m_note, m_planned ? QString() : tr("nothing is committed there"), false);
}

QString OffsetsDialog::commandLine() const {
  return m_command->text();
}
QString OffsetsDialog::note() const {
  return m_note->text();
}
bool OffsetsDialog::canApply() const {
  return m_apply->isEnabled();
}

void OffsetsDialog::apply() {
  if (!m_planned) return;
  m_apply->setEnabled(false);
  m_bridge.editOffsets(m_id, request().groupKind, preview(), this, [this](const Result<void>& done) {
    if (done) return accept();
    refuse(tr("Not changed: %1").arg(errorText(done.error())));
  });
}

}  // namespace tidemark::widgets
