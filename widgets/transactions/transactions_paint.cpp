// How the transactions are painted.
#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QPainter>

#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/theme.h"
#include "transactions/transactions_view.h"

namespace tidemark::widgets {

namespace {

constexpr double kCardGap = 16;
constexpr double kCardInside = 16;
constexpr double kFactsWidth = 300;
constexpr double kProducerNames = 124;
constexpr double kPartitionNames = 128;
constexpr double kSpanPitch = 30;
constexpr double kSpanHeight = 18;
constexpr double kLogPitch = 92;
constexpr double kLogHeight = 32;

using observe::TransactionFate;

QString fitted(const QString& text, const QFont& font, double width) {
  return QFontMetricsF(font).elidedText(text, Qt::ElideRight, std::max(0.0, width));
}

void cardHead(QPainter& painter, const QRectF& card, const QString& title, const QString& note) {
  const Palette& p = colors();
  drawCard(painter, card);
  const QFont head = Theme::body(13, QFont::DemiBold);
  drawLine(painter, card.left() + kCardInside, card.top() + 24, title, head, p.ink);
  const QFont small = Theme::body(12);
  const double x = card.left() + kCardInside + textWidth(title, head) + 12;
  drawLine(painter, x, card.top() + 24, fitted(note, small, card.right() - x - 12), small, p.muted);
}

/// Committed, aborted and open are told apart by fill, hatch and outline as well.
void fateBox(QPainter& painter, const QRectF& box, TransactionFate fate, int number) {
  const Palette& p = colors();
  const QRectF edge = box.adjusted(0.75, 0.75, -0.75, -0.75);
  switch (fate) {
    case TransactionFate::Committed:
      painter.setPen(Qt::NoPen);
      painter.setBrush(p.epochs[static_cast<size_t>(number + 1) % 3]);
      painter.drawRoundedRect(box, 4, 4);
      return;
    case TransactionFate::Aborted:
      painter.setPen(QPen(p.bad, 1.2));
      painter.setBrush(hatch(p.panel, p.badLine, 6, 1.4));
      painter.drawRoundedRect(edge, 4, 4);
      return;
    case TransactionFate::Open: {
      QPen pen(p.highWatermark, 1.6);
      pen.setDashPattern({2.6, 1.8});
      painter.setPen(pen);
      painter.setBrush(p.warnSoft);
      painter.drawRoundedRect(edge, 4, 4);
      return;
    }
    case TransactionFate::Unknown:
      painter.setPen(QPen(p.line, 1));
      painter.setBrush(p.sunken);
      painter.drawRoundedRect(edge, 4, 4);
  }
}

QColor inkOf(TransactionFate fate) {
  const Palette& p = colors();
  return fate == TransactionFate::Committed ? p.onEpoch
         : fate == TransactionFate::Aborted ? p.badText
         : fate == TransactionFate::Open    ? p.warnText
                                            : p.muted;
}

/// The words on a hatched box stand on a ground of their own.
void textOn(QPainter& painter, const QRectF& box, const QString& text, const QFont& font, TransactionFate fate,
            Qt::Alignment align) {
  const QString words = fitted(text, font, box.width() - 10);
  if (words.isEmpty() || (words.size() == 1 && text.size() > 1)) return;
  const double width = textWidth(words, font);
  const double x = align & Qt::AlignHCenter ? box.center().x() - width / 2
                   : align & Qt::AlignRight ? box.right() - 9 - width
                                            : box.left() + 9;
  if (fate == TransactionFate::Aborted) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(colors().panel);
    painter.drawRoundedRect(QRectF(x - 3, box.center().y() - 7.5, width + 6, 15), 3, 3);
  }
  drawLine(painter, x, box.center().y() + 4.2, words, font, inkOf(fate));
}

void markerAt(QPainter& painter, const QPointF& at, bool commits, double size) {
  const Palette& p = colors();
  if (commits) {
    painter.setPen(QPen(p.panel, 1.2));
    painter.setBrush(p.ok);
    painter.drawPolygon(QPolygonF{{at.x(), at.y() - size},
                                  {at.x() + size * 0.66, at.y()},
                                  {at.x(), at.y() + size},
                                  {at.x() - size * 0.66, at.y()}});
    return;
  }
  painter.setPen(QPen(p.bad, 1.4));
  painter.setBrush(p.panel);
  painter.drawEllipse(at, size * 0.82, size * 0.82);
  drawShape(painter, StateShape::Cross, at, size * 0.8, p.bad);
}

void tag(QPainter& painter, double x, double top, const QString& text, const QColor& fill, const QColor& ink,
         double left, double right) {
  const QFont font = Theme::body(11.5, QFont::DemiBold);
  const double width = textWidth(text, font) + 16;
  const double at = std::clamp(x - width / 2, left, std::max(left, right - width));
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  painter.drawRoundedRect(QRectF(at, top, width, 18), 9, 9);
  drawLine(painter, at + 8, top + 13, text, font, ink);
}

}  // namespace

double TransactionsView::spansHeight() const {
  size_t rows = 0;
  for (const ProducerScene& producer : m_scene.producers) rows += producer.rows.size();
  const double list = static_cast<double>(rows) * kSpanPitch + static_cast<double>(m_scene.producers.size()) * 20;
  return std::max(330.0, 44 + list + 44);
}

double TransactionsView::logsHeight() const {
  return 44 + kLogPitch * static_cast<double>(m_scene.logs.size()) + 38;
}

double TransactionsView::layOut(QPainter* painter, double width) {
  const bool beside = width >= 900;
  const double top = spansHeight();
  const double left = beside ? width - kFactsWidth - kCardGap : width;
  paintSpans(painter, QRectF(0, 0, left, top));
  double y = top + kCardGap;
  if (beside) {
    paintFacts(painter, QRectF(left + kCardGap, 0, kFactsWidth, top));
  } else if (!m_scene.facts.title.isEmpty()) {
    paintFacts(painter, QRectF(0, y, width, 320));
    y += 320 + kCardGap;
  }
  if (!m_scene.logs.empty()) {
    paintLogs(painter, QRectF(0, y, width, logsHeight()));
    y += logsHeight() + kCardGap;
  }
  const double below =
      62 + 22 * static_cast<double>(std::max<size_t>(3, std::max(m_scene.fencing.size(), m_scene.aborted.size() + 1)));
  const double split = beside ? width * 0.6 : width;
  paintFencing(painter, QRectF(0, y, split - (beside ? kCardGap / 2 : 0), below));
  if (!beside) y += below + kCardGap;
  paintAborted(painter,
               QRectF(beside ? split + kCardGap / 2 : 0, y, beside ? width - split - kCardGap / 2 : width, below));
  return y + below;
}

void TransactionsView::paintSpan(QPainter& painter, const SpanScene& span, const QRectF& place) const {
  const QRectF box = place;
  fateBox(painter, box, span.fate, span.number);
  if (span.number == m_scene.picked) {
    painter.setPen(QPen(colors().ink, 1.6));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), 5, 5);
  }
  const QFont font = Theme::body(11.5, QFont::DemiBold);
  const QRectF inside = box.adjusted(0, 0, span.ended ? -8 : 0, 0);
  // Rather the number alone than half of a word.
  const double needed = textWidth(span.text, font) + 20;
  textOn(painter, inside, needed <= inside.width() ? span.text : span.shortText, font, span.fate, Qt::AlignLeft);
  if (!span.rightText.isEmpty() && needed + textWidth(span.rightText, font) + 24 <= inside.width())
    textOn(painter, inside, span.rightText, font, span.fate, Qt::AlignRight);
  if (span.ended) markerAt(painter, {box.right(), box.center().y()}, span.fate == TransactionFate::Committed, 8);
}

double TransactionsView::paintSpans(QPainter* painter, const QRectF& card) {
  const Palette& p = colors();
  if (painter != nullptr)
    cardHead(*painter, card, tr("Over time"),
             tr("one row a partition, by who writes; a span runs from its first write to its marker"));
  const double from = card.left() + kCardInside + kProducerNames + kPartitionNames;
  const double right = card.right() - kCardInside - 12;
  const auto xOf = [&](double part) { return from + part * (right - from); };
  double y = card.top() + 48;
  const double axis = card.bottom() - 36;
  if (painter != nullptr && m_scene.producers.empty())
    drawLine(*painter, (card.left() + card.right()) / 2, card.center().y(), tr("no transaction in this time"),
             Theme::body(13), p.muted, Qt::AlignHCenter);
  const QFont name = Theme::body(12.5, QFont::DemiBold);
  const QFont note = Theme::body(11.5);
  const QFont mono = Theme::mono(11.5);
  for (size_t i = 0; i < m_scene.producers.size(); ++i) {
    const ProducerScene& producer = m_scene.producers[i];
    if (painter != nullptr) {
      drawLine(*painter, card.left() + kCardInside, y + 12, fitted(producer.name, name, kProducerNames - 8), name,
               p.ink);
      drawLine(*painter, card.left() + kCardInside, y + 28, fitted(producer.note, note, kProducerNames - 8), note,
               p.muted);
    }
    const double top = y;
    for (const SpanRow& row : producer.rows) {
      const double middle = y + 9;
      if (painter != nullptr) {
        drawLine(*painter, from - 10, middle + 4, fitted(row.partition, mono, kPartitionNames - 16), mono, p.muted,
                 Qt::AlignRight);
        painter->setPen(QPen(p.grid, 1));
        painter->drawLine(QPointF(from, middle), QPointF(right, middle));
      }
      for (const SpanScene& span : row.spans) {
        const QRectF place(xOf(span.from), y, std::max(5.0, xOf(span.to) - xOf(span.from)), kSpanHeight);
        if (painter == nullptr)
          addSpot({.rect = place.adjusted(-3, -4, 8, 4), .pick = span.number, .tip = span.tip});
        else
          paintSpan(*painter, span, place);
      }
      y += kSpanPitch;
    }
    if (painter != nullptr) {
      for (const FenceMark& mark : producer.marks) {
        const double x = xOf(mark.at);
        const double middle = top + kSpanPitch * mark.row + 9;
        if (mark.refused) {
          drawShape(*painter, StateShape::BarredRing, {x, middle}, 12, p.fenced);
        } else {
          QPen pen(p.fenced, 1.2);
          pen.setDashPattern({2, 2});
          painter->setPen(pen);
          painter->drawLine(QPointF(x, top - 4), QPointF(x, y - 6));
        }
        const double needs = textWidth(mark.text, note);
        const bool before = x - needs - 12 > from;
        drawLine(*painter, before ? x - 10 : x + 10, mark.refused ? middle + 4 : y - 6, mark.text, note, p.fenced,
                 before ? Qt::AlignRight : Qt::AlignLeft);
      }
      if (i + 1 < m_scene.producers.size()) {
        painter->setPen(QPen(p.softLine, 1));
        painter->drawLine(QPointF(card.left() + kCardInside, y + 4), QPointF(right, y + 4));
      }
    }
    y += 20;
  }
  if (painter == nullptr) return y;
  painter->setPen(QPen(p.axis, 1));
  painter->drawLine(QPointF(from, axis), QPointF(right, axis));
  double taken = -1e9;
  for (const auto& [part, text] : m_scene.ticks) {
    const double x = xOf(part);
    const double half = textWidth(text, mono) / 2;
    if (x - half < std::max(from - 20, taken + 8) || x + half > right + 14) continue;
    taken = x + half;
    painter->setPen(QPen(p.axis, 1));
    painter->drawLine(QPointF(x, axis), QPointF(x, axis + 4));
    drawLine(*painter, x, axis + 19, text, mono, p.muted, Qt::AlignHCenter);
  }
  painter->setPen(QPen(p.accent, 2));
  painter->drawLine(QPointF(right, card.top() + 44), QPointF(right, axis));
  return y;
}

void TransactionsView::paintFacts(QPainter* painter, const QRectF& card) {
  if (painter == nullptr) return;
  const Palette& p = colors();
  const TransactionFacts& facts = m_scene.facts;
  if (facts.title.isEmpty()) {
    cardHead(*painter, card, tr("Transaction"), tr("click one, or ↑ ↓"));
    return;
  }
  cardHead(*painter, card, facts.title, facts.state);
  if (facts.holdsBack) {
    const QFont font = Theme::body(11.5, QFont::Bold);
    const QString text = tr("holds LSO back");
    const double width = textWidth(text, font) + 18;
    painter->setPen(Qt::NoPen);
    painter->setBrush(p.warnSoft);
    painter->drawRoundedRect(QRectF(card.right() - 12 - width, card.top() + 9, width, 21), 10.5, 10.5);
    drawLine(*painter, card.right() - 12 - width + 9, card.top() + 24, text, font, p.warnText);
  }
  const QFont name = Theme::body(12);
  const QFont value = Theme::mono(12);
  double y = card.top() + 50;
  for (const auto& [what, text] : facts.facts) {
    drawLine(*painter, card.left() + kCardInside, y, what, name, p.muted);
    const double room = card.width() - 2 * kCardInside - textWidth(what, name) - 14;
    drawLine(*painter, card.right() - kCardInside, y, fitted(text, value, room), value, p.ink, Qt::AlignRight);
    y += 23;
  }
  if (facts.over >= 0) {
    const QRectF bar(card.left() + kCardInside, y, card.width() - 2 * kCardInside, 8);
    painter->setPen(Qt::NoPen);
    painter->setBrush(p.rail);
    painter->drawRoundedRect(bar, 4, 4);
    painter->setBrush(p.highWatermark);
    painter->drawRoundedRect(QRectF(bar.left(), bar.top(), std::max(8.0, bar.width() * facts.over), 8), 4, 4);
    y += 24;
  }
  painter->setFont(name);
  painter->setPen(p.muted);
  painter->drawText(QRectF(card.left() + kCardInside, y - 2, card.width() - 2 * kCardInside, 36), Qt::TextWordWrap,
                    facts.note);
  y += facts.note.isEmpty() ? 0 : 24;
  painter->setFont(Theme::body(12, QFont::DemiBold));
  painter->setPen(p.warnText);
  painter->drawText(QRectF(card.left() + kCardInside, y, card.width() - 2 * kCardInside, card.bottom() - y - 6),
                    Qt::TextWordWrap, facts.warning);
}

void TransactionsView::paintLogs(QPainter* painter, const QRectF& card) {
  const Palette& p = colors();
  if (painter != nullptr)
    cardHead(*painter, card, tr("On the log"),
             tr("by offset: who wrote it, its markers, and where read_committed has to stop"));
  const double from = card.left() + kCardInside + 150;
  const double right = card.right() - kCardInside - 190;
  const QFont mono = Theme::mono(12, QFont::DemiBold);
  const QFont note = Theme::body(11.5);
  const QFont offset = Theme::mono(10.5);
  const QFont inside = Theme::body(12, QFont::DemiBold);
  double y = card.top() + 48;
  const auto xOf = [&](double part) { return from + part * (right - from); };
  for (const LogScene& log : m_scene.logs) {
    const double top = y + 18;
    if (painter != nullptr) {
      drawLine(*painter, card.left() + kCardInside, top + 14, fitted(log.partition, mono, 140), mono, p.ink);
      drawLine(*painter, card.left() + kCardInside, top + 31, fitted(log.note, note, 140), note, p.muted);
      if (!log.held.isEmpty() && log.lastStable && log.highWatermark) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(p.warnSoft);
        painter->drawRect(
            QRectF(xOf(*log.lastStable), top - 6, xOf(*log.highWatermark) - xOf(*log.lastStable), kLogHeight + 12));
      }
      painter->setPen(Qt::NoPen);
      painter->setBrush(p.rail);
      painter->drawRoundedRect(QRectF(from - 30, top + kLogHeight + 4, card.right() - kCardInside - from + 30, 4), 2,
                               2);
    }
    double labelFree = -1e9;
    for (const LogBatchScene& batch : log.batches) {
      const QRectF box(xOf(batch.from) + 1.5, top, std::max(3.0, xOf(batch.to) - xOf(batch.from) - 3), kLogHeight);
      if (painter == nullptr) {
        addSpot({.rect = box, .pick = batch.number > 0 ? batch.number : -1, .tip = batch.tip});
        continue;
      }
      if (batch.control) {
        const bool commits = batch.fate == TransactionFate::Committed;
        markerAt(*painter, box.center(), commits, 12);
        if (commits)
          drawLine(*painter, box.center().x(), box.center().y() + 4, batch.text, Theme::body(10, QFont::Bold), p.panel,
                   Qt::AlignHCenter);
        continue;
      }
      fateBox(*painter, box, batch.fate, batch.number);
      if (batch.number != 0 && batch.number == m_scene.picked) {
        painter->setPen(QPen(p.ink, 1.6));
        painter->setBrush(Qt::NoBrush);
        painter->drawRoundedRect(box.adjusted(-1.5, -1.5, 1.5, 1.5), 5, 5);
      }
      textOn(*painter, box, batch.text, inside, batch.fate, Qt::AlignHCenter);
      const double label = textWidth(batch.offset, offset);
      if (box.left() > labelFree) {
        drawLine(*painter, box.left() + 1, top - 5, batch.offset, offset, p.heads);
        labelFree = box.left() + label + 8;
      }
    }
    if (painter != nullptr) {
      const double below = top + kLogHeight + 10;
      if (log.highWatermark) {
        const double x = xOf(*log.highWatermark);
        painter->setPen(QPen(p.highWatermark, 2.4));
        painter->drawLine(QPointF(x, top - 10), QPointF(x, below + 4));
        tag(*painter, x, below, log.highWatermarkText, p.highWatermark, p.onHighWatermark, from - 30,
            card.right() - kCardInside);
      }
      if (log.lastStable) {
        const double x = xOf(*log.lastStable);
        QPen pen(p.violet, 2);
        pen.setDashPattern({2.4, 1.8});
        painter->setPen(pen);
        painter->drawLine(QPointF(x, top - 10), QPointF(x, below + 2));
        // Beside the other one where both would stand in one place.
        const double other = log.highWatermark ? xOf(*log.highWatermark) : 1e9;
        const double room = textWidth(log.lastStableText, Theme::body(11.5, QFont::DemiBold)) + 60;
        tag(*painter, std::min(x, std::max(from, other - room)), below, log.lastStableText, p.violet, p.onViolet,
            from - 30, card.right() - kCardInside);
      }
      painter->setFont(Theme::body(12, QFont::DemiBold));
      painter->setPen(p.warnText);
      painter->drawText(QRectF(right + 8, top - 4, card.right() - kCardInside - right - 8, kLogHeight + 10),
                        int(Qt::AlignVCenter) | int(Qt::TextWordWrap), log.held);
    }
    y += kLogPitch;
  }
  if (painter != nullptr) paintLegend(*painter, card.left() + kCardInside, card.bottom() - 26);
}

void TransactionsView::paintLegend(QPainter& painter, double left, double y) const {
  const Palette& p = colors();
  const QFont font = Theme::body(11.5);
  double x = left;
  const auto word = [&](const QString& text, double width) {
    drawLine(painter, x + width + 7, y + 11, text, font, p.muted);
    x += width + 7 + textWidth(text, font) + 20;
  };
  for (const auto& [fate, text] :
       {std::pair{TransactionFate::Committed, tr("committed")}, std::pair{TransactionFate::Aborted, tr("aborted")},
        std::pair{TransactionFate::Open, tr("open")}, std::pair{TransactionFate::Unknown, tr("not transactional")}}) {
    fateBox(painter, QRectF(x, y, 20, 14), fate, 1);
    word(text, 20);
  }
  markerAt(painter, {x + 7, y + 7}, true, 8);
  word(tr("commit marker"), 14);
  markerAt(painter, {x + 7, y + 7}, false, 8);
  word(tr("abort marker"), 14);
  drawShape(painter, StateShape::BarredRing, {x + 7, y + 7}, 11, p.fenced);
  word(tr("fenced"), 14);
}

void TransactionsView::paintFencing(QPainter* painter, const QRectF& card) {
  if (painter != nullptr) cardHead(*painter, card, tr("Epochs and fencing"), tr("newest first"));
  const Palette& p = colors();
  const QFont mono = Theme::mono(11.5);
  const QFont text = Theme::body(12);
  double y = card.top() + 50;
  for (const FencingRow& row : m_scene.fencing) {
    if (painter == nullptr) {
      addSpot({.rect = QRectF(card.left(), y - 15, card.width(), 21), .event = row.event, .tip = row.text});
    } else {
      drawLine(*painter, card.left() + kCardInside, y, row.time, mono, p.muted);
      drawLine(*painter, card.left() + kCardInside + 108, y, row.epoch, Theme::mono(11.5, QFont::DemiBold), p.fenced);
      drawLine(*painter, card.left() + kCardInside + 148, y,
               fitted(row.text, text, card.width() - 2 * kCardInside - 148), text, p.ink);
    }
    y += 22;
  }
  if (painter != nullptr && m_scene.fencing.empty())
    drawLine(*painter, card.left() + kCardInside, y, tr("nobody was fenced"), text, p.muted);
}

void TransactionsView::paintAborted(QPainter* painter, const QRectF& card) {
  if (painter == nullptr) return;
  cardHead(*painter, card, tr("Aborted index"), tr("what a read_committed fetch is told to leave out"));
  const Palette& p = colors();
  const QFont head = Theme::body(11.5, QFont::Bold);
  const QFont mono = Theme::mono(11.5);
  const double left = card.left() + kCardInside;
  const double room = card.width() - 2 * kCardInside;
  const double columns[] = {left + room * 0.52, left + room * 0.68, left + room * 0.84, left + room};
  double y = card.top() + 50;
  drawLine(*painter, left, y, tr("partition"), head, p.heads);
  drawLine(*painter, columns[0], y, tr("producer"), head, p.heads, Qt::AlignRight);
  drawLine(*painter, columns[1], y, tr("first"), head, p.heads, Qt::AlignRight);
  drawLine(*painter, columns[2], y, tr("last"), head, p.heads, Qt::AlignRight);
  drawLine(*painter, columns[3], y, tr("LSO then"), head, p.heads, Qt::AlignRight);
  for (const AbortedRow& row : m_scene.aborted) {
    y += 22;
    drawLine(*painter, left, y, fitted(row.partition, mono, room * 0.36), mono, p.ink);
    drawLine(*painter, columns[0], y, row.producer, mono, p.ink, Qt::AlignRight);
    drawLine(*painter, columns[1], y, row.first, mono, p.ink, Qt::AlignRight);
    drawLine(*painter, columns[2], y, row.last, mono, p.ink, Qt::AlignRight);
    drawLine(*painter, columns[3], y, row.lastStable, mono, p.ink, Qt::AlignRight);
  }
  if (m_scene.aborted.empty()) drawLine(*painter, left, y + 22, tr("nothing was aborted"), Theme::body(12), p.muted);
}

}  // namespace tidemark::widgets
