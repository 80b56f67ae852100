#pragma once

#include <functional>

#include <QStyledItemDelegate>

#include "models/rows_model.h"
#include "segments/segment_types.h"

namespace tidemark::widgets {

class SegmentsController;

/// A row of the records of a batch.
struct RecordRow {
  BatchPicturePtr batch;
  int32_t index = 0;
  /// Records whose bytes are the same are the same row.
  friend bool operator==(const RecordRow& a, const RecordRow& b) { return a.batch == b.batch && a.index == b.index; }
  const RecordEntry& entry() const { return batch->records[static_cast<size_t>(index)]; }
};

/// A value as a cell shows it: text if it is text, else bytes; cut at kShown characters. `cut` tells whether.
struct ShownValue {
  static constexpr int kShown = 120;
  QString text;
  bool cut = false;
};
ShownValue shownValue(ByteView bytes, bool isNull, int most = ShownValue::kShown);

/// UTF-8 without control characters but those of text.
bool isReadable(const QString& text);
/// "0a ff", of at most so many bytes.
QString hexOfValue(ByteView bytes, size_t most);

/// The records of a batch as cells: the one that was looked for stands out, a value that is cut ends in a link.
class RecordDelegate : public QStyledItemDelegate {
 public:
  enum Column { kOffset, kTimestamp, kKey, kValue };

  /// `showAll` is called with the row whose link was clicked.
  RecordDelegate(const SegmentsController& controller, const RowsModel<RecordRow>& model,
                 std::function<void(int row)> showAll, QObject* parent);

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                   const QModelIndex& index) override;

 private:
  bool isCut(const QModelIndex& index) const;

  const SegmentsController& m_controller;
  const RowsModel<RecordRow>& m_model;
  const std::function<void(int row)> m_showAll;
};

}  // namespace tidemark::widgets
