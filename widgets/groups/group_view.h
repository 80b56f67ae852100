#pragma once

#include <QWidget>

#include "groups/group_scene.h"

namespace tidemark::widgets {

/// One group, painted: its states, a rebalance over time, who has what and who is to have it, records in flight, lag.
/// It is as high as what it shows. ← → go through the rebalances. Repainted when its scene is another one.
class GroupView : public QWidget {
  Q_OBJECT

 public:
  explicit GroupView(QWidget* parent = nullptr);

  void setScene(GroupScene scene);
  const GroupScene& scene() const noexcept { return m_scene; }
  /// How often it was painted: a test counts.
  int paintings() const noexcept { return m_paintings; }
  QString asText() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {560, 300}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 Q_SIGNALS:
  /// An older (+1) or a newer (−1) rebalance is wanted.
  void rebalanceStepped(int by);
  /// The group after (+1) or before (−1) this one is wanted.
  void groupStepped(int by);
  /// Counted from the newest.
  void rebalancePicked(int index);
  void eventWanted(uint64_t number);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// What lies under a point: an event, a rebalance, a text that says more.
  struct Spot {
    QRectF rect;
    uint64_t event = 0;
    int rebalance = -1;
    QString tip;
  };
  /// Where things stand; without a painter it only measures. Returns the height it takes.
  double layOut(QPainter* painter, double width);
  double paintHead(QPainter* painter, double left, double y, double right);
  double paintStates(QPainter* painter, double left, double y, double right);
  double paintSequence(QPainter* painter, double left, double y, double right);
  double paintAssignment(QPainter* painter, double left, double y, double right);
  double paintCell(QPainter* painter, const QRectF& place, const AssignmentCell& cell, int row, bool targetHalf);
  double paintShared(QPainter* painter, double left, double y, double right);
  double paintHappened(QPainter* painter, double left, double y, double right);
  double paintLag(QPainter* painter, double left, double y, double right);
  double paintRebalances(QPainter* painter, double left, double y, double right);

  GroupScene m_scene;
  std::vector<Spot> m_spots;
  int m_paintings = 0;
};

}  // namespace tidemark::widgets
