#pragma once

#include <cstdint>
#include <vector>

#include <QWidget>

namespace tidemark::widgets {

/// A view that is painted from values and is as high as what it shows: how it is measured, repainted, pointed at and
/// read aloud. What it shows is its subclass's.
class SceneView : public QWidget {
  Q_OBJECT

 public:
  /// How often it was painted: a test counts.
  int paintings() const noexcept { return m_paintings; }
  /// All of it, tab-separated.
  virtual QString asText() const = 0;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return m_least; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 Q_SIGNALS:
  /// What the spot that was clicked stands for.
  void picked(int what);
  void eventWanted(uint64_t number);

 protected:
  /// What lies under a point: something to be picked, an event, a text that says more.
  struct Spot {
    QRectF rect;
    uint64_t event = 0;
    /// −1: nothing.
    int pick = -1;
    QString tip;
  };

  SceneView(const QSize& least, QWidget* parent);
  /// Where things stand; without a painter it only measures, and tells the spots. Returns the height it takes.
  virtual double layOut(QPainter* painter, double width) = 0;
  /// Another scene is shown from now on.
  void sceneChanged();
  void addSpot(Spot spot) { m_spots.push_back(std::move(spot)); }

  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  double measure(double width);

  const QSize m_least;
  std::vector<Spot> m_spots;
  int m_paintings = 0;
};

}  // namespace tidemark::widgets
