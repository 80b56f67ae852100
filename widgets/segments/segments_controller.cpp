#include "segments/segments_controller.h"

#include <algorithm>

#include "segments/recorded_log.h"
#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

SegmentsController::SegmentsController(EngineBridge& bridge, QObject* parent)
    : QObject(parent), m_bridge(bridge), m_check(bridge) {
  connect(&m_check, &PartitionCheck::found, this, [this] {
    m_partition = withFindings(m_read, m_check.damaged());
    Q_EMIT findingsChanged();
  });
  m_refresh.setSingleShot(true);
  connect(&m_refresh, &QTimer::timeout, this, [this] { read(false); });
  m_playing.setInterval(kStepMs);
  connect(&m_playing, &QTimer::timeout, this, [this] {
    if (m_row + 1 >= static_cast<int>(m_rows.size())) {
      m_playing.stop();
      return;
    }
    ++m_row;
    Q_EMIT rowChanged();
  });
  connect(&bridge, &EngineBridge::frame, this, &SegmentsController::onFrame);
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (!m_active || m_reading || m_past || !isLive() || !m_partition || m_partition->segments->empty()) return;
    // Those that are deleted stand in front.
    if (m_partition->segments->front().state == SegmentEntry::State::Deleted && m_sinceRead.elapsed() >= kDeletedMs)
      read(false);
  });
}

void SegmentsController::open(const observe::LookPlace& place) {
  if (m_place == place) return;
  reset();
  m_place = place;
  m_cache = std::make_shared<ReaderCache>();
  m_past = wantsPast();
  if (!m_past) m_check.open(place);
  Q_EMIT opened();
  if (m_active) read(true);
}

bool SegmentsController::wantsPast() const {
  return isLive() && (m_bridge.moment() || m_bridge.isRecorded());
}

void SegmentsController::turn() {
  const observe::LookPlace place = *m_place;
  const bool follows = m_followsActive;
  const Offset segment = m_wantedSegment;
  // What was read belongs to the other time.
  reset();
  m_followsActive = follows;
  m_wantedSegment = segment;
  open(place);
}

void SegmentsController::takePast() {
  const RecordedLog then = recordedLog(*m_bridge.snapshot(), *m_place, m_followsActive ? Offset() : m_wantedSegment);
  const bool anew = !m_partition || !then.log.partition;
  m_problem = then.problem;
  m_read = m_partition = then.log.partition;
  m_segment = then.log.segment;
  if (m_segment && m_wanted >= 0) m_foundBatch = recordedBatch(*m_segment, m_wanted);
  if (anew) Q_EMIT opened();
  if (!m_partition) return;
  Q_EMIT partitionRead();
  Q_EMIT segmentRead();
}

void SegmentsController::findPast(const LookupTarget& target) {
  if (target.byTime || target.value < 0) {
    say(tr("A recording holds no time index: type an offset."));
    return;
  }
  if (!m_partition) return;
  const auto& segments = *m_partition->segments;
  const auto after = std::ranges::upper_bound(segments, Offset(target.value), {}, &SegmentEntry::base);
  if (after == segments.begin()) {
    say(tr("No segment that is recorded holds offset %1.").arg(grouped(target.value)));
    return;
  }
  m_wanted = target.value;
  m_followsActive = after == segments.end();
  m_wantedSegment = std::prev(after)->base;
  takePast();
  Q_EMIT lookupChanged();
}

void SegmentsController::close() {
  if (!m_place) return;
  reset();
  Q_EMIT opened();
}

void SegmentsController::reset() {
  ++m_number;
  m_place.reset();
  m_cache.reset();
  m_check.close();
  m_refresh.stop();
  m_reading = m_looking = m_dissecting = m_readAgain = false;
  m_followsActive = true;
  m_wantedSegment = Offset();
  m_digest.clear();
  m_read.reset();
  m_partition.reset();
  m_segment.reset();
  m_batch.reset();
  m_batchNext.reset();
  m_past = false;
  m_problem.clear();
  clearLookup();
}

void SegmentsController::clearLookup() {
  m_playing.stop();
  m_lookup.reset();
  m_rows.clear();
  m_row = -1;
  m_wanted = -1;
  m_foundBatch.reset();
}

void SegmentsController::setActive(bool active) {
  if (active == m_active) return;
  m_active = active;
  m_check.setActive(active);
  if (!active) {
    m_refresh.stop();
    return;
  }
  if (!m_place) return;
  if (wantsPast() != m_past)
    turn();
  else if (m_past || !m_partition || digest() != m_digest)
    read(!m_partition);
}

void SegmentsController::reload() {
  if (!m_place) return;
  if (!m_past) m_check.open(*m_place);
  read(true);
}

std::vector<int64_t> SegmentsController::digest() const {
  std::vector<int64_t> numbers;
  if (!isLive()) return numbers;
  const observe::ClusterSnapshot& cluster = *m_bridge.snapshot();
  const auto* broker = observe::findBroker(cluster, m_place->broker);
  const auto* partition = observe::findPartition(cluster, m_place->partition);
  if (broker != nullptr) numbers.push_back(static_cast<int64_t>(broker->state));
  const auto* replica = partition == nullptr ? nullptr : observe::findReplica(*partition, m_place->broker);
  if (replica == nullptr) return numbers;
  numbers.insert(numbers.end(), {replica->logStart.value(), replica->logEnd.value(), replica->sizeInBytes,
                                 static_cast<int64_t>(replica->segments.size())});
  if (!replica->segments.empty())
    numbers.insert(numbers.end(),
                   {replica->segments.front().baseOffset.value(), replica->segments.back().baseOffset.value()});
  return numbers;
}

void SegmentsController::onFrame(const Frame& frame) {
  if (!m_place || !m_active || !isLive() || frame.snapshot == frame.previous) return;
  if (wantsPast() != m_past) return turn();
  if (m_past) return takePast();
  if (m_refresh.isActive() || m_reading || digest() == m_digest) return;
  const qint64 since = m_sinceRead.isValid() ? m_sinceRead.elapsed() : kRefreshMs;
  m_refresh.start(static_cast<int>(std::max<qint64>(0, kRefreshMs - since)));
}

void SegmentsController::read(bool again) {
  if (!m_place) return;
  if (m_past) return takePast();
  if (m_reading) {
    m_readAgain = true;
    return;
  }
  m_reading = true;
  m_digest = digest();
  ReadRequest request;
  request.segment = m_followsActive ? Offset() : m_wantedSegment;
  request.before = again ? nullptr : m_segment;
  request.again = again;
  m_bridge.look<ReadPartition>(
      *m_place, this,
      [request, cache = m_cache](const observe::LookAccess& access) { return readPartition(access, *cache, request); },
      [this, number = m_number](const Result<ReadPartition>& read) {
        if (number != m_number) return;
        m_reading = false;
        m_sinceRead.restart();
        if (read) {
          took(*read);
        } else if (!m_partition) {
          m_problem = errorText(read.error());
          Q_EMIT opened();
        } else {
          say(errorText(read.error()));
        }
        if (std::exchange(m_readAgain, false))
          this->read(false);
        else if (m_active && isLive() && digest() != m_digest)
          m_refresh.start(kRefreshMs);
      });
}

void SegmentsController::took(const ReadPartition& read) {
  const bool first = !m_partition;
  const bool other = !m_segment || !read.segment || m_segment->base != read.segment->base;
  m_problem.clear();
  m_read = read.partition;
  m_segment = read.segment;
  m_partition = withFindings(m_read, m_check.damaged());
  if (first) Q_EMIT opened();
  Q_EMIT partitionRead();
  Q_EMIT segmentRead();
  m_check.setSegments(m_read->segments, m_segment ? m_segment->base : Offset());
  // Something is taken apart from the beginning on: the batch that was wanted, or the newest one.
  if (m_segment && !m_batch && !m_batchNext && !m_lookup && !m_looking && !m_segment->batches.empty())
    pickBatch(m_segment->base, m_segment->batches.back().position);
  else if (other && m_segment && !m_looking && !m_batchNext && m_batch && m_batch->segment != m_segment->base &&
           !m_segment->batches.empty() && !m_followsActive)
    pickBatch(m_segment->base, m_segment->batches.front().position);
}

void SegmentsController::pickSegment(Offset base) {
  if (!m_place) return;
  m_followsActive =
      m_partition && !m_partition->segments->empty() && m_partition->segments->back().base == base && isLive();
  m_wantedSegment = base;
  if (m_segment && m_segment->base == base) return;
  m_check.standBack();
  read(false);
}

void SegmentsController::stepSegment(int by) {
  if (!m_partition || !m_segment) return;
  const auto& segments = *m_partition->segments;
  const auto now = std::ranges::find(segments, m_segment->base, &SegmentEntry::base);
  if (now == segments.end()) return;
  const auto index =
      std::clamp<std::ptrdiff_t>(now - segments.begin() + by, 0, static_cast<std::ptrdiff_t>(segments.size()) - 1);
  const SegmentEntry& next = segments[static_cast<size_t>(index)];
  if (next.state != SegmentEntry::State::Deleted) pickSegment(next.base);
}

void SegmentsController::find(const LookupTarget& target, bool batchAlone) {
  if (!m_place) return;
  if (m_past) return findPast(target);
  m_looking = true;
  m_check.standBack();
  m_bridge.look<LookupPicturePtr>(
      *m_place, this,
      [target, cache = m_cache](const observe::LookAccess& access) { return readLookup(access, *cache, target); },
      [this, number = m_number, batchAlone](const Result<LookupPicturePtr>& read) {
        if (number != m_number) return;
        m_looking = false;
        if (!read) {
          say(errorText(read.error()));
          return;
        }
        clearLookup();
        m_lookup = *read;
        m_rows = lookupRows(*m_lookup);
        const inspect::Lookup& lookup = m_lookup->lookup;
        if (lookup.record)
          m_wanted = lookup.record->offset.value();
        else if (!m_lookup->byTime)
          m_wanted = m_lookup->target;
        if (!m_lookup->problem.isEmpty()) say(m_lookup->problem);
        if (lookup.batch) {
          pickSegment(lookup.batch->segmentBase);
          pickBatch(lookup.batch->segmentBase, static_cast<int64_t>(lookup.batch->position));
        } else if (!m_rows.empty() && m_lookup->steps().back().segmentBase.value() >= 0) {
          pickSegment(m_lookup->steps().back().segmentBase);
        }
        m_row = static_cast<int>(m_rows.size()) - 1;
        Q_EMIT lookupChanged();
        if (!batchAlone && Theme::instance().motionMs() > 0) play();
      });
}

void SegmentsController::play() {
  if (m_rows.empty()) return;
  m_row = 0;
  m_playing.start();
  Q_EMIT rowChanged();
}

int SegmentsController::step() const noexcept {
  return m_row < 0 || m_row >= static_cast<int>(m_rows.size())
             ? -1
             : static_cast<int>(m_rows[static_cast<size_t>(m_row)].step);
}

void SegmentsController::setRow(int row) {
  m_playing.stop();
  const int next = std::clamp(row, m_rows.empty() ? -1 : 0, static_cast<int>(m_rows.size()) - 1);
  if (next == m_row) return;
  m_row = next;
  Q_EMIT rowChanged();
}

void SegmentsController::pickBatch(Offset segment, int64_t position) {
  if (!m_place || m_past || position < 0) return;
  m_batchNext = {segment, position};
  if (m_dissecting) return;
  m_dissecting = true;
  m_check.standBack();
  const std::pair<Offset, int64_t> wanted = *m_batchNext;
  m_bridge.look<BatchPicturePtr>(
      *m_place, this,
      [wanted, record = m_wanted, cache = m_cache](const observe::LookAccess& access) {
        return readBatch(access, *cache, wanted.first, wanted.second, record);
      },
      [this, number = m_number, wanted](const Result<BatchPicturePtr>& read) {
        if (number != m_number) return;
        m_dissecting = false;
        // Somebody went on meanwhile: only the last one counts.
        if (m_batchNext && *m_batchNext != wanted) {
          const auto next = *m_batchNext;
          pickBatch(next.first, next.second);
          return;
        }
        m_batchNext.reset();
        if (!read) {
          say(errorText(read.error()));
          return;
        }
        m_batch = *read;
        Q_EMIT batchRead();
      });
}

void SegmentsController::stepBatch(int by) {
  if (!m_batch || !m_segment) return;
  if (by > 0 && m_batch->next >= 0) {
    pickBatch(m_batch->segment, m_batch->next);
    return;
  }
  if (m_batch->segment != m_segment->base) return;
  const auto& batches = m_segment->batches;
  const auto now = std::ranges::lower_bound(batches, m_batch->position, {}, &BatchPoint::position);
  if (by < 0 && now != batches.begin()) pickBatch(m_batch->segment, std::prev(now)->position);
}

void SegmentsController::goTo(const FindingEntry& finding) {
  if (finding.segment.value() < 0) return;
  pickSegment(finding.segment);
  if (finding.position >= 0 && finding.file.endsWith(QStringLiteral(".log")))
    pickBatch(finding.segment, finding.position);
}

std::vector<FindingEntry> SegmentsController::findingsShown() const {
  std::vector<FindingEntry> findings;
  if (!m_partition || !m_segment) return findings;
  for (const FindingEntry& finding : m_partition->findings)
    if (finding.segment == m_segment->base) findings.push_back(finding);
  return findings;
}

void SegmentsController::say(const QString& problem) {
  Q_EMIT problemTold(problem);
}

}  // namespace tidemark::widgets
