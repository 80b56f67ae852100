#include "faults/fault_cards.h"

#include <QAbstractItemView>
#include <QCoreApplication>
#include <QPainter>
#include <QRegularExpression>

#include "theme/draw.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

struct CardNames {
  Q_DECLARE_TR_FUNCTIONS(FaultCards)
};

constexpr int kCardHeight = 86;
constexpr int kOverHeight = 56;
constexpr double kRing = 22;
/// Of what is said in more than one line.
constexpr double kLinePitch = 16;
constexpr double kNoteAbove = 8;
constexpr double kInside = 12;
/// Of an icon and what follows it.
constexpr double kIndent = 15;
constexpr int kMostNoteLines = 3;
constexpr int kMostTitleLines = 3;
constexpr double kTitlePitch = 17;

QRectF cardOf(const QRectF& row) {
  return row.adjusted(14.5, 3.5, -14.5, -4.5);
}

/// Room for text on the card of a row that is so wide.
double roomIn(double rowWidth) {
  return rowWidth - 29 - 2 * kInside;
}

QFont smallFont() {
  return Theme::body(11.5);
}

/// What is said beside a fault, as it stands behind an icon on the card of a row that is so wide.
QStringList noteLines(const QString& note, double rowWidth) {
  return note.isEmpty() ? QStringList() : wrappedLines(note, smallFont(), roomIn(rowWidth) - kIndent, kMostNoteLines);
}

QFont strongFont() {
  return Theme::body(11.5, QFont::DemiBold);
}

QFont titleFont() {
  return Theme::body(13, QFont::DemiBold);
}

/// What lines of a title behind the first one add to a card.
double titleGrowth(const FaultRow& row, double rowWidth) {
  return static_cast<double>(FaultCards::titleLines(row, rowWidth).size() - 1) * kTitlePitch;
}

QString lastingText(const FaultOverRow& row) {
  return row.lasting.isEmpty() ? QString()
                               : CardNames::tr("Left behind: %1").arg(row.lasting.join(QStringLiteral("; ")));
}

/// A row is as wide as the list shows it, whatever it is asked for.
double widthOf(const QStyleOptionViewItem& option) {
  const auto* view = qobject_cast<const QAbstractItemView*>(option.widget);
  return view == nullptr ? option.rect.width() : view->viewport()->width();
}

QString elidedIn(const QString& text, const QFont& font, double room) {
  return QFontMetricsF(font).elidedText(text, Qt::ElideRight, room);
}

void drawGround(QPainter& painter, const QRectF& card, const QStyleOptionViewItem& option, const QColor& ground) {
  const Palette& p = colors();
  const bool selected = option.state & QStyle::State_Selected;
  const bool focused = selected && (option.state & QStyle::State_HasFocus);
  painter.setPen(QPen(focused ? p.accent : selected ? p.selectionLine : p.line, focused ? 1.6 : 1));
  painter.setBrush(selected ? p.selection : ground);
  painter.drawRoundedRect(card, 7, 7);
}

/// Lines with a shape before the first one; the baseline of the next line.
double drawNoted(QPainter& painter, double left, double baseline, StateShape shape, const QColor& color,
                 const QStringList& lines, const QColor& ink) {
  drawShape(painter, shape, {left + 5, baseline - 4}, 9, color);
  for (const QString& line : lines) {
    drawLine(painter, left + kIndent, baseline, line, smallFont(), ink);
    baseline += kLinePitch;
  }
  return baseline;
}

}  // namespace

QStringList FaultCards::titleLines(const FaultRow& row, double width) {
  double room = roomIn(width) - 20 - textWidth(row.left, strongFont()) - 10;
  if (row.part >= 0) room -= kRing + 8;
  // A number and its unit stay together.
  static const QRegularExpression unit(QStringLiteral("(?<=\\d) (?=[A-Za-zµ])"));
  QString title = row.title;
  QStringList lines = wrappedLines(title.replace(unit, QString(QChar::Nbsp)), titleFont(), room, kMostTitleLines);
  if (lines.isEmpty()) lines << QString();
  for (QString& line : lines) line.replace(QChar::Nbsp, QLatin1Char(' '));
  return lines;
}

QString FaultCards::footText(const FaultRow& row) {
  QStringList parts;
  for (const QString& part : {row.held, row.fired, row.occasions})
    if (!part.isEmpty()) parts << part;
  return parts.isEmpty() ? row.target : parts.join(QStringLiteral(" · "));
}

QSize FaultCards::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const FaultRow& row = m_model.rows()[static_cast<size_t>(index.row())];
  const double width = widthOf(option);
  const auto lines = static_cast<double>(noteLines(row.note, width).size() + noteLines(row.lasting, width).size());
  return {200,
          kCardHeight + qRound(titleGrowth(row, width)) + (lines > 0 ? qRound(kNoteAbove + lines * kLinePitch) : 0)};
}

QRectF FaultCards::healArea(const FaultRow& row, const QRectF& place) {
  const QRectF card = cardOf(place);
  return {card.right() - 70, card.top() + 48 + titleGrowth(row, place.width()), 64, 26};
}

QRectF FaultCards::stepArea(const FaultRow& row, const QRectF& place) {
  const QRectF heal = healArea(row, place);
  return {heal.left() - 52, heal.top(), 52, heal.height()};
}

void FaultCards::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const FaultRow& row = m_model.rows()[static_cast<size_t>(index.row())];
  const Palette& p = colors();
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const QRectF card = cardOf(option.rect);
  drawGround(*painter, card, option, p.sunken);
  const double left = card.left() + kInside;
  const double right = card.right() - kInside;
  drawShape(*painter, row.shape, {left + 5, card.top() + 18}, 10, row.color);
  double titleRight = right;
  const QFont strong = strongFont();
  if (row.part >= 0) {
    const QRectF ring(right - kRing + 1, card.top() + 7, kRing - 3, kRing - 3);
    painter->setBrush(Qt::NoBrush);
    painter->setPen(QPen(mixed(p.sunken, row.color, 0.28), 3));
    painter->drawEllipse(ring);
    painter->setPen(QPen(row.color, 3, Qt::SolidLine, Qt::FlatCap));
    painter->drawArc(ring, 90 * 16, row.part * 96);
    titleRight -= kRing + 8;
  }
  drawLine(*painter, titleRight, card.top() + 22, row.left, strong, row.part >= 0 ? row.textColor : p.muted,
           Qt::AlignRight);
  double baseline = card.top() + 22;
  for (const QString& line : titleLines(row, option.rect.width())) {
    drawLine(*painter, left + 20, baseline, line, titleFont(), p.ink);
    baseline += kTitlePitch;
  }
  baseline += 22 - kTitlePitch;
  drawLine(*painter, left, baseline, elidedIn(row.when, smallFont(), right - left), smallFont(), p.muted);
  const double foot = baseline + 21;
  drawLine(*painter, left, foot, elidedIn(footText(row), smallFont(), right - left - 110), smallFont(), p.ink);
  drawLine(*painter, right, foot, CardNames::tr("heal"), strong, p.accent, Qt::AlignRight);
  if (row.steps)
    drawLine(*painter, right - textWidth(CardNames::tr("heal"), strong) - 16, foot, CardNames::tr("step"), strong,
             p.accent, Qt::AlignRight);
  baseline = foot + kNoteAbove + kLinePitch;
  if (const QStringList note = noteLines(row.note, option.rect.width()); !note.isEmpty())
    baseline = drawNoted(*painter, left, baseline, StateShape::Ring, p.warn, note, p.warnText);
  if (const QStringList lasting = noteLines(row.lasting, option.rect.width()); !lasting.isEmpty())
    drawNoted(*painter, left, baseline, StateShape::Triangle, p.fault, lasting, p.ink);
  painter->restore();
}

QSize FaultOverCards::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const FaultOverRow& row = m_model.rows()[static_cast<size_t>(index.row())];
  const double width = widthOf(option);
  const auto lines = static_cast<double>(noteLines(row.note, width).size() + noteLines(lastingText(row), width).size());
  return {200, kOverHeight + qRound(lines * kLinePitch)};
}

void FaultOverCards::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const FaultOverRow& row = m_model.rows()[static_cast<size_t>(index.row())];
  const Palette& p = colors();
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const QRectF card = cardOf(option.rect);
  drawGround(*painter, card, option, p.panel);
  const double left = card.left() + kInside;
  const double right = card.right() - kInside;
  // It acts no more: its shape without its colour.
  drawShape(*painter, row.shape, {left + 5, card.top() + 15}, 9, p.muted);
  drawLine(*painter, right, card.top() + 19, row.ending, smallFont(), p.muted, Qt::AlignRight);
  const double room = right - textWidth(row.ending, smallFont()) - 10 - left - 20;
  const QFont title = Theme::body(12, QFont::Medium);
  drawLine(*painter, left + 20, card.top() + 19, elidedIn(row.title, title, room), title, p.ink);
  QStringList facts{row.ended, CardNames::tr("after %1").arg(row.after)};
  if (!row.fired.isEmpty()) facts << row.fired;
  drawLine(*painter, left, card.top() + 38, elidedIn(facts.join(QStringLiteral(" · ")), smallFont(), right - left),
           smallFont(), p.muted);
  double baseline = card.top() + 38 + kLinePitch;
  if (const QStringList note = noteLines(row.note, option.rect.width()); !note.isEmpty())
    baseline = drawNoted(*painter, left, baseline, StateShape::Ring, p.muted, note, p.muted);
  if (const QStringList lasting = noteLines(lastingText(row), option.rect.width()); !lasting.isEmpty())
    drawNoted(*painter, left, baseline, StateShape::Triangle, p.fault, lasting, p.ink);
  painter->restore();
}

}  // namespace tidemark::widgets
