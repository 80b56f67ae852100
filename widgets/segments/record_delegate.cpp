#include "segments/record_delegate.h"

#include <algorithm>

#include <QCoreApplication>
#include <QMouseEvent>
#include <QPainter>

#include "segments/segments_controller.h"
#include "text/format.h"
#include "theme/draw.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

struct RecordWords {
  Q_DECLARE_TR_FUNCTIONS(tidemark::widgets::BatchPanel)
};

QString showAllText(const RecordEntry& record) {
  return RecordWords::tr("show all %1").arg(bytesText(record.value.length));
}

}  // namespace

bool isReadable(const QString& text) {
  return std::ranges::none_of(text, [](QChar letter) {
    return letter == QChar::ReplacementCharacter || (letter.unicode() < 32 && letter != QLatin1Char('\n') &&
                                                     letter != QLatin1Char('\r') && letter != QLatin1Char('\t'));
  });
}

QString hexOfValue(ByteView bytes, size_t most) {
  QString text;
  for (size_t i = 0; i < std::min(most, bytes.size()); ++i) {
    if (i > 0) text += QLatin1Char(' ');
    text += QStringLiteral("%1").arg(bytes[i], 2, 16, QLatin1Char('0'));
  }
  return text;
}

ShownValue shownValue(ByteView bytes, bool isNull, int most) {
  if (isNull) return {RecordWords::tr("null"), false};
  const auto limit = static_cast<size_t>(most);
  // A letter has four bytes at most, and one may be cut in its middle.
  const ByteView head = bytes.first(std::min(bytes.size(), limit * 4));
  QString text = QString::fromUtf8(reinterpret_cast<const char*>(head.data()), static_cast<qsizetype>(head.size()));
  if (head.size() < bytes.size()) text.chop(1);
  const bool asText = isReadable(text);
  if (!asText) text = QStringLiteral("0x ") + hexOfValue(bytes, limit / 3);
  const bool cut = asText ? text.size() > most || head.size() < bytes.size() : bytes.size() > limit / 3;
  if (asText) {
    text.truncate(most);
    text.replace(QLatin1Char('\n'), QStringLiteral("⏎"))
        .remove(QLatin1Char('\r'))
        .replace(QLatin1Char('\t'), QLatin1Char(' '));
  }
  if (cut) text += QStringLiteral(" …");
  return {text, cut};
}

RecordDelegate::RecordDelegate(const SegmentsController& controller, const RowsModel<RecordRow>& model,
                               std::function<void(int row)> showAll, QObject* parent)
    : QStyledItemDelegate(parent), m_controller(controller), m_model(model), m_showAll(std::move(showAll)) {}

void RecordDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const Palette& p = colors();
  const RecordEntry& record = m_model.rows()[static_cast<size_t>(index.row())].entry();
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const QRectF box = option.rect;
  const bool wanted = record.offset == m_controller.wantedOffset();
  if (wanted) painter->fillRect(option.rect, p.warnSoft);
  if (option.state & QStyle::State_Selected) {
    if (!wanted) painter->fillRect(option.rect, p.selection);
    if (index.column() == 0) painter->fillRect(QRectF(box.left(), box.top(), 2.5, box.height()), p.accent);
  }
  const double baseline = box.center().y() + 4.5;
  const QFont font = Theme::mono(12, index.column() == kOffset ? QFont::DemiBold : QFont::Normal);
  const bool isNull =
      (index.column() == kKey && record.key.begin < 0) || (index.column() == kValue && record.value.begin < 0);
  double room = box.width() - 16;
  if (index.column() == kValue && isCut(index)) {
    const QString link = showAllText(record);
    const QFont linkFont = Theme::body(11.5, QFont::DemiBold);
    const double width = textWidth(link, linkFont);
    drawLine(*painter, box.right() - 10, baseline, link, linkFont, p.accent, Qt::AlignRight);
    room -= width + 12;
  }
  QString text = index.data().toString();
  if (index.column() == kValue && record.headers > 0) {
    // Of a long value the end goes, not that there are headers.
    const QString note = RecordWords::tr("   + %n header(s)", nullptr, record.headers);
    text.chop(note.size());
    const QFont noteFont = Theme::body(11.5);
    const double width = textWidth(note.trimmed(), noteFont);
    const double at = std::min(box.left() + 8 + textWidth(text, font) + 16, box.left() + 8 + room - width);
    drawLine(*painter, at, baseline, note.trimmed(), noteFont, p.muted);
    room = at - box.left() - 20;
  }
  text = QFontMetricsF(font).elidedText(text, Qt::ElideRight, room);
  drawLine(*painter, box.left() + 8, baseline, text, font, index.column() == kTimestamp || isNull ? p.muted : p.ink);
  painter->restore();
}

bool RecordDelegate::editorEvent(QEvent* event, QAbstractItemModel*, const QStyleOptionViewItem& option,
                                 const QModelIndex& index) {
  if (event->type() != QEvent::MouseButtonRelease || index.column() != kValue || !isCut(index)) return false;
  const RecordEntry& record = m_model.rows()[static_cast<size_t>(index.row())].entry();
  const double width = textWidth(showAllText(record), Theme::body(11.5, QFont::DemiBold)) + 16;
  if (static_cast<QMouseEvent*>(event)->position().x() < option.rect.right() - width) return false;
  m_showAll(index.row());
  return true;
}

bool RecordDelegate::isCut(const QModelIndex& index) const {
  const RecordRow& row = m_model.rows()[static_cast<size_t>(index.row())];
  return shownValue(row.batch->bytesOf(row.entry().value), row.entry().value.begin < 0).cut;
}

}  // namespace tidemark::widgets
