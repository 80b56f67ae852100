#pragma once

#include <QWidget>

#include "models/rows_model.h"
#include "segments/segments_controller.h"
#include "theme/card.h"

class QLabel;
class QTableView;

namespace tidemark::widgets {

/// What came of the lookup so far: floor entry, batches scanned, batch found, its position. Painted.
class LookupResult : public QWidget {
  Q_OBJECT

 public:
  explicit LookupResult(QWidget* parent = nullptr);
  void setLookup(LookupPicturePtr lookup, int step);
  /// "name\tvalue" a line.
  QString asText() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {240, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Line {
    QString name;
    QString value;
    bool strong = false;
  };
  std::vector<Line> m_lines;
  QString m_problem;
};

/// The steps of the lookup as a list, the reader's own among them marked; ↑/↓, Home and End go through them.
class LookupPanel : public Card {
  Q_OBJECT

 public:
  explicit LookupPanel(SegmentsController& controller, QWidget* parent = nullptr);
  QTableView& table() noexcept { return *m_table; }
  /// Steps and what came of them, tab-separated.
  QString asText() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void takeLookup();
  void takeRow();

  SegmentsController& m_controller;
  QLabel* m_title;
  QLabel* m_note;
  /// What stands here while there is no lookup.
  QString emptyText() const;
  QLabel* m_empty;
  QLabel* m_explained;
  QTableView* m_table;
  RowsModel<LookupRow>* m_model;
  LookupResult* m_result;
  bool m_taking = false;
};

}  // namespace tidemark::widgets
