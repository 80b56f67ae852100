#include "dialogs/consume_dialog.h"

#include <algorithm>
#include <utility>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QShortcut>
#include <QTableView>

#include "dialogs/dialog_parts.h"
#include "models/bootstrap.h"
#include "text/format.h"

namespace tidemark::widgets {

ConsumeDialog::ConsumeDialog(EngineBridge& bridge, QWidget* parent)
    : QDialog(parent),
      m_bridge(bridge),
      m_model(new RecordModel(this)),
      m_topic(new QComboBox),
      m_partition(new QComboBox),
      m_from(new QComboBox),
      m_isolation(new QComboBox),
      m_table(new QTableView),
      m_note(new QLabel),
      m_start(new QPushButton(tr("Start"))) {
  setWindowTitle(tr("Consume"));
  resize(760, 620);
  m_from->addItem(tr("from the beginning"), true);
  m_from->addItem(tr("at the tail: only what comes from now on"), false);
  m_isolation->addItem(tr("read_uncommitted"), false);
  m_isolation->addItem(tr("read_committed"), true);
  DialogParts parts(*this, tr("Consume"),
                    tr("librdkafka reads over the bootstrap address, without a group; it commits nothing."));
  parts.add(tr("Topic"), m_topic);
  parts.add(tr("Partition"), m_partition);
  parts.add(tr("Start"), m_from);
  parts.add(tr("Isolation"), m_isolation);
  m_table->setModel(m_model);
  m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_table->setShowGrid(false);
  m_table->setWordWrap(false);
  m_table->setProperty("kind", QStringLiteral("framed"));
  m_table->verticalHeader()->hide();
  m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  m_table->verticalHeader()->setDefaultSectionSize(24);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->horizontalHeader()->setHighlightSections(false);
  const int widths[] = {76, 90, 116, 130};
  for (int column = 0; column < 4; ++column) m_table->setColumnWidth(column, widths[column]);
  parts.addWide(m_table, 1);
  m_note->setWordWrap(true);
  auto* close = new QPushButton(tr("Close"));
  close->setAutoDefault(false);
  parts.finish(m_note, {close, m_start});
  m_start->setDefault(true);
  fillTopics();
  connect(close, &QPushButton::clicked, this, &QDialog::close);
  connect(m_start, &QPushButton::clicked, this, &ConsumeDialog::toggle);
  connect(m_topic, &QComboBox::currentIndexChanged, this, &ConsumeDialog::fillPartitions);
  connect(&m_reader, &RecordReader::stopped, this, &ConsumeDialog::refresh);
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.snapshot != frame.previous) fillTopics();
  });
  // Twenty times a second is as fast as anyone reads.
  m_timer.setInterval(50);
  m_timer.setSingleShot(true);
  connect(&m_timer, &QTimer::timeout, this, &ConsumeDialog::take);
  connect(&m_reader, &RecordReader::arrived, this, [this] {
    if (!m_timer.isActive()) m_timer.start();
  });
  auto* copy = new QShortcut(QKeySequence::Copy, m_table);
  copy->setContext(Qt::WidgetShortcut);
  connect(copy, &QShortcut::activated, this, [this] {
    QList<QModelIndex> rows = m_table->selectionModel()->selectedRows();
    std::ranges::sort(rows, {}, &QModelIndex::row);
    QString text;
    for (const QModelIndex& row : rows) {
      QStringList cells;
      for (int column = 0; column < RecordModel::ColumnCount; ++column)
        cells << row.siblingAtColumn(column).data().toString();
      text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
    }
    QApplication::clipboard()->setText(text);
  });
  refresh();
}

void ConsumeDialog::fillTopics() {
  QStringList names;
  for (const observe::TopicSnapshot& topic : m_bridge.snapshot()->topics)
    if (topic.name != "__cluster_metadata") names << fromUtf8(topic.name);
  if (offer(*m_topic, names)) fillPartitions();
}

void ConsumeDialog::fillPartitions() {
  const auto* topic = observe::findTopic(*m_bridge.snapshot(), m_topic->currentText().toStdString());
  const int count = topic == nullptr ? 0 : static_cast<int>(topic->partitions.size());
  m_partition->clear();
  m_partition->addItem(tr("all %n", nullptr, count), -1);
  for (int i = 0; i < count; ++i) m_partition->addItem(tr("partition %1").arg(i), i);
}

void ConsumeDialog::setTopic(const QString& topic) {
  if (!m_reader.isRunning() && m_topic->findText(topic) >= 0) m_topic->setCurrentText(topic);
}

ConsumeOptions ConsumeDialog::options() const {
  ConsumeOptions options;
  options.bootstrap = allAddresses(*m_bridge.snapshot());
  options.topic = m_topic->currentText();
  options.partition = m_partition->currentData().toInt();
  options.fromBeginning = m_from->currentData().toBool();
  options.readCommitted = m_isolation->currentData().toBool();
  return options;
}

void ConsumeDialog::toggle() {
  if (m_reader.isRunning()) {
    m_reader.stop();
    m_start->setEnabled(false);
    return;
  }
  m_model->clear();
  QString error;
  if (!m_reader.start(options(), &error)) setNote(m_note, error, true);
  refresh();
  Q_EMIT readingChanged(m_reader.isRunning());
}

void ConsumeDialog::take() {
  const QScrollBar* bar = m_table->verticalScrollBar();
  const bool atEnd = bar->value() >= bar->maximum() - 4;
  m_model->append(m_reader.take());
  if (atEnd) m_table->scrollToBottom();
  refresh();
}

void ConsumeDialog::refresh() {
  const bool running = m_reader.isRunning();
  for (QWidget* field : {m_topic, m_partition, m_from, m_isolation}) field->setEnabled(!running);
  m_start->setEnabled(running || !m_topic->currentText().isEmpty());
  m_start->setText(running ? tr("Stop") : tr("Start"));
  if (std::exchange(m_reads, running) != running) Q_EMIT readingChanged(running);
  const QString error = m_reader.error();
  if (!error.isEmpty())
    setNote(m_note, error, true);
  else
    setNote(m_note,
            running || m_model->total() > 0
                ? tr("%1 record(s) read", nullptr, pluralOf(m_model->total())).arg(grouped(m_model->total())) +
                      (running ? QStringLiteral(" · ") + tr("goes on when this dialog is closed") : QString())
                : QString(),
            false);
}

}  // namespace tidemark::widgets
