#pragma once

#include <optional>

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "bridge/engine_bridge.h"
#include "segments/lookup_rows.h"
#include "segments/lookup_target.h"
#include "segments/partition_check.h"
#include "segments/partition_reader.h"

namespace tidemark::widgets {

/// What the Segments view shows and how it gets there: which files are looked at, the segment that is opened, the
/// lookup and how far it was stepped, the batch that is taken apart. Files are read on background threads; what comes
/// is an immutable value, and an answer to an older question is dropped. One look of a kind is under way at a time.
///
/// Of a broker's log the reading follows what happens: at most kRefreshMs apart, only while active, and only if the
/// snapshot says that something changed. While a moment of the past is shown nothing is read: what is known is what the
/// snapshot of that moment tells (recorded_log.h).
class SegmentsController : public QObject {
  Q_OBJECT

 public:
  static constexpr int kRefreshMs = 200;
  /// Nobody tells when a file that was renamed to `.deleted` is gone: it is looked for as long as there is one.
  static constexpr int kDeletedMs = 2'000;
  static constexpr int kStepMs = 320;

  explicit SegmentsController(EngineBridge& bridge, QObject* parent = nullptr);

  /// Looks at other files. A path is looked at as it is: a partition's folder or a file of one.
  void open(const observe::LookPlace& place);
  void close();
  const std::optional<observe::LookPlace>& place() const noexcept { return m_place; }
  bool isLive() const noexcept { return m_place && m_place->broker != kNoNode; }
  /// The log is shown as it was: without bytes.
  bool isPast() const noexcept { return m_past; }
  /// Of the past: the batch that holds the offset that was looked for; nothing: none is recorded.
  const std::optional<BatchPoint>& foundBatch() const noexcept { return m_foundBatch; }
  /// Nothing is read while nobody looks.
  void setActive(bool active);
  /// Opens the files anew.
  void reload();

  void pickSegment(Offset base);
  /// To the segment after or before the one that is opened.
  void stepSegment(int by);
  /// `batchAlone`: the way to it is not of interest, only what is found (as from a click on a batch).
  void find(const LookupTarget& target, bool batchAlone = false);
  void pickBatch(Offset segment, int64_t position);
  /// To the batch after or before the one that is taken apart.
  void stepBatch(int by);
  /// To the first damage that is known, segment and batch.
  void goTo(const FindingEntry& finding);

  /// Which of rows() the reader stands at; −1: before the first.
  void setRow(int row);
  int row() const noexcept { return m_row; }
  /// The engine's step that it stands for.
  int step() const noexcept;
  /// Goes on by itself from the first step to the last.
  void play();
  bool isPlaying() const noexcept { return m_playing.isActive(); }

  const PartitionPicturePtr& partition() const noexcept { return m_partition; }
  const SegmentPicturePtr& segment() const noexcept { return m_segment; }
  const LookupPicturePtr& lookup() const noexcept { return m_lookup; }
  const std::vector<LookupRow>& rows() const noexcept { return m_rows; }
  const BatchPicturePtr& batch() const noexcept { return m_batch; }
  /// The offset of the record that was looked for, to be marked; −1: none.
  int64_t wantedOffset() const noexcept { return m_wanted; }
  /// The check of all segments, which goes on behind what is shown.
  PartitionCheck& check() noexcept { return m_check; }
  /// What it found in the segment that is opened.
  std::vector<FindingEntry> findingsShown() const;
  /// Why nothing is shown; empty if something is.
  const QString& problem() const noexcept { return m_problem; }
  bool isReading() const noexcept { return m_reading || m_looking || m_dissecting; }

 Q_SIGNALS:
  /// Other files, or why there are none.
  void opened();
  void partitionRead();
  void segmentRead();
  /// The check found something, or what it had found is gone: partition() and findingsShown() tell.
  void findingsChanged();
  void lookupChanged();
  void rowChanged();
  void batchRead();
  void problemTold(const QString& problem);

 private:
  void onFrame(const Frame& frame);
  bool wantsPast() const;
  /// To the past, or back to the files.
  void turn();
  void takePast();
  void findPast(const LookupTarget& target);
  void reset();
  void read(bool again);
  void took(const ReadPartition& read);
  /// What of the snapshot tells that the files changed.
  std::vector<int64_t> digest() const;
  void say(const QString& problem);
  void clearLookup();

  EngineBridge& m_bridge;
  std::optional<observe::LookPlace> m_place;
  /// Another one with each open(): answers that belong to an earlier one are dropped.
  uint64_t m_number = 0;
  ReaderCachePtr m_cache;
  bool m_active = false;
  bool m_reading = false;
  bool m_readAgain = false;
  bool m_looking = false;
  bool m_dissecting = false;
  bool m_past = false;
  bool m_followsActive = true;
  Offset m_wantedSegment;
  std::vector<int64_t> m_digest;
  QTimer m_refresh;
  QElapsedTimer m_sinceRead;

  PartitionCheck m_check;
  /// As it was read, and with what the check found.
  PartitionPicturePtr m_read;
  PartitionPicturePtr m_partition;
  SegmentPicturePtr m_segment;
  LookupPicturePtr m_lookup;
  std::vector<LookupRow> m_rows;
  int m_row = -1;
  QTimer m_playing;
  BatchPicturePtr m_batch;
  std::optional<std::pair<Offset, int64_t>> m_batchNext;
  int64_t m_wanted = -1;
  std::optional<BatchPoint> m_foundBatch;
  QString m_problem;
};

}  // namespace tidemark::widgets
