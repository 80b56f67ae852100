#pragma once

#include <QWidget>

#include "models/rows_model.h"
#include "segments/segments_controller.h"

class QDialog;
class QLabel;
class QPushButton;
class QScrollArea;
class QSplitter;
class QTableView;

namespace tidemark::widgets {

class FieldFlow;
class HexView;

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

/// A batch taken apart: its header field by field and the record that is picked, all its bytes, its records. Hover a
/// byte and its field lights up, and the other way round.
class BatchPanel : public QWidget {
  Q_OBJECT

 public:
  explicit BatchPanel(SegmentsController& controller, QWidget* parent = nullptr);

  FieldFlow& fields() noexcept { return *m_fields; }
  HexView& bytes() noexcept { return *m_bytes; }
  QTableView& records() noexcept { return *m_table; }
  QSplitter& splitter() noexcept { return *m_splitter; }
  /// −1: none.
  int hoveredField() const noexcept { return m_hovered; }
  void pickRecord(int index);
  /// All of a value in a window of its own.
  void showAll(int record);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void take();
  void hover(int field, QObject* from);

  SegmentsController& m_controller;
  BatchPicturePtr m_batch;
  QLabel* m_title;
  QLabel* m_note;
  QLabel* m_warning;
  QPushButton* m_before;
  QPushButton* m_after;
  QPushButton* m_switch;
  QScrollArea* m_scroll;
  FieldFlow* m_fields;
  HexView* m_bytes;
  QTableView* m_table;
  QSplitter* m_splitter;
  QLabel* m_leftOut;
  RowsModel<RecordRow>* m_model;
  int m_hovered = -1;
  int m_record = -1;
};

}  // namespace tidemark::widgets
