#pragma once

#include <QWidget>

#include "models/rows_model.h"
#include "segments/recorded_log.h"
#include "theme/card.h"

class QLabel;
class QTableView;

namespace tidemark::widgets {

class EngineBridge;
class FactList;
class SegmentsController;

/// What the Segments view shows of a moment of the past in the place of a batch's bytes, which no recording holds: what
/// the log did as a whole up to then, how it stood, and what is not known of it. A row that is clicked, or Enter, leads
/// to its moment.
class PastPanel : public Card {
  Q_OBJECT

 public:
  PastPanel(EngineBridge& bridge, SegmentsController& controller, QWidget* parent = nullptr);

  QTableView& table() noexcept { return *m_table; }
  const std::vector<LogDeed>& deeds() const noexcept { return m_model->rows(); }
  QString asText() const;

 Q_SIGNALS:
  void eventWanted(quint64 number, tidemark::platform::WallTime at);

 private:
  void take();

  EngineBridge& m_bridge;
  SegmentsController& m_controller;
  QLabel* m_none;
  QTableView* m_table;
  RowsModel<LogDeed>* m_model;
  FactList* m_facts;
};

}  // namespace tidemark::widgets
