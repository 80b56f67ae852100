#include "views/fact_list.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>

#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr int kRow = 22;

}  // namespace

FactList::FactList(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::TabFocus);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void FactList::setFacts(std::vector<Fact> facts) {
  if (facts == m_facts) return;
  const bool grew = facts.size() != m_facts.size();
  m_facts = std::move(facts);
  setAccessibleName(toText());
  if (grew) updateGeometry();
  update();
}

QString FactList::toText() const {
  QString text;
  for (const Fact& fact : m_facts) text += fact.name + QLatin1Char('\t') + fact.value + QLatin1Char('\n');
  return text;
}

QSize FactList::sizeHint() const {
  return {264, static_cast<int>(m_facts.size()) * kRow};
}

void FactList::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Palette& p = colors();
  const QFont nameFont = Theme::body(12);
  double y = 15;
  for (const Fact& fact : m_facts) {
    const QFont valueFont = Theme::mono(12, fact.color.isValid() ? QFont::DemiBold : QFont::Medium);
    const QFontMetricsF metrics(valueFont);
    // A long name gives way to its value, down to half of the room.
    const double valueWidth = metrics.horizontalAdvance(fact.value);
    const QString name = QFontMetricsF(nameFont).elidedText(fact.name, Qt::ElideMiddle,
                                                            std::max(width() / 2.0, width() - valueWidth - 10));
    const double nameWidth = QFontMetricsF(nameFont).horizontalAdvance(name);
    const QString value = metrics.elidedText(fact.value, Qt::ElideMiddle, width() - nameWidth - 10);
    painter.setFont(nameFont);
    painter.setPen(p.muted);
    painter.drawText(QPointF(0, y), name);
    painter.setFont(valueFont);
    painter.setPen(fact.color.isValid() ? fact.color : p.ink);
    painter.drawText(QPointF(width() - metrics.horizontalAdvance(value), y), value);
    y += kRow;
  }
  if (hasFocus()) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(p.accent, 2));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
  }
}

void FactList::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  menu.addAction(tr("Copy"), this, [this] { QApplication::clipboard()->setText(toText()); });
  menu.exec(event->globalPos());
}

void FactList::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy))
    QApplication::clipboard()->setText(toText());
  else
    QWidget::keyPressEvent(event);
}

}  // namespace tidemark::widgets
