#pragma once

#include <vector>

#include <QWidget>

#include "models/rows_model.h"
#include "segments/batch_panel.h"
#include "segments/segments_controller.h"

class QButtonGroup;
class QStackedWidget;
class QTableView;

namespace tidemark::widgets {

/// The table twin of the Segments view: everything it draws as rows, one table at a time.
class SegmentTables : public QWidget {
  Q_OBJECT

 public:
  enum class Table { Segments, OffsetIndex, TimeIndex, Lookup, Batches, Fields, Records, Findings };
  static constexpr int kTables = 8;

  explicit SegmentTables(SegmentsController& controller, QWidget* parent = nullptr);

  void show(Table table);
  Table shown() const;
  QTableView& view(Table table) { return *m_views[static_cast<size_t>(table)]; }
  /// All that takes the Tab key.
  std::vector<QWidget*> inTabOrder() const;
  /// Filled only while it is in sight.
  void setActive(bool active);

 private:
  void fill();
  QTableView* add(const QString& name, QAbstractItemModel* model);

  SegmentsController& m_controller;
  bool m_active = false;
  QButtonGroup* m_choice;
  QStackedWidget* m_stack;
  std::vector<QTableView*> m_views;
  RowsModel<SegmentEntry>* m_segments;
  RowsModel<log::OffsetIndexEntry>* m_offsets;
  RowsModel<log::TimeIndexEntry>* m_times;
  RowsModel<LookupRow>* m_lookup;
  RowsModel<BatchPoint>* m_batches;
  RowsModel<RecordRow>* m_fields;
  RowsModel<RecordRow>* m_records;
  RowsModel<FindingEntry>* m_findings;
};

}  // namespace tidemark::widgets
