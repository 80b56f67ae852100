#pragma once

#include <QWidget>

#include "bridge/engine_bridge.h"
#include "map/map_scene.h"
#include "models/rows_model.h"

class QLabel;
class QStackedWidget;
class QTableView;

namespace tidemark::widgets {

class MapView;

/// The Map view: brokers, controllers and clients, the links between them and what is done to these; below it what the
/// state of the cluster leads to. Fed with each snapshot while it is in sight.
class MapPage : public QWidget {
  Q_OBJECT

 public:
  explicit MapPage(EngineBridge& bridge, QWidget* parent = nullptr);

  void setActive(bool active);
  bool showsTable() const noexcept { return m_asTable; }
  void showTable(bool table);
  MapView& map() noexcept { return *m_map; }
  QTableView& table() noexcept { return *m_table; }

 Q_SIGNALS:
  void menuWanted(const tidemark::widgets::MapPick& pick, const QPoint& globalPosition);
  void brokerPicked(tidemark::NodeId broker);

 private:
  class Consequences;
  void fill();

  EngineBridge& m_bridge;
  MapRates m_rates;
  bool m_active = false;
  bool m_asTable = false;
  QLabel* m_note;
  QStackedWidget* m_stack;
  MapView* m_map;
  Consequences* m_consequences;
  QTableView* m_table;
  RowsModel<MapLink>* m_model;
};

}  // namespace tidemark::widgets
