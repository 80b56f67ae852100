#include "belts/belts_view.h"

#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QClipboard>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

using observe::BatchSnapshot;
using observe::PartitionSnapshot;
using observe::ReplicaSnapshot;

BeltsView::BeltsView(EngineBridge& bridge, TimeTravel& travel, QWidget* parent)
    : QWidget(parent), m_bridge(bridge), m_travel(travel), m_snapshot(bridge.snapshot()) {
  m_clock.start();
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Belts: the replicas of a partition. Press T for the same as a table."));
  connect(&bridge, &EngineBridge::frame, this, &BeltsView::onFrame);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
  // What is parked shows the time it has left.
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (!isVisible()) return;
    // A ghost fades.
    if (std::ranges::any_of(m_breaks, [this](const LogBreak& one) {
          return one.what == LogBreak::What::Truncated && freshness(one) > 0;
        }))
      update();
    takeParked();
    const bool parked = std::ranges::any_of(m_parked, [](const Parked& one) { return one.shown.follower == kNoNode; });
    if (parked) update(layoutOfBelts().purgatory().toAlignedRect());
  });
}

BeltsLayout BeltsView::layoutOfBelts() const {
  BeltsLayout layout;
  layout.width = width();
  const PartitionSnapshot* partition = shown();
  layout.laneCount = partition == nullptr ? 0 : static_cast<int>(partition->copies.size());
  if (partition != nullptr && !lostRecords().empty()) layout.laneTop += layout.bannerHeight = BeltsLayout::kBanner;
  // Five replicas still fit a usual window: the gaps give first, then the lanes and the purgatory.
  double spare = height() - layout.height();
  if (spare < 0 && layout.laneCount > 1) {
    layout.laneGap = std::max(BeltsLayout::kLeastGap, layout.laneGap + spare / (layout.laneCount - 1));
    spare = height() - layout.height();
  }
  if (spare < 0 && layout.laneCount > 0) {
    layout.purgatoryHeight = BeltsLayout::kLeastPurgatory;
    spare = height() - layout.height();
    if (spare < 0) layout.laneHeight = std::max(BeltsLayout::kLeastLane, layout.laneHeight + spare / layout.laneCount);
  }
  return layout;
}

QSize BeltsView::sizeHint() const {
  return {1142, qCeil(layoutOfBelts().height())};
}

QSize BeltsView::minimumSizeHint() const {
  BeltsLayout layout;
  layout.laneCount = layoutOfBelts().laneCount;
  layout.laneTop = layoutOfBelts().laneTop;
  layout.squeeze();
  return {300, qCeil(layout.height())};
}

void BeltsView::setPartition(const std::optional<TopicPartition>& partition) {
  if (partition == m_partition) return;
  m_partition = partition;
  m_lanes.clear();
  m_highWatermark = Motion();
  m_growth.clear();
  m_viewport.reset();
  m_selected.reset();
  m_hovered.reset();
  m_parked.clear();
  m_breaks.clear();
  m_bridge.watch(partition);
  take(true);
  updateGeometry();
  update();
}

void BeltsView::onFrame(const Frame& frame) {
  m_snapshot = frame.snapshot;
  if (frame.anotherCluster) {
    m_noted.clear();
    setPartition(std::nullopt);
  }
  // What waits now waited not then.
  if (m_bridge.moment() || m_wasPast) m_parked.clear();
  m_wasPast = m_bridge.moment().has_value();
  if (frame.snapshot != frame.previous)
    take(false);
  else if (!frame.events.events.empty())
    takeBreaks();
  std::vector<int64_t> drawn = digest();
  const bool changed = drawn != m_digest;
  m_digest = std::move(drawn);
  // A frame in which nothing of ours changed or moves (another view keeps the timer going) paints nothing.
  if (changed || isMoving()) update();
}

const PartitionSnapshot* BeltsView::shown() const {
  return m_partition ? observe::findPartition(*m_snapshot, *m_partition) : nullptr;
}

observe::BrokerState BeltsView::brokerState(NodeId id) const {
  const observe::BrokerSnapshot* broker = observe::findBroker(*m_snapshot, id);
  return broker == nullptr ? observe::BrokerState::Stopped : broker->state;
}

std::vector<int64_t> BeltsView::digest() const {
  std::vector<int64_t> numbers;
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) return numbers;
  numbers.insert(numbers.end(),
                 {partition->highWatermark.value(), partition->logEnd.value(), partition->leader.value(),
                  partition->leaderEpoch.value(), static_cast<int64_t>(partition->isr.size()),
                  static_cast<int64_t>(m_breaks.size()), m_breaks.empty() ? 0 : m_breaks.back().to.value()});
  for (const ReplicaSnapshot& replica : partition->copies)
    numbers.insert(numbers.end(),
                   {replica.broker.value(), replica.inSync, replica.online, replica.logStart.value(),
                    replica.logEnd.value(), replica.fetchOffset.value(), static_cast<int64_t>(replica.batches.size()),
                    static_cast<int64_t>(replica.segments.size()), static_cast<int64_t>(replica.indexEntries.size()),
                    static_cast<int64_t>(brokerState(replica.broker))});
  for (const observe::ReaderSnapshot& reader : m_snapshot->readers)
    if (reader.partition == *m_partition) numbers.push_back(reader.fetchOffset.value());
  // A fetch that waits its time out and is asked again looks the same.
  for (const Parked& one : m_parked) {
    const bool produce = one.shown.kind == observe::ParkedKind::Produce;
    numbers.insert(numbers.end(), {static_cast<int64_t>(one.shown.kind), produce ? one.shown.correlation : 0,
                                   one.shown.follower.value(), one.shown.needs.value()});
  }
  return numbers;
}

void BeltsView::takeParked() {
  const qint64 time = now();
  const auto same = [](const observe::ParkedSnapshot& a, const observe::ParkedSnapshot& b) {
    return a.kind == b.kind && a.client == b.client && a.follower == b.follower && a.broker == b.broker &&
           (a.kind != observe::ParkedKind::Produce || a.correlation == b.correlation);
  };
  for (const observe::ParkedSnapshot& parked : m_snapshot->parked) {
    if (!m_partition || parked.partition != *m_partition) continue;
    const auto known = std::ranges::find_if(m_parked, [&](const Parked& one) { return same(one.shown, parked); });
    if (known == m_parked.end())
      m_parked.push_back({parked, time});
    else
      *known = {parked, time};
  }
  std::erase_if(m_parked, [&](const Parked& one) {
    return one.seen < time &&
           (one.shown.kind == observe::ParkedKind::Produce || time - one.seen > kFetchHeldMs || !m_partition);
  });
}

std::vector<LogBreak> BeltsView::lostRecords() const {
  std::vector<LogBreak> lost;
  for (const LogBreak& one : m_breaks)
    if (one.what == LogBreak::What::Lost && !m_noted.contains(one.event)) lost.push_back(one);
  return lost;
}

void BeltsView::takeNote() {
  const auto lost = lostRecords();
  if (lost.empty()) return;
  for (const LogBreak& one : lost) m_noted.insert(one.event);
  updateGeometry();
  update();
  Q_EMIT noteTaken();
}

void BeltsView::takeBreaks() {
  const TimelinePartition* past = m_partition ? m_travel.past().find(*m_partition) : nullptr;
  const size_t lost = lostRecords().size();
  // Whether a loss is shown does not depend on how far the clocks of two brokers are apart.
  m_breaks = past == nullptr ? std::vector<LogBreak>()
                             : breaksOf(*past, m_travel.isLive() ? platform::WallTime::max() : m_snapshot->wall);
  if (lostRecords().size() != lost) updateGeometry();
}

void BeltsView::take(bool jump) {
  takeParked();
  takeBreaks();
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) return;
  const qint64 time = now();
  const int motion = jump ? 0 : Theme::instance().motionMs();
  const size_t lanes = m_lanes.size();
  int64_t end = partition->logEnd.value();
  for (const ReplicaSnapshot& replica : partition->copies) {
    LaneMotion& lane = m_lanes[replica.broker];
    lane.logEnd.moveTo(static_cast<double>(std::max<int64_t>(0, replica.logEnd.value())), time, motion);
    if (!replica.leader && replica.fetchOffset != lane.fetchOffset) {
      lane.fetchOffset = replica.fetchOffset;
      if (!jump) lane.fetchedAt = time;
    }
    end = std::max(end, replica.logEnd.value());
  }
  if (m_lanes.size() != lanes) updateGeometry();
  m_highWatermark.moveTo(static_cast<double>(std::max<int64_t>(0, partition->highWatermark.value())), time, motion);
  m_growth.add(time, static_cast<double>(end));
  m_viewport.setWidth(layoutOfBelts().beltWidth());
  m_viewport.setRange(std::max<int64_t>(0, partition->logStart.value()), std::max<int64_t>(0, end),
                      m_growth.perSecond(time), time, motion);
  moved();
  std::vector<LeaderEpoch> legend = epochsInSight();
  if (legend != m_legend) {
    m_legend = std::move(legend);
    Q_EMIT legendChanged();
  }
}

bool BeltsView::isSettled() const {
  const qint64 time = now();
  const auto moves = [time](const auto& lane) { return lane.second.logEnd.isMoving(time); };
  return !m_viewport.isMoving(time) && !m_highWatermark.isMoving(time) && std::ranges::none_of(m_lanes, moves);
}

bool BeltsView::isMoving() const {
  const qint64 time = now();
  if (m_viewport.isMoving(time) || m_highWatermark.isMoving(time)) return true;
  return std::ranges::any_of(m_lanes, [time](const auto& lane) {
    return lane.second.logEnd.isMoving(time) || time - lane.second.fetchedAt < kFetchShownMs;
  });
}

void BeltsView::moved() {
  const qint64 time = now();
  int keep = isMoving() ? Theme::instance().motionMs() + EngineBridge::kFrameMs : 0;
  for (const auto& [id, lane] : m_lanes)
    if (const qint64 left = kFetchShownMs - (time - lane.fetchedAt); left > 0)
      keep = std::max(keep, static_cast<int>(left) + 20);
  if (keep > 0) m_bridge.keepTicking(keep);
}

std::vector<LeaderEpoch> BeltsView::epochsInSight() const {
  std::vector<LeaderEpoch> epochs;
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) return epochs;
  const qint64 time = now();
  const double first = m_viewport.first(time);
  const double last = m_viewport.offsetAt(m_viewport.width(), time);
  for (const ReplicaSnapshot& replica : partition->copies)
    for (const BatchSnapshot& batch : replica.batches)
      if (static_cast<double>(batch.lastOffset.value()) >= first &&
          static_cast<double>(batch.baseOffset.value()) <= last &&
          std::ranges::find(epochs, batch.epoch) == epochs.end())
        epochs.push_back(batch.epoch);
  std::ranges::sort(epochs);
  return epochs;
}

void BeltsView::resizeEvent(QResizeEvent*) {
  m_viewport.setWidth(layoutOfBelts().beltWidth());
  if (m_viewport.followsTail()) m_viewport.followTail(now(), 0);
}

// Hands.

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
      return offset >= static_cast<double>(batch.baseOffset.value()) &&
             offset < static_cast<double>(batch.lastOffset.value() + 1);
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
    if (point.x() > layout.beltLeft()) return {};
    QString rows = row(tr("log end offset"), offsetText(replica.logEnd));
    rows += row(tr("high watermark it knows"), offsetText(replica.highWatermark));
    rows += row(tr("log start"), offsetText(replica.logStart));
    if (const auto lag = observe::lagOf(*partition, replica); lag && !replica.leader)
      rows += row(tr("behind"), grouped(*lag));
    return QStringLiteral("<b>%1</b><table>%2</table>").arg(tr("Broker %1").arg(replica.broker.value()), rows);
  }
  return {};
}

bool BeltsView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = toolTipAt(help->pos());
    if (text.isEmpty())
      QToolTip::hideText();
    else
      QToolTip::showText(help->globalPos(), text, this);
    return true;
  }
  return QWidget::event(event);
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
