#pragma once

#include <QWidget>

#include "models/rows_model.h"
#include "segments/record_delegate.h"
#include "segments/segments_controller.h"
#include "theme/card.h"

class QDialog;
class QLabel;
class QPushButton;
class QScrollArea;
class QSplitter;
class QTableView;

namespace tidemark::widgets {

class FieldFlow;
class HexView;

/// A batch taken apart: its header field by field and the record that is picked, all its bytes, its records. Hover a
/// byte and its field lights up, and the other way round.
class BatchPanel : public Card {
  Q_OBJECT

 public:
  explicit BatchPanel(SegmentsController& controller, QWidget* parent = nullptr);

  FieldFlow& fields() noexcept { return *m_fields; }
  HexView& bytes() noexcept { return *m_bytes; }
  QTableView& records() noexcept { return *m_table; }
  QSplitter& splitter() noexcept { return *m_splitter; }
  /// −1: none.
  int hoveredField() const noexcept { return m_hovered; }
  /// What is taken apart; null: nothing.
  const BatchPicturePtr& batch() const noexcept { return m_batch; }
  void pickRecord(int index);
  /// All of a value in a window of its own.
  void showAll(int record);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void take();
  void hover(int field, QObject* from);

  SegmentsController& m_controller;
  BatchPicturePtr m_batch;
  QLabel* m_title;
  QLabel* m_note;
  QLabel* m_warning;
  QPushButton* m_switch;
  QPushButton* m_before;
  QPushButton* m_after;
  QSplitter* m_splitter;
  QWidget* m_left;
  QScrollArea* m_scroll;
  FieldFlow* m_fields;
  QTableView* m_table;
  QLabel* m_leftOut;
  HexView* m_bytes;
  RowsModel<RecordRow>* m_model;
  int m_hovered = -1;
  int m_record = -1;
};

}  // namespace tidemark::widgets
