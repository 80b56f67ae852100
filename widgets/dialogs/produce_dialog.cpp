#include "dialogs/produce_dialog.h"

#include <algorithm>

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>

#include "dialogs/dialog_parts.h"
#include "models/bootstrap.h"
#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

ProduceDialog::ProduceDialog(EngineBridge& bridge, ProducerLoad& load, QWidget* parent)
    : QDialog(parent),
      m_bridge(bridge),
      m_load(load),
      m_topic(new QComboBox),
      m_rate(new QSpinBox),
      m_size(new QSpinBox),
      m_keys(new QSpinBox),
      m_acks(new QComboBox),
      m_codec(new QComboBox),
      m_idempotent(new QCheckBox(tr("idempotent: a retry is never written twice"))),
      m_figures(new QLabel),
      m_note(new QLabel),
      m_start(new QPushButton(tr("Start"))) {
  setWindowTitle(tr("Produce"));
  m_rate->setRange(0, 1'000'000);
  m_rate->setValue(5);
  m_rate->setSpecialValueText(tr("as fast as it goes"));
  m_rate->setSuffix(tr(" records/s"));
  m_size->setRange(1, 900'000);
  m_size->setValue(200);
  m_size->setSuffix(tr(" bytes"));
  m_keys->setRange(0, 1'000'000);
  m_keys->setValue(100);
  m_keys->setSpecialValueText(tr("no keys"));
  m_keys->setSuffix(tr(" different keys"));
  m_acks->addItem(tr("all: the whole ISR has it"), QStringLiteral("all"));
  m_acks->addItem(tr("1: the leader has it"), QStringLiteral("1"));
  m_acks->addItem(tr("0: no answer is waited for"), QStringLiteral("0"));
  for (const char* codec : {"none", "gzip", "snappy", "lz4", "zstd"})
    m_codec->addItem(QLatin1String(codec), QLatin1String(codec));
  DialogParts parts(*this, tr("Produce"),
                    tr("librdkafka writes over the bootstrap address, as any client outside would."));
  parts.add(tr("Topic"), m_topic);
  parts.add(tr("Rate"), m_rate);
  parts.add(tr("Value size"), m_size);
  parts.add(tr("Keys"), m_keys);
  parts.add(tr("acks"), m_acks);
  parts.add(tr("Codec"), m_codec);
  parts.add(QString(), m_idempotent);
  m_figures->setFont(Theme::mono(12, QFont::Medium));
  m_figures->setMinimumWidth(400);
  m_figures->setTextInteractionFlags(Qt::TextSelectableByMouse);
  parts.addWide(m_figures);
  m_note->setWordWrap(true);
  auto* close = new QPushButton(tr("Close"));
  close->setAutoDefault(false);
  parts.finish(m_note, {close, m_start});
  m_start->setDefault(true);
  fillTopics();
  if (load.isRunning()) fill(load.options());
  connect(close, &QPushButton::clicked, this, &QDialog::close);
  connect(m_start, &QPushButton::clicked, this, &ProduceDialog::toggle);
  connect(m_rate, &QSpinBox::valueChanged, this, [this](int rate) {
    if (m_load.isRunning()) m_load.setRate(rate);
  });
  connect(m_acks, &QComboBox::currentIndexChanged, this, &ProduceDialog::refresh);
  connect(m_idempotent, &QCheckBox::toggled, this, &ProduceDialog::refresh);
  connect(&load, &ProducerLoad::stopped, this, &ProduceDialog::refresh);
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.snapshot != frame.previous) fillTopics();
  });
  m_timer.setInterval(250);
  connect(&m_timer, &QTimer::timeout, this, &ProduceDialog::refresh);
  m_timer.start();
  refresh();
}

void ProduceDialog::fillTopics() {
  QStringList names;
  for (const observe::TopicSnapshot& topic : m_bridge.snapshot()->topics)
    if (!topic.internal) names << fromUtf8(topic.name);
  offer(*m_topic, names);
}

void ProduceDialog::setTopic(const QString& topic) {
  if (!m_load.isRunning() && m_topic->findText(topic) >= 0) m_topic->setCurrentText(topic);
}

ProduceOptions ProduceDialog::options() const {
  ProduceOptions options;
  options.bootstrap = allAddresses(*m_bridge.snapshot());
  options.topic = m_topic->currentText();
  options.rate = m_rate->value();
  options.size = m_size->value();
  options.keys = m_keys->value();
  options.acks = m_acks->currentData().toString();
  options.codec = m_codec->currentData().toString();
  options.idempotent = m_idempotent->isChecked();
  return options;
}

void ProduceDialog::fill(const ProduceOptions& options) {
  m_topic->setCurrentText(options.topic);
  m_rate->setValue(static_cast<int>(options.rate));
  m_size->setValue(options.size);
  m_keys->setValue(options.keys);
  m_acks->setCurrentIndex(std::max(0, m_acks->findData(options.acks)));
  m_codec->setCurrentIndex(std::max(0, m_codec->findData(options.codec)));
  m_idempotent->setChecked(options.idempotent);
}

void ProduceDialog::toggle() {
  if (m_load.isRunning()) {
    m_load.stop();
  } else {
    QString error;
    if (!m_load.start(options(), &error)) setNote(m_note, error, true);
  }
  refresh();
}

void ProduceDialog::refresh() {
  const bool running = m_load.isRunning();
  for (QWidget* field :
       {static_cast<QWidget*>(m_topic), static_cast<QWidget*>(m_size), static_cast<QWidget*>(m_keys),
        static_cast<QWidget*>(m_acks), static_cast<QWidget*>(m_codec), static_cast<QWidget*>(m_idempotent)})
    field->setEnabled(!running);
  const bool conflict = m_idempotent->isChecked() && m_acks->currentData().toString() != QStringLiteral("all");
  m_start->setText(running ? tr("Stop") : tr("Start"));
  m_start->setEnabled(running || (!m_topic->currentText().isEmpty() && !conflict));
  const ProducerLoad::Figures figures = m_load.figures();
  m_figures->setText(figures.sent == 0 && !running
                         ? QString()
                         : tr("sent %1   acknowledged %2   failed %3   %4\nacknowledged after %5 ms, at most %6 ms")
                               .arg(grouped(figures.sent), grouped(figures.acknowledged), grouped(figures.failed),
                                    bytesText(figures.bytes), QString::number(figures.meanLatencyMs, 'f', 1),
                                    QString::number(figures.maxLatencyMs, 'f', 1)));
  if (!m_figures->text().isEmpty() && !figures.lastFailure.isEmpty())
    m_figures->setText(m_figures->text() + QLatin1Char('\n') + tr("last failure %1").arg(figures.lastFailure));
  m_figures->setVisible(!m_figures->text().isEmpty());
  const auto* topic = observe::findTopic(*m_bridge.snapshot(), m_topic->currentText().toStdString());
  const auto starved = topic == nullptr ? 0 : std::ranges::count_if(topic->partitions, [&](const auto& partition) {
    return observe::isBelowMinInSync(*topic, partition);
  });
  if (conflict)
    setNote(m_note, tr("an idempotent producer needs acks=all"), true);
  else if (starved > 0 && m_acks->currentData().toString() == QStringLiteral("all"))
    setNote(m_note,
            tr("%n partition(s) with fewer than min.insync.replicas (%1) in sync: acks=all is refused there", nullptr,
               static_cast<int>(starved))
                .arg(topic->minInSync),
            true);
  else if (!figures.error.isEmpty() && running)
    setNote(m_note, figures.error, true);
  else
    setNote(m_note, running ? tr("goes on when this dialog is closed") : QString(), false);
}

}  // namespace tidemark::widgets
