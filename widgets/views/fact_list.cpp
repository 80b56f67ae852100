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
constexpr int kLine = 17;

QFont valueFontOf(const FactList::Fact& fact) {
  return Theme::mono(12, fact.color.isValid() ? QFont::DemiBold : QFont::Medium);
}

}  // namespace

FactList::FactList(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::TabFocus);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void FactList::setFacts(std::vector<Fact> facts) {
  if (facts == m_facts) return;
  m_facts = std::move(facts);
  setAccessibleName(toText());
  measure();
  update();
}

QStringList FactList::linesOf(const Fact& fact) const {
  if (!fact.whole) return {};
  const QFontMetricsF metrics(valueFontOf(fact));
  if (metrics.horizontalAdvance(fact.value) + QFontMetricsF(Theme::body(12)).horizontalAdvance(fact.name) + 10 <=
      width())
    return {};
  // Paths have no spaces: a line breaks at the last one that it has, else anywhere.
  QStringList lines;
  for (QString rest = fact.value; !rest.isEmpty();) {
    qsizetype fits = 1;
    while (fits < rest.size() && metrics.horizontalAdvance(rest.left(fits + 1)) <= width()) ++fits;
    if (const qsizetype space = rest.lastIndexOf(QLatin1Char(' '), fits); fits < rest.size() && space > fits / 2)
      fits = space;
    lines << rest.left(fits).trimmed();
    rest = rest.mid(fits).trimmed();
  }
  return lines;
}

void FactList::measure() {
  int height = 0;
  for (const Fact& fact : m_facts) {
    const auto lines = static_cast<int>(linesOf(fact).size());
    height += kRow + lines * kLine + (lines > 0 ? 4 : 0);
  }
  if (height == m_height) return;
  m_height = height;
  updateGeometry();
}

void FactList::resizeEvent(QResizeEvent*) {
  measure();
}

QString FactList::toText() const {
  QString text;
  for (const Fact& fact : m_facts) text += fact.name + QLatin1Char('\t') + fact.value + QLatin1Char('\n');
  return text;
}

QSize FactList::sizeHint() const {
  return {264, m_height};
}

void FactList::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Palette& p = colors();
  const QFont nameFont = Theme::body(12);
  double y = 15;
  for (const Fact& fact : m_facts) {
    const QFont valueFont = valueFontOf(fact);
    const QFontMetricsF metrics(valueFont);
    // A long name gives way to its value, down to half of the room.
    const double valueWidth = metrics.horizontalAdvance(fact.value);
    const QString name = QFontMetricsF(nameFont).elidedText(fact.name, Qt::ElideMiddle,
                                                            std::max(width() / 2.0, width() - valueWidth - 10));
    const double nameWidth = QFontMetricsF(nameFont).horizontalAdvance(name);
    const QString value = metrics.elidedText(fact.value, Qt::ElideMiddle, width() - nameWidth - 10);
    painter.setFont(nameFont);
    painter.setPen(p.muted);
    if (const QStringList lines = linesOf(fact); !lines.isEmpty()) {
      painter.drawText(QPointF(0, y), fact.name);
      painter.setFont(valueFont);
      painter.setPen(fact.color.isValid() ? fact.color : p.ink);
      for (const QString& line : lines) painter.drawText(QPointF(0, y += kLine), line);
      y += kRow + 4;
      continue;
    }
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
