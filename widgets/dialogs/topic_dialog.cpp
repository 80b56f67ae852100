#include "dialogs/topic_dialog.h"

#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "dialogs/dialog_parts.h"
#include "launch/launch_page.h"
#include "text/format.h"
#include "text/node_words.h"

namespace tidemark::widgets {

TopicDialog::TopicDialog(EngineBridge& bridge, QWidget* parent)
    : QDialog(parent),
      m_bridge(bridge),
      m_name(new QLineEdit),
      m_partitions(new QSpinBox),
      m_factor(new QSpinBox),
      m_minInSync(new QSpinBox),
      m_cleanup(new QComboBox),
      m_note(new QLabel),
      m_create(new QPushButton(tr("Create topic"))) {
  setWindowTitle(tr("New topic"));
  const int brokers = std::max(1, countNodes(*bridge.snapshot()).brokers);
  m_name->setPlaceholderText(tr("payments"));
  m_partitions->setRange(1, 1'000);
  m_partitions->setValue(3);
  m_factor->setRange(1, brokers);
  m_factor->setValue(std::min(3, brokers));
  m_minInSync->setRange(1, brokers);
  m_minInSync->setValue(std::min(2, brokers));
  m_cleanup->addItem(tr("delete: old segments go"), QStringLiteral("delete"));
  m_cleanup->addItem(tr("compact: the newest value of each key stays"), QStringLiteral("compact"));
  DialogParts parts(*this, tr("New topic"),
                    tr("Partitions are spread over the brokers; the first replica of each leads."));
  parts.add(tr("Name"), m_name);
  parts.add(tr("Partitions"), m_partitions);
  parts.add(tr("Replication factor"), m_factor);
  parts.add(tr("min.insync.replicas"), m_minInSync);
  parts.add(tr("cleanup.policy"), m_cleanup);
  m_note->setWordWrap(true);
  auto* cancel = new QPushButton(tr("Cancel"));
  parts.finish(m_note, {cancel, m_create});
  m_create->setDefault(true);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_create, &QPushButton::clicked, this, &TopicDialog::create);
  connect(m_name, &QLineEdit::textChanged, this, &TopicDialog::changed);
  connect(m_factor, &QSpinBox::valueChanged, this, &TopicDialog::changed);
  connect(m_minInSync, &QSpinBox::valueChanged, this, &TopicDialog::changed);
  m_create->setEnabled(false);
  m_name->setFocus();
}

observe::TopicOptions TopicDialog::topic() const {
  observe::TopicOptions topic;
  topic.name = m_name->text().trimmed().toStdString();
  topic.partitions = m_partitions->value();
  topic.replicationFactor = m_factor->value();
  topic.configs.push_back({"min.insync.replicas", std::to_string(m_minInSync->value())});
  if (m_cleanup->currentData().toString() != QStringLiteral("delete"))
    topic.configs.push_back({"cleanup.policy", m_cleanup->currentData().toString().toStdString()});
  return topic;
}

QString TopicDialog::problem() const {
  const observe::TopicOptions wanted = topic();
  if (QString name = topicNameProblem(fromUtf8(wanted.name)); !name.isEmpty()) return name;
  if (observe::findTopic(*m_bridge.snapshot(), wanted.name) != nullptr)
    return tr("a topic of this name exists already");
  if (m_minInSync->value() > m_factor->value())
    return tr("min.insync.replicas above the replication factor: acks=all would never succeed");
  return {};
}

void TopicDialog::changed() {
  const QString text = problem();
  m_create->setEnabled(text.isEmpty());
  setNote(m_note, m_name->text().isEmpty() ? QString() : text, true);
}

void TopicDialog::create() {
  if (!problem().isEmpty()) return;
  m_create->setEnabled(false);
  const QString name = m_name->text().trimmed();
  m_bridge.createTopic(topic(), this, [this, name](const Result<void>& result) {
    if (result) {
      Q_EMIT created(name);
      accept();
      return;
    }
    m_create->setEnabled(true);
    setNote(m_note, tr("Not created: %1").arg(errorText(result.error())), true);
  });
}

}  // namespace tidemark::widgets
