#pragma once

#include "groups/group_scene.h"
#include "views/scene_view.h"

namespace tidemark::widgets {

/// One group, painted: its states, a rebalance over time, who has what and who is to have it, records in flight, lag.
/// ← → go through the rebalances. Repainted when its scene is another one.
class GroupView : public SceneView {
  Q_OBJECT

 public:
  explicit GroupView(QWidget* parent = nullptr);

  void setScene(GroupScene scene);
  const GroupScene& scene() const noexcept { return m_scene; }
  QString asText() const override;

 Q_SIGNALS:
  /// An older (+1) or a newer (−1) rebalance is wanted; picked() tells one counted from the newest.
  void rebalanceStepped(int by);
  /// The group after (+1) or before (−1) this one is wanted.
  void groupStepped(int by);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  double layOut(QPainter* painter, double width) override;

 private:
  double paintHead(QPainter* painter, double left, double y, double right);
  double paintStates(QPainter* painter, double left, double y, double right);
  double paintSequence(QPainter* painter, double left, double y, double right);
  double paintTopology(QPainter* painter, double left, double y, double right);
  double paintAssignment(QPainter* painter, double left, double y, double right);
  double paintCell(QPainter* painter, const QRectF& place, const AssignmentCell& cell, int row, bool targetHalf);
  double paintShared(QPainter* painter, double left, double y, double right);
  static void paintShareLegend(QPainter* painter, double x, double y);
  double paintHappened(QPainter* painter, double left, double y, double right);
  double paintLag(QPainter* painter, double left, double y, double right);
  double paintRebalances(QPainter* painter, double left, double y, double right);

  GroupScene m_scene;
};

}  // namespace tidemark::widgets
