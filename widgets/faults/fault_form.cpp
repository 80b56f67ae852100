#include "faults/fault_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>

#include "faults/fault_offers.h"
#include "text/format.h"

namespace tidemark::widgets {

namespace {

constexpr int kYearMs = 2'000'000'000;
constexpr double kLongestSeconds = 86'400;

QComboBox* editableBox() {
  auto* box = new QComboBox;
  box->setEditable(true);
  box->setInsertPolicy(QComboBox::NoInsert);
  box->setMinimumWidth(90);
  return box;
}

QSpinBox* msBox(int from, int to, int value) {
  auto* box = new QSpinBox;
  box->setRange(from, to);
  box->setValue(value);
  box->setSuffix(FaultForm::tr(" ms"));
  box->setAccelerated(true);
  return box;
}

QDoubleSpinBox* secondsBox(const QString& none) {
  auto* box = new QDoubleSpinBox;
  box->setRange(0, kLongestSeconds);
  box->setDecimals(1);
  box->setSuffix(FaultForm::tr(" s"));
  box->setSpecialValueText(none);
  return box;
}

QWidget* sideBySide(std::initializer_list<QWidget*> parts) {
  auto* box = new QWidget;
  auto* row = new QHBoxLayout(box);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  for (QWidget* part : parts) row->addWidget(part);
  row->addStretch();
  box->setFixedHeight(28);
  return box;
}

void fillBox(QComboBox* box, const QStringList& items) {
  const QString before = box->currentText();
  box->clear();
  box->addItems(items);
  if (!before.isEmpty()) box->setEditText(before);
}

}  // namespace

FaultForm::FaultForm(QWidget* parent) : QWidget(parent), m_form(new QFormLayout(this)) {
  m_form->setContentsMargins(16, 14, 16, 14);
  m_form->setHorizontalSpacing(20);
  m_form->setVerticalSpacing(8);
  m_form->setLabelAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  makeFields();
  makeTrigger();
  for (auto* box : findChildren<QComboBox*>()) {
    connect(box, &QComboBox::currentTextChanged, this, &FaultForm::changed);
    connect(box, &QComboBox::editTextChanged, this, &FaultForm::changed);
  }
  for (auto* box : findChildren<QSpinBox*>()) connect(box, &QSpinBox::valueChanged, this, &FaultForm::changed);
  for (auto* box : findChildren<QDoubleSpinBox*>())
    connect(box, &QDoubleSpinBox::valueChanged, this, &FaultForm::changed);
  for (auto* box : findChildren<QCheckBox*>()) connect(box, &QCheckBox::toggled, this, &FaultForm::changed);
  for (QLineEdit* line : {m_left, m_right}) connect(line, &QLineEdit::textChanged, this, &FaultForm::changed);
  takeKind();
}

void FaultForm::addRow(const QString& name, QWidget* field, const QString& tip) {
  auto* label = new QLabel(name);
  label->setMinimumWidth(104);
  label->setFixedHeight(28);
  label->setBuddy(field);
  field->setAccessibleName(name);
  field->setToolTip(tip);
  label->setToolTip(tip);
  m_form->addRow(label, field);
}

void FaultForm::makeFields() {
  m_node = editableBox();
  addRow(tr("Target"), m_node, tr("A node by its number or by what it is when the fault begins"));
  m_from = editableBox();
  m_ways = new QComboBox;
  m_ways->addItems({QStringLiteral("↔"), QStringLiteral("→")});
  m_ways->setAccessibleName(tr("Direction"));
  m_ways->setToolTip(tr("Both ways, or only what is sent from left to right"));
  m_to = editableBox();
  m_from->setAccessibleName(tr("From"));
  m_to->setAccessibleName(tr("To"));
  m_link = sideBySide({m_from, m_ways, m_to});
  addRow(tr("Link"), m_link, tr("Between brokers, controllers and clients"));
  m_who = editableBox();
  addRow(tr("Requests"), m_who, tr("Of a broker, of clients, or everywhere"));
  m_left = new QLineEdit;
  m_right = new QLineEdit;
  addRow(tr("One group"), m_left, tr("Numbers of nodes: 1, 2"));
  addRow(tr("Other group"), m_right, tr("Numbers of nodes: 3"));
  m_clients = new QCheckBox(tr("from clients as well"));
  addRow(tr("Isolated"), m_clients);
  m_delay = msBox(0, kYearMs, 100);
  addRow(tr("Delay"), m_delay);
  m_jitter = msBox(0, kYearMs, 0);
  addRow(tr("Jitter"), m_jitter, tr("As much more or less, drawn anew each time"));
  m_width = new QSpinBox;
  m_width->setRange(0, 2'000'000'000);
  m_width->setValue(10'000);
  m_width->setSuffix(tr(" B/s"));
  addRow(tr("Width"), m_width, tr("Of each connection and direction"));
  m_path = editableBox();
  addRow(tr("Files"), m_path, tr("The end of a path; * stands for anything, nothing for all files"));
  m_reads = new QCheckBox(tr("read"));
  m_writes = new QCheckBox(tr("write"));
  m_syncs = new QCheckBox(tr("sync"));
  m_calls = sideBySide({m_reads, m_writes, m_syncs});
  addRow(tr("Calls"), m_calls);
  m_offset = msBox(-kYearMs, kYearMs, 60'000);
  addRow(tr("By"), m_offset, tr("Ahead, or back if it is negative"));
  m_rate = new QDoubleSpinBox;
  m_rate->setRange(0.01, 100);
  m_rate->setDecimals(3);
  m_rate->setSingleStep(0.1);
  m_rate->setValue(1.5);
  m_rate->setPrefix(QStringLiteral("× "));
  addRow(tr("Rate"), m_rate, tr("1.01 gains a hundredth"));
  m_wall = new QCheckBox(tr("wall"));
  m_monotonic = new QCheckBox(tr("monotonic"));
  m_clocks = sideBySide({m_wall, m_monotonic});
  addRow(tr("Clocks"), m_clocks, tr("Timestamps and retention; timeouts and lags"));
  m_api = editableBox();
  m_api->addItems({QString(), QStringLiteral("Produce"), QStringLiteral("Fetch"), QStringLiteral("ListOffsets"),
                   QStringLiteral("Metadata"), QStringLiteral("OffsetCommit"), QStringLiteral("OffsetFetch"),
                   QStringLiteral("FindCoordinator"), QStringLiteral("JoinGroup"), QStringLiteral("SyncGroup"),
                   QStringLiteral("Heartbeat"), QStringLiteral("LeaveGroup"), QStringLiteral("InitProducerId"),
                   QStringLiteral("CreateTopics"), QStringLiteral("DeleteTopics"), QStringLiteral("AlterPartition"),
                   QStringLiteral("BrokerHeartbeat"), QStringLiteral("Vote"), QStringLiteral("OffsetForLeaderEpoch")});
  addRow(tr("API"), m_api, tr("Kafka’s name of it; nothing: all"));
  m_error = editableBox();
  for (int16_t code = 1; code < 130; ++code)
    if (const auto name = errorName(static_cast<ErrorCode>(code)); name != errorName(ErrorCode::UnknownServerError))
      m_error->addItem(fromUtf8(name));
  addRow(tr("Error"), m_error);
  m_topic = editableBox();
  addRow(tr("Topic"), m_topic, tr("Nothing: all topics"));
  m_partition = new QSpinBox;
  m_partition->setRange(-1, 100'000);
  m_partition->setValue(-1);
  m_partition->setSpecialValueText(tr("all"));
  addRow(tr("Partition"), m_partition);
}

void FaultForm::makeTrigger() {
  m_which = new QComboBox;
  m_which->addItems({tr("each of them"), tr("only number"), tr("every"), tr("with probability")});
  m_which->setAccessibleName(tr("Which occasions"));
  m_n = new QSpinBox;
  m_n->setRange(1, 1'000'000);
  m_n->setAccessibleName(tr("Number"));
  m_chance = new QDoubleSpinBox;
  m_chance->setRange(0, 1);
  m_chance->setDecimals(3);
  m_chance->setSingleStep(0.05);
  m_chance->setValue(0.1);
  m_chance->setAccessibleName(tr("Probability"));
  m_seed = new QSpinBox;
  m_seed->setRange(0, kYearMs);
  m_seed->setPrefix(tr("seed "));
  m_seed->setAccessibleName(tr("Seed"));
  m_occasions = sideBySide({m_which, m_n, m_chance, m_seed});
  addRow(tr("Takes"), m_occasions, tr("Of all that it could meet"));
  m_after = secondsBox(tr("now"));
  addRow(tr("Begins"), m_after, tr("After that time; names are resolved then"));
  m_duration = secondsBox(tr("until healed"));
  addRow(tr("Lasts"), m_duration);
  m_who->lineEdit()->setPlaceholderText(tr("everywhere"));
  m_topic->lineEdit()->setPlaceholderText(tr("all topics"));
  m_path->lineEdit()->setPlaceholderText(tr("all files"));
  m_api->lineEdit()->setPlaceholderText(tr("all"));
  connect(m_which, &QComboBox::currentIndexChanged, this, &FaultForm::takeKind);
}

void FaultForm::setCluster(const observe::ClusterSnapshot& cluster) {
  const QSignalBlocker quiet(this);
  QStringList nodes;
  QStringList brokers;
  QStringList ends;
  QStringList topics{QString()};
  QStringList leaders;
  for (const observe::BrokerSnapshot& broker : cluster.brokers) {
    nodes << fromUtf8(faults::textOf(faults::Target{nodeNamed(broker)}));
    // What only a broker is asked for is none of a controller.
    if (broker.isBroker) brokers << nodes.back();
    ends << QString::number(broker.id.value());
  }
  for (const observe::TopicSnapshot& topic : cluster.topics) {
    if (topic.internal) continue;
    topics << fromUtf8(topic.name);
    for (const observe::PartitionSnapshot& partition : topic.partitions)
      if (leaders.size() < 24)
        leaders << QStringLiteral("leader of %1").arg(partitionText({topic.name, partition.index}));
  }
  const QStringList symbols = leaders + QStringList{QStringLiteral("the active controller")};
  QStringList clients{QStringLiteral("clients")};
  for (const observe::ConnectionSnapshot& connection : cluster.connections)
    if (const QString name = QStringLiteral("clients named %1").arg(fromUtf8(connection.client));
        !connection.client.empty() && !clients.contains(name))
      clients << name;
  QStringList controllers;
  for (const QString& end : ends) controllers << QStringLiteral("controller %1").arg(end);
  fillBox(m_node, nodes + symbols);
  fillBox(m_from, ends + clients + controllers + symbols);
  fillBox(m_to, ends + clients + controllers + symbols);
  if (ends.size() > 1 && m_to->currentText() == m_from->currentText()) m_to->setEditText(ends[1]);
  fillBox(m_who, QStringList{QString()} + brokers + clients + symbols);
  fillBox(m_topic, topics);
  QStringList paths{QString(),
                    QStringLiteral("*.log"),
                    QStringLiteral("*.index"),
                    QStringLiteral("*.timeindex"),
                    QStringLiteral("*-checkpoint"),
                    QStringLiteral("__cluster_metadata-0/*")};
  for (const QString& topic : topics)
    if (!topic.isEmpty() && paths.size() < 12) paths << QStringLiteral("%1-0/*.log").arg(topic);
  fillBox(m_path, paths);
  if (m_left->text().isEmpty() && ends.size() > 1) {
    m_left->setText(ends.mid(0, 1).join(QStringLiteral(", ")));
    m_right->setText(ends.mid(1).join(QStringLiteral(", ")));
  }
}

void FaultForm::setKind(faults::Kind kind) {
  m_kind = kind;
  takeKind();
  Q_EMIT changed();
}

void FaultForm::show(QWidget* field, bool shown) {
  if (shown == m_form->isRowVisible(field)) return;
  m_form->setRowVisible(field, shown);
}

void FaultForm::takeKind() {
  const uint32_t takes = faults::parametersOf(m_kind);
  const faults::Area area = faults::areaOf(m_kind);
  const bool ofNode = m_kind == faults::Kind::Isolate || m_kind == faults::Kind::Bridge ||
                      (area != faults::Area::Links && area != faults::Area::Requests);
  show(m_node, (takes & faults::kTarget) && ofNode);
  show(m_link, (takes & faults::kTarget) && area == faults::Area::Links && !ofNode);
  show(m_who, area == faults::Area::Requests);
  show(m_left, takes & faults::kGroups);
  show(m_right, takes & faults::kGroups);
  show(m_clients, takes & faults::kWithClients);
  show(m_delay, takes & faults::kDelay);
  show(m_jitter, takes & faults::kJitter);
  show(m_width, takes & faults::kBytesPerSecond);
  show(m_path, takes & faults::kPath);
  show(m_calls, takes & faults::kFileCalls);
  show(m_offset, takes & faults::kOffset);
  show(m_rate, takes & faults::kRate);
  show(m_clocks, takes & faults::kClocks);
  show(m_api, takes & faults::kApi);
  show(m_error, takes & faults::kError);
  show(m_topic, takes & faults::kTopic);
  show(m_partition, takes & faults::kPartition);
  show(m_occasions, takes & faults::kOccasions);
  show(m_duration, takes & faults::kDuration);
  const int which = m_which->currentIndex();
  m_n->setVisible(which == 1 || which == 2);
  m_chance->setVisible(which == 3);
  m_seed->setVisible(which == 3);
}

QWidget* FaultForm::field(faults::Parameter parameter) const {
  QWidget* found = nullptr;
  switch (parameter) {
    case faults::kTarget:
      found = m_form->isRowVisible(m_node)   ? static_cast<QWidget*>(m_node)
              : m_form->isRowVisible(m_link) ? m_link
                                             : m_who;
      break;
    case faults::kDuration:
      found = m_duration;
      break;
    case faults::kOccasions:
      found = m_which;
      break;
    case faults::kDelay:
      found = m_delay;
      break;
    case faults::kJitter:
      found = m_jitter;
      break;
    case faults::kBytesPerSecond:
      found = m_width;
      break;
    case faults::kGroups:
      found = m_left;
      break;
    case faults::kWithClients:
      found = m_clients;
      break;
    case faults::kPath:
      found = m_path;
      break;
    case faults::kFileCalls:
      found = m_writes;
      break;
    case faults::kOffset:
      found = m_offset;
      break;
    case faults::kClocks:
      found = m_wall;
      break;
    case faults::kRate:
      found = m_rate;
      break;
    case faults::kApi:
      found = m_api;
      break;
    case faults::kTopic:
      found = m_topic;
      break;
    case faults::kPartition:
      found = m_partition;
      break;
    case faults::kError:
      found = m_error;
      break;
  }
  return faults::parametersOf(m_kind) & parameter ? found : nullptr;
}

}  // namespace tidemark::widgets
