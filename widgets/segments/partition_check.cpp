#include "segments/partition_check.h"

#include <algorithm>

namespace tidemark::widgets {

PartitionCheck::PartitionCheck(EngineBridge& bridge, QObject* parent) : QObject(parent), m_bridge(bridge) {
  // How far a slice is, is told by the ticket alone.
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (m_ticket) Q_EMIT progressed();
  });
}

PartitionCheck::~PartitionCheck() {
  standBack();
}

void PartitionCheck::open(const observe::LookPlace& place) {
  close();
  m_place = place;
  m_cache = std::make_shared<ReaderCache>();
}

void PartitionCheck::close() {
  standBack();
  ++m_number;
  m_ticket.reset();
  m_cache.reset();
  m_asked = false;
  m_segments.clear();
  m_checked.clear();
  m_passedOver.clear();
  m_bytes = m_bytesDone = 0;
  enter(State::Idle);
}

void PartitionCheck::setActive(bool active) {
  m_active = active;
  if (active)
    goOn();
  else
    standBack();
}

bool PartitionCheck::isChecked(const SegmentToCheck& segment) const {
  const auto found = m_checked.find(segment.base);
  if (found == m_checked.end()) return false;
  const SegmentToCheck& checked = found->second.segment;
  // One that is appended to is checked again when it is sealed, not with every batch.
  if (segment.active && checked.active && segment.bytes >= checked.bytes) return true;
  return checked == segment;
}

void PartitionCheck::setSegments(const SegmentEntries& segments, Offset shown) {
  if (!m_cache) return;
  m_shown = shown;
  m_segments.clear();
  m_bytes = m_bytesDone = 0;
  std::map<Offset, CheckedSegment> kept;
  for (const SegmentEntry& entry : *segments) {
    if (entry.state == SegmentEntry::State::Deleted) continue;
    const SegmentToCheck segment{entry.base, entry.bytes, entry.state == SegmentEntry::State::Active};
    m_segments.push_back(segment);
    m_bytes += segment.bytes;
    if (!isChecked(segment)) continue;
    m_bytesDone += segment.bytes;
    kept.insert(m_checked.extract(segment.base));
  }
  const bool lost = std::ranges::any_of(m_checked, [](const auto& one) { return !one.second.findings.empty(); });
  m_checked = std::move(kept);
  if (lost) Q_EMIT found();
  goOn();
}

void PartitionCheck::start() {
  if (!m_cache) return;
  m_asked = true;
  if (m_state == State::Cancelled) m_state = State::Waiting;
  goOn();
}

void PartitionCheck::cancel() {
  if (m_state != State::Running && m_state != State::Waiting) return;
  standBack();
  enter(State::Cancelled);
}

void PartitionCheck::standBack() {
  if (m_ticket) m_ticket->stop = true;
}

void PartitionCheck::goOn() {
  if (!m_cache || m_segments.empty() || !m_active || m_ticket || m_state == State::Cancelled) return;
  std::vector<SegmentToCheck> slice;
  int64_t bytes = 0;
  const auto add = [&](const SegmentToCheck& segment) {
    if (slice.size() >= kSliceSegments || (!slice.empty() && bytes + segment.bytes > kSliceBytes)) return false;
    const auto passed = m_passedOver.find(segment.base);
    if (isChecked(segment) || (passed != m_passedOver.end() && passed->second == segment)) return true;
    if (std::ranges::find(slice, segment) != slice.end()) return true;
    slice.push_back(segment);
    bytes += segment.bytes;
    return true;
  };
  const auto shown = std::ranges::find(m_segments, m_shown, &SegmentToCheck::base);
  if (shown != m_segments.end()) add(*shown);
  for (const SegmentToCheck& segment : m_segments)
    if (!add(segment)) break;
  if (slice.empty()) {
    enter(State::Done);
    return;
  }
  if (!m_asked && m_bytes - m_bytesDone > kUnaskedBytes) {
    enter(State::Waiting);
    return;
  }
  m_ticket = std::make_shared<CheckTicket>();
  enter(State::Running);
  m_bridge.look<CheckedSegments>(
      m_place, this,
      [slice, cache = m_cache, ticket = m_ticket](const observe::LookAccess& access) {
        return checkSegments(access, *cache, slice, *ticket);
      },
      [this, number = m_number, slice](const Result<CheckedSegments>& read) {
        if (number != m_number) return;
        m_ticket.reset();
        took(read ? *read : CheckedSegments{.done = {}, .passedOver = slice});
      });
}

void PartitionCheck::took(const CheckedSegments& slice) {
  bool any = false;
  for (const SegmentToCheck& one : slice.passedOver) m_passedOver[one.base] = one;
  for (const CheckedSegment& one : slice.done) {
    any = any || !one.findings.empty();
    m_checked[one.segment.base] = one;
  }
  m_bytesDone = 0;
  for (const SegmentToCheck& segment : m_segments)
    if (isChecked(segment)) m_bytesDone += segment.bytes;
  if (any) Q_EMIT found();
  Q_EMIT progressed();
  goOn();
}

void PartitionCheck::enter(State state) {
  if (state == m_state) return;
  m_state = state;
  Q_EMIT progressed();
}

size_t PartitionCheck::segmentsChecked() const noexcept {
  return static_cast<size_t>(
      std::ranges::count_if(m_segments, [this](const SegmentToCheck& one) { return isChecked(one); }));
}

int64_t PartitionCheck::bytesChecked() const noexcept {
  return std::min(m_bytes, m_bytesDone + (m_ticket ? m_ticket->bytesRead.load() : 0));
}

std::vector<const CheckedSegment*> PartitionCheck::damaged() const {
  std::vector<const CheckedSegment*> damaged;
  for (const auto& [base, one] : m_checked)
    if (!one.findings.empty()) damaged.push_back(&one);
  return damaged;
}

}  // namespace tidemark::widgets
