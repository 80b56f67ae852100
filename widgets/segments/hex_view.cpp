#include "segments/hex_view.h"

#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>

#include "segments/field_flow.h"
#include "theme/draw.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr double kHexRow = 19;
constexpr double kTop = 6;
constexpr double kPositions = 58;
constexpr double kByte = 20;
/// A little more room after the eighth.
constexpr double kMiddle = 8;

double xOf(int column) {
  return kPositions + column * kByte + (column >= 8 ? kMiddle : 0);
}
double textX() {
  return xOf(HexView::kPerRow) + 10;
}

QString hexByte(uint8_t byte) {
  return QStringLiteral("%1").arg(byte, 2, 16, QLatin1Char('0'));
}

}  // namespace

HexView::HexView(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
  setMinimumSize(static_cast<int>(textX()) + 124, 60);
  setAccessibleName(tr("Bytes of the batch. Arrow keys move from byte to byte."));
  connect(&Theme::instance(), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

ByteView HexView::bytes() const {
  if (!m_batch) return {};
  return m_payload ? m_batch->anatomy.records.view() : m_batch->anatomy.bytes.view();
}

int64_t HexView::origin() const {
  return m_batch && !m_payload ? m_batch->position : 0;
}

void HexView::setBatch(BatchPicturePtr batch, bool payload) {
  if (batch == m_batch && payload == m_payload) return;
  m_batch = std::move(batch);
  m_payload = payload && m_batch && m_batch->anatomy.compressed;
  m_hovered = -1;
  m_cursor = -1;
  m_order.clear();
  if (m_batch)
    for (size_t i = 0; i < m_batch->fields.size(); ++i)
      if (m_batch->fields[i].payload == m_payload) m_order.push_back(static_cast<int>(i));
  verticalScrollBar()->setValue(0);
  settleScroll();
  viewport()->update();
}

void HexView::settleScroll() {
  const auto rows = static_cast<double>((bytes().size() + kPerRow - 1) / kPerRow);
  const int total = static_cast<int>(std::min(rows * kHexRow + 2 * kTop, 2e9));
  verticalScrollBar()->setRange(0, std::max(0, total - viewport()->height()));
  verticalScrollBar()->setPageStep(std::max(1, viewport()->height()));
  verticalScrollBar()->setSingleStep(static_cast<int>(kHexRow));
}

void HexView::resizeEvent(QResizeEvent*) {
  settleScroll();
}

int HexView::fieldAt(int64_t byte) const {
  if (!m_batch) return -1;
  const auto above = std::ranges::upper_bound(
      m_order, byte, {}, [this](int field) -> int64_t { return m_batch->fields[static_cast<size_t>(field)].begin; });
  if (above == m_order.begin()) return -1;
  const FieldEntry& field = m_batch->fields[static_cast<size_t>(*std::prev(above))];
  return byte >= 0 && byte < field.begin + field.length ? *std::prev(above) : -1;
}

int64_t HexView::byteAt(const QPointF& point) const {
  const int64_t row = static_cast<int64_t>(std::floor((point.y() + verticalScrollBar()->value() - kTop) / kHexRow));
  if (row < 0 || point.x() < kPositions - 3) return -1;
  int column = -1;
  if (point.x() < xOf(kPerRow)) {
    for (int i = 0; i < kPerRow; ++i)
      if (point.x() >= xOf(i) - 3 && point.x() < xOf(i) + kByte - 3) column = i;
  } else if (point.x() >= textX()) {
    column = static_cast<int>((point.x() - textX()) / textWidth(QStringLiteral("0"), Theme::mono(11)));
  }
  if (column < 0 || column >= kPerRow) return -1;
  const int64_t byte = row * kPerRow + column;
  return byte < static_cast<int64_t>(bytes().size()) ? byte : -1;
}

QRectF HexView::rectOf(int64_t byte) const {
  const double y = kTop + static_cast<double>(byte / kPerRow) * kHexRow - verticalScrollBar()->value();
  return {xOf(static_cast<int>(byte % kPerRow)) - 3, y, kByte, kHexRow};
}

void HexView::hover(int field) {
  if (field == m_hovered) return;
  setHovered(field);
  Q_EMIT fieldHovered(field);
}

void HexView::setHovered(int field) {
  if (field == m_hovered) return;
  m_hovered = field;
  viewport()->update();
}

void HexView::ensureVisible(int field) {
  if (!m_batch || field < 0) return;
  const FieldEntry& entry = m_batch->fields[static_cast<size_t>(field)];
  if (entry.payload != m_payload) return;
  const double y = kTop + static_cast<double>(entry.begin / kPerRow) * kHexRow;
  const int value = verticalScrollBar()->value();
  if (y < value || y + kHexRow > value + viewport()->height())
    verticalScrollBar()->setValue(static_cast<int>(y - viewport()->height() / 3.0));
}

void HexView::mouseMoveEvent(QMouseEvent* event) {
  hover(fieldAt(byteAt(event->position())));
}

bool HexView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) hover(m_cursor >= 0 && hasFocus() ? fieldAt(m_cursor) : -1);
  return QAbstractScrollArea::viewportEvent(event);
}

void HexView::moveCursor(int64_t byte) {
  if (bytes().empty()) return;
  m_cursor = std::clamp<int64_t>(byte, 0, static_cast<int64_t>(bytes().size()) - 1);
  const QRectF rect = rectOf(m_cursor);
  if (rect.top() < 0)
    verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(rect.top() - kTop));
  else if (rect.bottom() > viewport()->height())
    verticalScrollBar()->setValue(verticalScrollBar()->value() +
                                  static_cast<int>(std::ceil(rect.bottom() - viewport()->height() + kTop)));
  hover(fieldAt(m_cursor));
  viewport()->update();
}

void HexView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(selectionAsText());
    return;
  }
  const int64_t page = std::max<int64_t>(1, static_cast<int64_t>(viewport()->height() / kHexRow) - 1) * kPerRow;
  const int64_t now = std::max<int64_t>(0, m_cursor);
  switch (event->key()) {
    case Qt::Key_Left:
      moveCursor(now - 1);
      return;
    case Qt::Key_Right:
      moveCursor(m_cursor + 1);
      return;
    case Qt::Key_Up:
      moveCursor(now - kPerRow);
      return;
    case Qt::Key_Down:
      moveCursor(now + kPerRow);
      return;
    case Qt::Key_PageUp:
      moveCursor(now - page);
      return;
    case Qt::Key_PageDown:
      moveCursor(now + page);
      return;
    case Qt::Key_Home:
      moveCursor(0);
      return;
    case Qt::Key_End:
      moveCursor(static_cast<int64_t>(bytes().size()) - 1);
      return;
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

QString HexView::selectionAsText() const {
  ByteView from = bytes();
  if (m_batch && m_hovered >= 0) {
    const FieldEntry& field = m_batch->fields[static_cast<size_t>(m_hovered)];
    if (field.payload == m_payload)
      from = from.subspan(static_cast<size_t>(field.begin), static_cast<size_t>(field.length));
  }
  QString text;
  for (size_t i = 0; i < from.size(); ++i) {
    if (i > 0) text += QLatin1Char(i % kPerRow == 0 ? '\n' : ' ');
    text += hexByte(from[i]);
  }
  return text;
}

void HexView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  painter.fillRect(viewport()->rect(), p.panel);
  m_rowsPainted = 0;
  const ByteView all = bytes();
  if (all.empty()) return;
  const QFont font = Theme::mono(11);
  const QFont strong = Theme::mono(11, QFont::DemiBold);
  const double letter = textWidth(QStringLiteral("0"), font);
  const int scroll = verticalScrollBar()->value();
  const int64_t rows = static_cast<int64_t>((all.size() + kPerRow - 1) / kPerRow);
  const int64_t first = std::max<int64_t>(0, static_cast<int64_t>((scroll - kTop) / kHexRow));
  const int64_t last = std::min(rows, static_cast<int64_t>((scroll + viewport()->height() - kTop) / kHexRow) + 1);
  for (int64_t row = first; row < last; ++row) {
    ++m_rowsPainted;
    const double y = kTop + static_cast<double>(row) * kHexRow - scroll;
    const int64_t begin = row * kPerRow;
    const int64_t end = std::min<int64_t>(begin + kPerRow, static_cast<int64_t>(all.size()));
    painter.setFont(font);
    painter.setPen(p.muted);
    painter.drawText(QPointF(0, y + 13.5), QString::number(origin() + begin));
    // The ground of each field in one piece, then the bytes.
    for (int64_t byte = begin; byte < end;) {
      const int field = fieldAt(byte);
      int64_t until = byte + 1;
      while (until < end && fieldAt(until) == field) ++until;
      if (field >= 0) {
        const auto from = static_cast<int>(byte - begin);
        const auto to = static_cast<int>(until - 1 - begin);
        const QRectF ground(xOf(from) - 3, y + 1, xOf(to) + kByte - 3 - (xOf(from) - 3) - 2, kHexRow - 2);
        const QRectF letters(textX() + from * letter - 1, y + 1, (to - from + 1) * letter + 1, kHexRow - 2);
        const bool lit = field == m_hovered;
        painter.setPen(lit ? QPen(p.accent, 1.6) : QPen(Qt::NoPen));
        painter.setBrush(fieldColor(*m_batch, field));
        painter.drawRoundedRect(ground, 3, 3);
        if (lit) {
          painter.setPen(Qt::NoPen);
          painter.drawRoundedRect(letters, 2, 2);
        }
      }
      byte = until;
    }
    for (int64_t byte = begin; byte < end; ++byte) {
      const uint8_t value = all[static_cast<size_t>(byte)];
      const auto column = static_cast<int>(byte - begin);
      const bool current = byte == m_cursor && hasFocus();
      if (current) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(p.accent);
        painter.drawRoundedRect(QRectF(xOf(column) - 2.5, y + 2, kByte - 3.5, kHexRow - 4), 3, 3);
      }
      painter.setFont(current ? strong : font);
      painter.setPen(current ? p.panel : p.ink);
      painter.drawText(QPointF(xOf(column), y + 13.5), hexByte(value));
      painter.setFont(font);
      painter.setPen(value >= 32 && value < 127 ? p.ink : p.roller);
      painter.drawText(
          QPointF(textX() + column * letter, y + 13.5),
          value >= 32 && value < 127 ? QString(QLatin1Char(static_cast<char>(value))) : QStringLiteral("·"));
    }
  }
}

}  // namespace tidemark::widgets
