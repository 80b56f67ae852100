#include "cleaner/cleaner_list.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>

#include "text/format.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/theme.h"
#include "theme/tool_tips.h"

namespace tidemark::widgets {

namespace {

constexpr double kLeft = 16;
constexpr double kNames = 230;
constexpr double kBarTop = 32;
constexpr double kBarHeight = 20;
/// A bar that is shorter could not be told apart.
constexpr double kShortest = 60;

StateLook lookOf(const CleanerRow& row) {
  const Palette& p = colors();
  switch (row.state) {
    case CleanerRow::State::Running:
      return {StateShape::ClockRing, p.ring, p.accent, p.selection, {}};
    case CleanerRow::State::Due:
      return {StateShape::HalfDisc, p.warn, p.warnText, p.warnSoft, {}};
    case CleanerRow::State::SetAside:
      return {StateShape::Cross, p.bad, p.badText, p.badSoft, {}};
    case CleanerRow::State::Idle:
      break;
  }
  return {StateShape::Disc, p.ok, p.muted, p.okSoft, {}};
}

}  // namespace

CleanerList::CleanerList(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setMinimumSize(200, 84);
  setAccessibleName(tr("Compacted logs. Press T for the same as a table."));
  connect(&Theme::instance(), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void CleanerList::setRows(std::vector<CleanerRow> rows) {
  const auto key = m_current >= 0 && m_current < static_cast<int>(m_rows.size())
                       ? std::optional(m_rows[static_cast<size_t>(m_current)].key())
                       : std::nullopt;
  const bool same = rows == m_rows;
  m_rows = std::move(rows);
  if (same) return;
  m_most = 1;
  for (const CleanerRow& row : m_rows) m_most = std::max(m_most, row.allBytes());
  int next = m_rows.empty() ? -1 : 0;
  for (size_t i = 0; key && i < m_rows.size(); ++i)
    if (m_rows[i].key() == *key) next = static_cast<int>(i);
  settleScroll();
  if (next != m_current) {
    m_current = next;
    Q_EMIT currentChanged(m_current);
  }
  viewport()->update();
}

void CleanerList::setCurrent(int row) {
  const int next = std::clamp(row, m_rows.empty() ? -1 : 0, static_cast<int>(m_rows.size()) - 1);
  if (next == m_current) return;
  m_current = next;
  const double top = next * kRow;
  QScrollBar* bar = verticalScrollBar();
  if (top < bar->value()) bar->setValue(static_cast<int>(top));
  if (top + kRow > bar->value() + viewport()->height())
    bar->setValue(static_cast<int>(std::ceil(top + kRow - viewport()->height())));
  Q_EMIT currentChanged(next);
  viewport()->update();
}

void CleanerList::settleScroll() {
  const int total = static_cast<int>(static_cast<double>(m_rows.size()) * kRow);
  verticalScrollBar()->setRange(0, std::max(0, total - viewport()->height()));
  verticalScrollBar()->setPageStep(std::max(1, viewport()->height()));
  verticalScrollBar()->setSingleStep(static_cast<int>(kRow / 2));
}

void CleanerList::resizeEvent(QResizeEvent*) {
  settleScroll();
}

int CleanerList::rowAt(double y) const {
  const int row = static_cast<int>(std::floor((y + verticalScrollBar()->value()) / kRow));
  return row < 0 || row >= static_cast<int>(m_rows.size()) ? -1 : row;
}

QRectF CleanerList::barOf(int row) const {
  const double room = viewport()->width() - kLeft - kNames - 24;
  const double part = static_cast<double>(m_rows[static_cast<size_t>(row)].allBytes()) / static_cast<double>(m_most);
  return {kLeft + kNames, row * kRow - verticalScrollBar()->value() + kBarTop, std::max(kShortest, room * part),
          kBarHeight};
}

void CleanerList::mousePressEvent(QMouseEvent* event) {
  if (const int row = rowAt(event->position().y()); row >= 0 && event->button() == Qt::LeftButton) setCurrent(row);
}

void CleanerList::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const int row = rowAt(event->position().y()); row >= 0) Q_EMIT activated(row);
}

void CleanerList::keyPressEvent(QKeyEvent* event) {
  const int page = std::max(1, static_cast<int>(viewport()->height() / kRow));
  switch (event->key()) {
    case Qt::Key_Up:
      setCurrent(m_current - 1);
      return;
    case Qt::Key_Down:
      setCurrent(m_current + 1);
      return;
    case Qt::Key_PageUp:
      setCurrent(m_current - page);
      return;
    case Qt::Key_PageDown:
      setCurrent(m_current + page);
      return;
    case Qt::Key_Home:
      setCurrent(0);
      return;
    case Qt::Key_End:
      setCurrent(static_cast<int>(m_rows.size()) - 1);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_current >= 0) Q_EMIT activated(m_current);
      return;
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

bool CleanerList::viewportEvent(QEvent* event) {
  const auto textAt = [this](const QPoint& at) {
    const int row = rowAt(at.y());
    if (row < 0) return QString();
    const observe::CleanerSnapshot& log = m_rows[static_cast<size_t>(row)].log;
    const auto line = [](const QString& name, int64_t bytes) {
      return QStringLiteral("<tr><td style='padding-right:14px'>%1</td><td align='right'><b>%2</b></td></tr>")
          .arg(name, binaryBytesText(bytes));
    };
    return QStringLiteral("<b>%1</b><table>%2%3%4</table>%5")
        .arg(partitionText(log.partition), line(tr("clean"), log.cleanBytes), line(tr("dirty"), log.dirtyBytes),
             line(tr("not cleanable yet: active, not stable, or too young"), log.uncleanableBytes),
             cleanerStateText(m_rows[static_cast<size_t>(row)]).toHtmlEscaped());
  };
  return showToolTip(event, this, textAt) || QAbstractScrollArea::viewportEvent(event);
}

void CleanerList::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  painter.fillRect(viewport()->rect(), p.panel);
  m_painted = 0;
  const int scroll = verticalScrollBar()->value();
  const int first = std::max(0, static_cast<int>(scroll / kRow));
  const int last =
      std::min(static_cast<int>(m_rows.size()), static_cast<int>((scroll + viewport()->height()) / kRow) + 1);
  for (int row = first; row < last; ++row) {
    ++m_painted;
    paintRow(painter, row, row * kRow - scroll);
  }
}

void CleanerList::paintRow(QPainter& painter, int index, double top) const {
  const Palette& p = colors();
  const CleanerRow& row = m_rows[static_cast<size_t>(index)];
  const observe::CleanerSnapshot& log = row.log;
  const QRectF ground(0, top, viewport()->width(), kRow);
  if (index == m_current) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(p.selection);
    painter.drawRoundedRect(ground.adjusted(4, 3, -4, -3), 6, 6);
  }
  painter.setPen(QPen(p.softLine, 1));
  painter.drawLine(ground.bottomLeft() + QPointF(kLeft, -0.5), ground.bottomRight() + QPointF(-kLeft, -0.5));

  const StateLook look = lookOf(row);
  drawShape(painter, look.shape, QPointF(kLeft + 6, top + 27), 10, look.color);
  const QFont nameFont = Theme::body(13, QFont::DemiBold);
  drawLine(painter, kLeft + 20, top + 31,
           QFontMetricsF(nameFont).elidedText(partitionText(log.partition), Qt::ElideMiddle, kNames - 36), nameFont,
           p.ink);
  drawLine(painter, kLeft + 20, top + 50, tr("on broker %1").arg(log.broker.value()), Theme::body(11.5), p.muted);

  // The bar: clean, dirty, not cleanable yet.
  const QRectF bar = barOf(index);
  const double all = std::max<double>(1, static_cast<double>(row.allBytes()));
  const double clean = bar.width() * static_cast<double>(log.cleanBytes) / all;
  const double dirty = bar.width() * static_cast<double>(log.dirtyBytes) / all;
  QPainterPath shape;
  shape.addRoundedRect(bar, 4, 4);
  painter.save();
  painter.setClipPath(shape, Qt::IntersectClip);
  painter.fillRect(QRectF(bar.left(), bar.top(), clean, bar.height()), p.epochs[2]);
  painter.fillRect(QRectF(bar.left() + clean, bar.top(), dirty, bar.height()), hatch(p.warnSoft, p.warn, 6, 1.8));
  painter.fillRect(QRectF(bar.left() + clean + dirty, bar.top(), bar.width() - clean - dirty, bar.height()),
                   hatch(p.hatchGround, p.hatchLine));
  painter.restore();
  painter.setPen(QPen(p.line, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(bar.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  // Where it begins to be cleaned: that part of what a pass would read has to be dirty.
  if (log.cleanBytes + log.dirtyBytes > 0) {
    const double at = bar.left() + (clean + dirty) * (1 - log.minDirtyRatio);
    painter.setPen(QPen(p.ink, 1.4));
    painter.drawLine(QPointF(at, bar.top() - 3), QPointF(at, bar.bottom() + 3));
  }

  // The offsets between the parts, as far as they find room.
  const QFont offsetFont = Theme::mono(10.5);
  double free = bar.left() - 20;
  const auto mark = [&](double x, Offset offset, const QColor& color, bool always) {
    const QString text = offsetText(offset);
    const double width = textWidth(text, offsetFont);
    const double left = std::max(x - (x <= bar.left() + 1 ? 0 : width / 2), free + 8);
    if (!always && left + width > viewport()->width() - 8) return;
    if (left > x + 30) return;
    drawLine(painter, left, bar.top() - 7, text, offsetFont, color);
    free = left + width;
  };
  mark(bar.left(), log.logStart, p.muted, true);
  if (log.firstDirty > log.logStart) mark(bar.left() + clean, log.firstDirty, p.warnText, false);
  if (log.firstUncleanable > log.firstDirty) mark(bar.left() + clean + dirty, log.firstUncleanable, p.muted, false);
  mark(bar.right(), log.logEnd, p.ink, false);
  const QFont stateFont = Theme::body(11.5, row.state == CleanerRow::State::Idle ? QFont::Normal : QFont::DemiBold);
  drawLine(
      painter, bar.left(), bar.bottom() + 17,
      QFontMetricsF(stateFont).elidedText(cleanerStateText(row), Qt::ElideRight, viewport()->width() - bar.left() - 16),
      stateFont, look.textColor);
}

}  // namespace tidemark::widgets
