#pragma once

#include <map>
#include <memory>
#include <vector>

#include <QObject>

#include "bridge/engine_bridge.h"
#include "segments/segment_check.h"

namespace tidemark::widgets {

/// The check of a partition that goes on behind the Segments view: every segment, the one that is opened first, a slice
/// of them a look. A log that is no larger than kUnaskedBytes is checked as soon as it is open, a larger one when
/// somebody asks. Segments that are sealed meanwhile follow; what was checked and is as it was is not read again. Lives
/// on the window's thread.
///
/// A broker lends one thread to all looks: whoever wants to see something makes the slice that is under way stand back
/// (standBack()), and it is begun anew.
class PartitionCheck : public QObject {
  Q_OBJECT

 public:
  static constexpr int64_t kUnaskedBytes = int64_t{1} << 30;
  /// Of a slice; one segment may be larger.
  static constexpr int64_t kSliceBytes = 64 << 20;
  static constexpr size_t kSliceSegments = 256;

  enum class State {
    /// Nothing is open.
    Idle,
    /// There is too much to begin unasked.
    Waiting,
    Running,
    /// Somebody ended it; what was found stays.
    Cancelled,
    Done,
  };

  explicit PartitionCheck(EngineBridge& bridge, QObject* parent = nullptr);
  ~PartitionCheck() override;

  /// Other files, or the same ones anew: nothing is known of them.
  void open(const observe::LookPlace& place);
  void close();
  /// What there is now; `shown`: checked first.
  void setSegments(const SegmentEntries& segments, Offset shown);
  /// Nothing is read while nobody looks.
  void setActive(bool active);
  void start();
  void cancel();
  void standBack();

  State state() const noexcept { return m_state; }
  size_t segments() const noexcept { return m_segments.size(); }
  size_t segmentsChecked() const noexcept;
  int64_t bytes() const noexcept { return m_bytes; }
  /// Also those of the slice that is under way.
  int64_t bytesChecked() const noexcept;
  /// Those with findings, by base offset; valid until the next change.
  std::vector<const CheckedSegment*> damaged() const;

 Q_SIGNALS:
  /// Its state, or how far it is.
  void progressed();
  /// damaged() tells something else.
  void found();

 private:
  bool isChecked(const SegmentToCheck& segment) const;
  void goOn();
  void took(const CheckedSegments& slice);
  void enter(State state);

  EngineBridge& m_bridge;
  observe::LookPlace m_place;
  /// Another one with each open(): answers that belong to an earlier one are dropped.
  uint64_t m_number = 0;
  State m_state = State::Idle;
  bool m_active = false;
  bool m_asked = false;
  /// Views of its own: the reader's are in use meanwhile.
  ReaderCachePtr m_cache;
  /// What there is, in the order of the files.
  std::vector<SegmentToCheck> m_segments;
  Offset m_shown;
  int64_t m_bytes = 0;
  int64_t m_bytesDone = 0;
  std::map<Offset, CheckedSegment> m_checked;
  /// Could not be checked as they are.
  std::map<Offset, SegmentToCheck> m_passedOver;
  /// Of the slice that is under way; null: there is none.
  std::shared_ptr<CheckTicket> m_ticket;
};

}  // namespace tidemark::widgets
