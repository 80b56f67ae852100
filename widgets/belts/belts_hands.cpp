// Hands on the belts: what lies under the pointer, tool tips, mouse and keys, and what is copied.
#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include "belts/belts_view.h"
#include "text/format.h"
#include "text/node_words.h"
#include "theme/theme.h"
#include "theme/tool_tips.h"

namespace tidemark::widgets {

using observe::BatchSnapshot;
using observe::PartitionSnapshot;
using observe::ReplicaSnapshot;

std::optional<std::pair<int, const BatchSnapshot*>> BeltsView::batchAt(const QPointF& point) const {
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) return std::nullopt;
  const BeltsLayout layout = layoutOfBelts();
  if (point.x() < layout.beltLeft() || point.x() > layout.beltLeft() + layout.beltWidth()) return std::nullopt;
  const double offset = m_viewport.offsetAt(point.x() - layout.beltLeft(), now());
  for (int i = 0; i < layout.laneCount; ++i) {
    const QRectF lane = layout.lane(i);
    if (point.y() < lane.top() + 18 || point.y() > lane.top() + 70) continue;
    const auto& batches = partition->copies[static_cast<size_t>(i)].batches;
    const auto found = std::ranges::find_if(batches, [offset](const BatchSnapshot& batch) {
      return offset >= beltPlace(batch.baseOffset) && offset < static_cast<double>(batch.lastOffset.value() + 1);
    });
    if (found != batches.end()) return std::pair{i, &*found};
  }
  return std::nullopt;
}

QString BeltsView::toolTipAt(const QPointF& point) const {
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) return {};
  const auto row = [](const QString& name, const QString& value) {
    return QStringLiteral("<tr><td style='padding-right:14px'>%1</td><td align='right'><b>%2</b></td></tr>")
        .arg(name, value);
  };
  if (const auto hit = batchAt(point)) {
    const BatchSnapshot& batch = *hit->second;
    const ReplicaSnapshot& replica = partition->copies[static_cast<size_t>(hit->first)];
    QString rows =
        row(tr("offsets"), QStringLiteral("%1 – %2").arg(offsetText(batch.baseOffset), offsetText(batch.lastOffset)));
    rows += row(tr("records"), grouped(batch.recordCount));
    rows += row(tr("size"), bytesText(batch.sizeInBytes));
    rows += row(tr("leader epoch"), QString::number(batch.epoch.value()));
    // Of a moment of the past that is not known.
    if (!batch.codec.empty()) rows += row(tr("codec"), fromUtf8(batch.codec));
    rows += row(tr("position in its file"), grouped(batch.position));
    if (batch.producer != kNoProducerId) {
      rows += row(tr("producer id"), grouped(batch.producer.value()));
      rows += row(tr("base sequence"), QString::number(batch.baseSequence));
    }
    if (batch.transactional) {
      const auto fate = [&] {
        switch (batch.fate) {
          case observe::TransactionFate::Open:
            return tr("open: read_committed waits for its marker");
          case observe::TransactionFate::Committed:
            return batch.control ? tr("a COMMIT marker") : tr("committed");
          case observe::TransactionFate::Aborted:
            return batch.control ? tr("an ABORT marker") : tr("aborted: read_committed leaves it out");
          case observe::TransactionFate::Unknown:
            break;
        }
        return tr("yes");
      };
      rows += row(tr("transaction"), fate());
    }
    const auto parts = partsFrom(*partition, replica);
    const bool parted = parts && batch.baseOffset >= *parts;
    rows += row(tr("visible to consumers"), parted ? tr("no: its leader does not have it")
                                            : batch.lastOffset < partition->highWatermark ? tr("yes")
                                                                                          : tr("not yet"));
    return QStringLiteral("<b>%1</b><table>%2</table>%3")
        .arg(tr("Batch on broker %1").arg(replica.broker.value()), rows, tr("Click: byte by byte"));
  }
  const BeltsLayout layout = layoutOfBelts();
  if (layout.banner().contains(point))
    return tr("Enter or click: the event that tells of it · Esc or ✕: I have taken note");
  for (int i = 0; i < layout.laneCount; ++i) {
    const QRectF lane = layout.lane(i);
    if (!lane.contains(point)) continue;
    for (const LogBreak& one : m_breaks)
      if (one.what == LogBreak::What::Truncated && one.broker == partition->copies[static_cast<size_t>(i)].broker &&
          freshness(one) > 0 &&
          point.x() > layout.beltLeft() + m_viewport.x(static_cast<double>(one.from.value()), now()) - 4 &&
          point.x() < layout.beltLeft() + m_viewport.x(static_cast<double>(one.to.value()), now()))
        return tr("Broker %1 gave up %2 – %3 at %4: its leader does not have them")
            .arg(QString::number(one.broker.value()), offsetText(one.from), offsetText(one.to - 1), timeText(one.at));
    const ReplicaSnapshot& replica = partition->copies[static_cast<size_t>(i)];
    for (const observe::IndexEntrySnapshot& entry : replica.indexEntries)
      if (std::abs(layout.beltLeft() + m_viewport.x(static_cast<double>(entry.offset.value()) + 0.5, now()) -
                   point.x()) < 4 &&
          point.y() > lane.top() + 68)
        return tr("Index entry: offset %1 at position %2").arg(offsetText(entry.offset), grouped(entry.position));
    const QString lost = powerLossText(replica);
    if (!lost.isEmpty() && point.x() > layout.beltLeft() + m_viewport.x(beltPlace(replica.logEnd), now()) - 4 &&
        point.x() < layout.beltLeft() + m_viewport.x(beltPlace(replica.lostTo), now()))
      return tr("Broker %1 lost with its power what it had not synced: %2. It is not on its disk.")
          .arg(QString::number(replica.broker.value()), lost);
    const QString offline = isOffline(replica) ? tr("Broker %1 runs, its log of this partition is offline: %2")
                                                     .arg(replica.broker.value())
                                                     .arg(fromUtf8(replica.offlineReason).toHtmlEscaped())
                                               : QString();
    if (point.x() > layout.beltLeft()) return offline;
    QString rows = offline.isEmpty() ? QString() : row(tr("offline"), fromUtf8(replica.offlineReason).toHtmlEscaped());
    if (!lost.isEmpty()) rows += row(tr("lost with its power"), lost);
    rows += row(tr("log end offset"), offsetText(replica.logEnd));
    rows += row(tr("high watermark it knows"), offsetText(replica.highWatermark));
    rows += row(tr("log start"), offsetText(replica.logStart));
    if (const auto lag = observe::lagOf(*partition, replica); lag && !replica.leader)
      rows += row(tr("behind"), grouped(*lag));
    return QStringLiteral("<b>%1</b><table>%2</table>").arg(tr("Broker %1").arg(replica.broker.value()), rows);
  }
  return {};
}

bool BeltsView::event(QEvent* event) {
  return showToolTip(event, this, [this](const QPoint& at) { return toolTipAt(at); }) || QWidget::event(event);
}

void BeltsView::wheelEvent(QWheelEvent* event) {
  const BeltsLayout layout = layoutOfBelts();
  const bool followed = m_viewport.followsTail();
  const QPoint steps = event->angleDelta();
  // Where not all of it fits, the wheel goes up and down as everywhere, and Shift goes through time; so does a wheel
  // beside the lanes.
  const bool besides = event->position().x() < layout.beltLeft() || event->position().y() > layout.axisY();
  const bool cut = parentWidget() != nullptr && height() > parentWidget()->height();
  if (event->modifiers() == Qt::NoModifier && steps.y() != 0 && (cut || besides)) {
    event->ignore();
    return;
  }
  if (event->modifiers() & Qt::ControlModifier) {
    m_viewport.zoomBy(std::pow(1.0015, steps.y()), event->position().x() - layout.beltLeft(), now(),
                      Theme::instance().motionMs());
  } else {
    const QPoint pixels = event->pixelDelta();
    const double by =
        !pixels.isNull() ? (pixels.x() != 0 ? pixels.x() : pixels.y()) : (steps.x() != 0 ? steps.x() : steps.y()) * 0.8;
    m_viewport.scrollBy(-by, now(), pixels.isNull() ? Theme::instance().motionMs() : 0);
  }
  event->accept();
  if (followed != m_viewport.followsTail()) Q_EMIT followChanged(m_viewport.followsTail());
  moved();
  update();
}

void BeltsView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const QRectF banner = layoutOfBelts().banner(); banner.contains(event->position()) && !lostRecords().empty()) {
    const LogBreak first = lostRecords().front();
    if (event->position().x() > banner.right() - 40)
      takeNote();
    else
      Q_EMIT eventWanted(first.event, first.at);
    return;
  }
  if (!m_viewport.followsTail() && followPill().contains(event->position())) {
    m_viewport.followTail(now(), Theme::instance().motionMs());
    Q_EMIT followChanged(true);
    moved();
    update();
    return;
  }
  m_dragFrom = event->position();
  m_dragged = false;
}

void BeltsView::mouseMoveEvent(QMouseEvent* event) {
  if (m_dragFrom) {
    const double by = m_dragFrom->x() - event->position().x();
    if (!m_dragged && std::abs(by) < QApplication::startDragDistance()) return;
    m_dragged = true;
    setCursor(Qt::ClosedHandCursor);
    m_dragFrom = event->position();
    const bool followed = m_viewport.followsTail();
    m_viewport.scrollBy(by, now(), 0);
    if (followed != m_viewport.followsTail()) Q_EMIT followChanged(m_viewport.followsTail());
    update();
    return;
  }
  std::optional<Selected> hovered;
  if (const auto hit = batchAt(event->position()))
    hovered = Selected{shown()->copies[static_cast<size_t>(hit->first)].broker, hit->second->baseOffset};
  if (hovered != m_hovered) {
    m_hovered = hovered;
    update();
  }
  const bool overPill = !m_viewport.followsTail() && followPill().contains(event->position());
  setCursor(overPill || hovered ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void BeltsView::mouseReleaseEvent(QMouseEvent* event) {
  if (!m_dragFrom) return;
  m_dragFrom.reset();
  setCursor(Qt::ArrowCursor);
  if (m_dragged) return;
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) return;
  m_selected.reset();
  if (const auto hit = batchAt(event->position()))
    m_selected = Selected{partition->copies[static_cast<size_t>(hit->first)].broker, hit->second->baseOffset};
  const BeltsLayout layout = layoutOfBelts();
  for (int i = 0; i < layout.laneCount; ++i)
    if (layout.lane(i).contains(event->position()))
      Q_EMIT brokerPicked(partition->copies[static_cast<size_t>(i)].broker);
  update();
  if (m_selected) Q_EMIT batchPicked(m_selected->broker, m_selected->base);
}

void BeltsView::leaveEvent(QEvent*) {
  if (!m_hovered) return;
  m_hovered.reset();
  update();
}

void BeltsView::keyPressEvent(QKeyEvent* event) {
  const int motion = Theme::instance().motionMs();
  const bool followed = m_viewport.followsTail();
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(selectionAsText());
    return;
  }
  const double middle = m_viewport.width() / 2;
  switch (event->key()) {
    case Qt::Key_Left:
      m_viewport.scrollBy(-120, now(), motion);
      break;
    case Qt::Key_Right:
      m_viewport.scrollBy(120, now(), motion);
      break;
    case Qt::Key_PageUp:
      m_viewport.scrollBy(-m_viewport.width() * 0.9, now(), motion);
      break;
    case Qt::Key_PageDown:
      m_viewport.scrollBy(m_viewport.width() * 0.9, now(), motion);
      break;
    case Qt::Key_Home:
      m_viewport.scrollBy(-1e15, now(), motion);
      break;
    case Qt::Key_End:
    case Qt::Key_F:
      m_viewport.followTail(now(), motion);
      break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      m_viewport.zoomBy(1.5, middle, now(), motion);
      break;
    case Qt::Key_Minus:
      m_viewport.zoomBy(1 / 1.5, middle, now(), motion);
      break;
    case Qt::Key_0:
      m_viewport.zoomAutomatically(now(), motion);
      break;
    case Qt::Key_Escape:
      if (!m_selected) takeNote();
      m_selected.reset();
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (const auto lost = lostRecords(); !lost.empty()) {
        Q_EMIT eventWanted(lost.front().event, lost.front().at);
        return;
      }
      QWidget::keyPressEvent(event);
      return;
    default:
      QWidget::keyPressEvent(event);
      return;
  }
  if (followed != m_viewport.followsTail()) Q_EMIT followChanged(m_viewport.followsTail());
  moved();
  update();
}

QString BeltsView::selectionAsText() const {
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) return {};
  const QChar tab = QLatin1Char('\t');
  const QChar line = QLatin1Char('\n');
  if (m_selected) {
    const ReplicaSnapshot* replica = observe::findReplica(*partition, m_selected->broker);
    if (replica == nullptr) return {};
    const auto batch = std::ranges::find(replica->batches, m_selected->base, &BatchSnapshot::baseOffset);
    if (batch == replica->batches.end()) return {};
    QString text = QStringList{tr("partition"), tr("broker"), tr("base offset"), tr("last offset"), tr("records"),
                               tr("bytes"),     tr("epoch"),  tr("position"),    tr("codec")}
                       .join(tab);
    text += line + partitionText(*m_partition) + tab + QString::number(replica->broker.value()) + tab +
            QString::number(batch->baseOffset.value()) + tab + QString::number(batch->lastOffset.value()) + tab +
            QString::number(batch->recordCount) + tab + QString::number(batch->sizeInBytes) + tab +
            QString::number(batch->epoch.value()) + tab + QString::number(batch->position) + tab +
            fromUtf8(batch->codec) + line;
    return text;
  }
  QString text = QStringList{tr("partition"), tr("broker"),  tr("role"),           tr("in ISR"),
                             tr("log start"), tr("log end"), tr("high watermark"), tr("behind")}
                     .join(tab) +
                 line;
  for (const ReplicaSnapshot& replica : partition->copies) {
    const auto lag = observe::lagOf(*partition, replica);
    text += partitionText(*m_partition) + tab + QString::number(replica.broker.value()) + tab +
            (replica.leader ? tr("leader") : tr("follower")) + tab + (replica.inSync ? tr("yes") : tr("no")) + tab +
            QString::number(replica.logStart.value()) + tab + QString::number(replica.logEnd.value()) + tab +
            QString::number(replica.highWatermark.value()) + tab + (lag ? QString::number(*lag) : QString()) + line;
  }
  return text;
}

}  // namespace tidemark::widgets
