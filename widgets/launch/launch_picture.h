#pragma once

#include <QWidget>

#include "observe/cluster_source.h"

namespace tidemark::widgets {

/// A picture of what the launch page's choices will start: the bootstrap address, a card for each broker with its port
/// and its copies of the first topic's partitions, and below them controllers of their own.
class LaunchPicture : public QWidget {
  Q_OBJECT

 public:
  explicit LaunchPicture(QWidget* parent = nullptr);
  /// `goesOn`: the folder holds a cluster, whose topics come back.
  void setOptions(observe::LaunchOptions options, double loadPerSecond, bool goesOn);
  /// How many partitions each card lists.
  int partitionsShown() const { return rows(m_options); }
  QSize sizeHint() const override { return {540, height(m_options)}; }
  QSize minimumSizeHint() const override { return {440, height(m_options)}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  static int rows(const observe::LaunchOptions& options);
  static int cardHeight(const observe::LaunchOptions& options);
  /// What controllers of their own take.
  static int controllersHeight(const observe::LaunchOptions& options) {
    return options.separateControllers > 0 ? kControllerHeight + kAboveControllers : 0;
  }
  static int height(const observe::LaunchOptions& options) {
    return 318 + cardHeight(options) + controllersHeight(options);
  }
  void paintBroker(QPainter& painter, const QRectF& card, int number) const;
  void paintControllers(QPainter& painter, const QRectF& room) const;
  static constexpr int kControllerHeight = 50;
  static constexpr int kAboveControllers = 16;
  observe::LaunchOptions m_options;
  double m_load = 0;
  bool m_goesOn = false;
  QString m_topic;
};

}  // namespace tidemark::widgets
