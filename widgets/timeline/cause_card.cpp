#include "timeline/cause_card.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include "text/format.h"
#include "theme/draw.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr double kInset = 14;
constexpr double kLineHeight = 19;
constexpr double kHeadHeight = 34;
constexpr double kBarRoom = 34;
/// Around it, for its shadow.
constexpr int kShadow = 5;

QFont causeTitle() {
  return Theme::body(13, QFont::Bold);
}
QFont causeLine() {
  return Theme::body(12);
}

}  // namespace

CauseCard::CauseCard(QWidget* parent) : QWidget(parent) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setAccessibleName(tr("Why it changed"));
  hide();
}

QSize CauseCard::wanted() const {
  double wide = 22 + textWidth(m_words->title, causeTitle()) + 24 + textWidth(timeText(m_words->at), Theme::mono(11.5));
  for (const QString& line : m_words->lines) wide = std::max(wide, textWidth(line, causeLine()));
  if (m_words->part >= 0)
    wide = std::max(wide,
                    textWidth(m_words->barLeft, Theme::body(11)) + textWidth(m_words->barRight, Theme::body(11)) + 24);
  double high =
      kHeadHeight + kLineHeight * static_cast<double>(m_words->lines.size()) + 10 + (m_words->part >= 0 ? kBarRoom : 0);
  if (m_words->event != 0) high += kLineHeight;
  return {static_cast<int>(std::ceil(std::min(wide, 470.0) + 2 * kInset)) + 2 * kShadow,
          static_cast<int>(std::ceil(high)) + 2 * kShadow};
}

void CauseCard::showAt(const std::optional<CauseWords>& words, const QPointF& at) {
  m_words = words;
  if (!words) {
    hide();
    return;
  }
  const QSize size = wanted();
  const QWidget* area = parentWidget();
  // Below and to the left of it if there is room, so that what comes after stays in sight.
  double x = at.x() - size.width() - 14;
  if (x < 8) x = at.x() + 14;
  x = std::clamp(x, 4.0, std::max(4.0, static_cast<double>(area->width() - size.width() - 4)));
  double y = at.y() + 12;
  if (y + size.height() > area->height() - 4) y = at.y() - size.height() - 12;
  setGeometry(static_cast<int>(x), static_cast<int>(std::max(4.0, y)), size.width(), size.height());
  setAccessibleDescription(asText());
  show();
  raise();
  update();
}

QString CauseCard::asText() const {
  if (!m_words) return {};
  return (QStringList{tr("%1, %2").arg(m_words->title, timeText(m_words->at))} + m_words->lines)
      .join(QLatin1Char('\n'));
}

void CauseCard::paintEvent(QPaintEvent*) {
  if (!m_words) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  const QRectF card = QRectF(rect()).adjusted(kShadow, kShadow - 2, -kShadow, -kShadow - 2);
  painter.setPen(Qt::NoPen);
  for (int i = 0; i < kShadow; ++i) {
    painter.setBrush(QColor(0, 0, 0, p.dark ? 26 : 9));
    painter.drawRoundedRect(card.adjusted(-i, 2 - i, i, i + 2), 9, 9);
  }
  painter.setBrush(p.panel);
  painter.setPen(QPen(p.axis, 1));
  painter.drawRoundedRect(card, 8, 8);
  const double left = card.left() + kInset;
  const double right = card.right() - kInset;
  drawShape(painter, m_words->shape, {left + 5, card.top() + 19}, 10, m_words->color);
  const QFont mono = Theme::mono(11.5);
  const QString time = timeText(m_words->at);
  drawLine(painter, right, card.top() + 23, time, mono, p.muted, Qt::AlignRight);
  drawLine(
      painter, left + 18, card.top() + 23.5,
      QFontMetricsF(causeTitle()).elidedText(m_words->title, Qt::ElideRight, right - left - 34 - textWidth(time, mono)),
      causeTitle(), p.ink);
  double y = card.top() + kHeadHeight + 11;
  bool first = true;
  for (const QString& line : m_words->lines) {
    drawLine(painter, left, y, QFontMetricsF(causeLine()).elidedText(line, Qt::ElideRight, right - left), causeLine(),
             p.ink);
    y += kLineHeight;
    if (!std::exchange(first, false) || m_words->part < 0) continue;
    const QRectF bar(left, y - 9, right - left, 6);
    painter.setPen(Qt::NoPen);
    painter.setBrush(p.rail);
    painter.drawRoundedRect(bar, 3, 3);
    painter.setBrush(m_words->color);
    painter.drawRoundedRect(QRectF(bar.left(), bar.top(), bar.width() * m_words->part, bar.height()), 3, 3);
    painter.setPen(QPen(p.bad, 2));
    painter.drawLine(QPointF(bar.right() - 1, bar.top() - 3), QPointF(bar.right() - 1, bar.bottom() + 3));
    const QFont small = Theme::body(11);
    drawLine(painter, left, y + 13, m_words->barLeft, small, p.muted);
    drawLine(painter, right, y + 13, m_words->barRight, small, p.muted, Qt::AlignRight);
    y += kBarRoom;
  }
  if (m_words->event != 0)
    drawLine(painter, right, y, tr("click or Enter: event %1").arg(grouped(static_cast<int64_t>(m_words->event))),
             Theme::body(11), p.muted, Qt::AlignRight);
}

}  // namespace tidemark::widgets
