#include "faults/fault_dialog.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QJsonDocument>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "dialogs/dialog_parts.h"
#include "faults/fault_form.h"
#include "faults/fault_json.h"
#include "observe/fault_check.h"
#include "text/fault_words.h"
#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr int kKindRole = Qt::UserRole;

}  // namespace

FaultDialog::FaultDialog(EngineBridge& bridge, QWidget* parent)
    : QDialog(parent),
      m_bridge(bridge),
      m_kinds(new QListWidget),
      m_title(new QLabel),
      m_meaning(new QLabel),
      m_form(new FaultForm),
      m_note(new QLabel),
      m_set(new QPushButton(tr("Set the fault"))) {
  setWindowTitle(tr("Set a fault"));
  m_kinds->setProperty("kind", QStringLiteral("kinds"));
  m_kinds->setFixedWidth(196);
  m_kinds->setAccessibleName(tr("Kinds of faults"));
  m_kinds->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_kinds->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_kinds->setMouseTracking(true);
  fillKinds();
  m_title->setProperty("kind", QStringLiteral("title"));
  m_meaning->setProperty("kind", QStringLiteral("muted"));
  m_meaning->setWordWrap(true);
  m_meaning->setMinimumHeight(34);
  m_meaning->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  auto* card = new QFrame;
  card->setProperty("kind", QStringLiteral("card"));
  auto* inCard = new QVBoxLayout(card);
  inCard->setContentsMargins(0, 0, 0, 0);
  inCard->addWidget(m_form);
  m_note->setWordWrap(true);
  m_note->setMinimumHeight(34);
  auto* cancel = new QPushButton(tr("Cancel"));
  auto* right = new QVBoxLayout;
  right->setContentsMargins(24, 20, 24, 20);
  right->setSpacing(0);
  right->addWidget(m_title);
  right->addSpacing(2);
  right->addWidget(m_meaning);
  right->addSpacing(10);
  right->addWidget(card);
  right->addStretch(1);
  right->addSpacing(12);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(8);
  foot->addWidget(m_note, 1);
  foot->addWidget(cancel);
  foot->addWidget(m_set);
  right->addLayout(foot);
  auto* across = new QHBoxLayout(this);
  across->setContentsMargins(0, 0, 0, 0);
  across->setSpacing(0);
  across->addWidget(m_kinds);
  across->addLayout(right, 1);
  resize(760, 620);
  m_set->setDefault(true);

  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_set, &QPushButton::clicked, this, &FaultDialog::set);
  connect(m_form, &FaultForm::changed, this, [this] {
    m_refusal.clear();
    check();
  });
  connect(m_kinds, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
    if (item != nullptr && item->data(kKindRole).isValid())
      pickKind(static_cast<faults::Kind>(item->data(kKindRole).toInt()));
  });
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.snapshot == frame.previous) return;
    takePossible();
    check();
  });
  m_form->setCluster(*bridge.snapshot());
  takePossible();
  setFault({});
}

void FaultDialog::fillKinds() {
  std::optional<faults::Area> area;
  for (const faults::Kind kind : faults::allKinds()) {
    if (area != faults::areaOf(kind)) {
      area = faults::areaOf(kind);
      auto* head = new QListWidgetItem(faultAreaName(*area), m_kinds);
      head->setFlags(Qt::NoItemFlags);
      head->setFont(Theme::body(11, QFont::Bold));
      head->setSizeHint({0, m_kinds->count() == 1 ? 32 : 36});
      head->setTextAlignment(Qt::AlignLeft | Qt::AlignBottom);
    }
    auto* item = new QListWidgetItem(faultKindName(kind), m_kinds);
    item->setData(kKindRole, static_cast<int>(kind));
    item->setSizeHint({0, 25});
  }
}

void FaultDialog::takePossible() {
  for (int i = 0; i < m_kinds->count(); ++i) {
    QListWidgetItem* item = m_kinds->item(i);
    if (!item->data(kKindRole).isValid()) continue;
    const auto kind = static_cast<faults::Kind>(item->data(kKindRole).toInt());
    const auto possible = observe::checkKind(kind, *m_bridge.snapshot());
    const Qt::ItemFlags flags = possible ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::NoItemFlags;
    const QString tip = possible ? faultKindMeaning(kind) : tr("Not now: %1").arg(fromUtf8(possible.error().message));
    if (item->flags() != flags) item->setFlags(flags);
    if (item->toolTip() != tip) item->setToolTip(tip);
  }
}

void FaultDialog::pickKind(faults::Kind kind) {
  m_title->setText(faultKindName(kind));
  m_meaning->setText(faultKindMeaning(kind));
  if (m_form->kind() != kind) m_form->setKind(kind);
}

void FaultDialog::setFault(const faults::Fault& fault) {
  m_form->setCluster(*m_bridge.snapshot());
  m_form->setFault(fault);
  for (int i = 0; i < m_kinds->count(); ++i)
    if (const QVariant kind = m_kinds->item(i)->data(kKindRole);
        kind.isValid() && kind.toInt() == static_cast<int>(fault.kind)) {
      m_kinds->setCurrentRow(i);
      m_kinds->scrollToItem(m_kinds->item(i));
    }
  pickKind(fault.kind);
  check();
}

Result<faults::Fault> FaultDialog::fault() const {
  return faults::parseFault(QJsonDocument(m_form->toJson()).toJson(QJsonDocument::Compact).toStdString());
}

QString FaultDialog::note() const {
  return m_note->text();
}

void FaultDialog::check() {
  const auto read = fault();
  Result<void> possible;
  if (read)
    possible = observe::checkFault(*read, *m_bridge.snapshot());
  else
    possible = fail(read.error());
  m_set->setEnabled(possible.has_value() && !m_waits);
  if (possible && !m_refusal.isEmpty()) return setNote(m_note, m_refusal, true);
  setNote(m_note,
          possible ? tr("As JSON: %1")
                         .arg(fromUtf8(faults::toJson(*read)).replace(QStringLiteral(",\""), QStringLiteral(", \"")))
                   : fromUtf8(possible.error().message),
          !possible);
}

void FaultDialog::set() {
  const auto read = fault();
  if (!read || m_waits) return;
  m_waits = true;
  m_set->setEnabled(false);
  m_bridge.setFault(*read, this, [this, title = faultTitle(*read)](const Result<int>& result) {
    m_waits = false;
    if (result) {
      Q_EMIT wasSet(*result, title);
      accept();
      return;
    }
    m_refusal = tr("Not set: %1").arg(errorText(result.error()));
    check();
  });
}

}  // namespace tidemark::widgets
