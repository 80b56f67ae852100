#include "segments/findings_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "text/format.h"

namespace tidemark::widgets {

FindingsBar::FindingsBar(SegmentsController& controller, QWidget* parent)
    : QFrame(parent), m_controller(controller), m_text(new QLabel), m_next(new QPushButton) {
  setProperty("kind", QStringLiteral("finding"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(14, 6, 8, 6);
  m_text->setProperty("kind", QStringLiteral("error"));
  m_text->setTextFormat(Qt::PlainText);
  m_text->setWordWrap(true);
  row->addWidget(m_text, 1);
  row->addWidget(m_next);
  connect(m_next, &QPushButton::clicked, this, &FindingsBar::showNext);
  connect(&controller, &SegmentsController::opened, this, [this] {
    m_told = 0;
    m_there = false;
    take();
  });
  connect(&controller, &SegmentsController::partitionRead, this, &FindingsBar::take);
  connect(&controller, &SegmentsController::findingsChanged, this, &FindingsBar::take);
  take();
}

QString FindingsBar::text() const {
  return m_text->text();
}

std::vector<FindingEntry> FindingsBar::severe() const {
  std::vector<FindingEntry> severe;
  if (!m_controller.partition()) return severe;
  for (const FindingEntry& finding : m_controller.partition()->findings)
    if (finding.severe) severe.push_back(finding);
  return severe;
}

void FindingsBar::showNext() {
  const std::vector<FindingEntry> all = severe();
  if (all.empty()) return;
  if (m_there) m_told = (m_told + 1) % all.size();
  m_there = true;
  take();
  m_controller.goTo(all[m_told]);
}

void FindingsBar::take() {
  const std::vector<FindingEntry> all = severe();
  if (all.empty() || m_told >= all.size()) {
    m_told = 0;
    m_there = false;
  }
  setVisible(!all.empty());
  if (all.empty()) {
    m_text->clear();
    return;
  }
  const FindingEntry& finding = all[m_told];
  QString text = finding.position >= 0
                     ? tr("✕ %1, byte %2: %3").arg(finding.file, grouped(finding.position), finding.what)
                     : tr("✕ %1: %2").arg(finding.file, finding.what);
  if (all.size() > 1) text += tr("   (%1 of %2)").arg(grouped(static_cast<int64_t>(m_told) + 1)).arg(all.size());
  m_text->setText(text);
  m_next->setText(m_there && all.size() > 1 ? tr("Next") : tr("Show"));
}

}  // namespace tidemark::widgets
