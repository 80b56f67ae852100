#include "segments/check_line.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

CheckLine::CheckLine(PartitionCheck& check, QWidget* parent)
    : QWidget(parent), m_check(check), m_text(new QLabel), m_button(new QPushButton) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  m_text->setTextFormat(Qt::PlainText);
  m_text->setMinimumWidth(20);
  m_button->setProperty("kind", QStringLiteral("link"));
  row->addWidget(m_text);
  row->addWidget(m_button);
  connect(m_button, &QPushButton::clicked, this, &CheckLine::press);
  connect(&check, &PartitionCheck::progressed, this, &CheckLine::take);
  connect(&check, &PartitionCheck::found, this, &CheckLine::take);
  take();
}

QString CheckLine::text() const {
  return m_text->text();
}

void CheckLine::press() {
  if (m_check.state() == PartitionCheck::State::Running)
    m_check.cancel();
  else
    m_check.start();
}

void CheckLine::take() {
  using State = PartitionCheck::State;
  const State state = m_check.state();
  const auto all = static_cast<int64_t>(m_check.segments());
  const auto checked = static_cast<int64_t>(m_check.segmentsChecked());
  int64_t damaged = 0;
  for (const CheckedSegment* one : m_check.damaged())
    if (one->severe > 0) ++damaged;
  QString text;
  QString button;
  QString kind = QStringLiteral("muted");
  switch (state) {
    case State::Idle:
      break;
    case State::Waiting:
      text = tr("not checked for damage");
      button = tr("Check %1").arg(binaryBytesText(m_check.bytes() - m_check.bytesChecked()));
      break;
    case State::Running:
      text = tr("checking segment %1 of %2 · %3 %")
                 .arg(grouped(std::min(checked + 1, all)), grouped(all))
                 .arg(m_check.bytes() > 0 ? 100 * m_check.bytesChecked() / m_check.bytes() : 100);
      button = tr("Cancel");
      break;
    case State::Cancelled:
      text = tr("checked %1 of %2 segments").arg(grouped(checked), grouped(all));
      button = tr("Go on");
      break;
    case State::Done:
      text = checked < all ? tr("%1 of %2 segments could not be checked").arg(grouped(all - checked), grouped(all))
                           : tr("✓ %n segment(s) checked", nullptr, pluralOf(all));
      kind = checked < all ? QStringLiteral("warn") : QStringLiteral("good");
      break;
  }
  if (damaged > 0) {
    text = state == State::Done ? tr("✕ damage in %1 of %2 segments").arg(grouped(damaged), grouped(all))
                                : tr("✕ damage in %1 · %2").arg(grouped(damaged), text);
    kind = QStringLiteral("error");
  }
  m_text->setText(text);
  m_text->setToolTip(state == State::Done && damaged == 0
                         ? tr("Each batch, index entry and snapshot is what it must be (F5 checks again)")
                         : QString());
  setStyled(m_text, "kind", kind);
  m_button->setText(button);
  m_button->setVisible(!button.isEmpty());
  setVisible(!text.isEmpty());
}

}  // namespace tidemark::widgets
