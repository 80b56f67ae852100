#pragma once

#include <QPushButton>

#include "timeline/time_travel.h"

class QComboBox;
class QLabel;
class QSlider;

namespace tidemark::widgets {

/// Always in sight: the window shows the present, a moment of the past, or one of a recording.
class MomentPill : public QWidget {
  Q_OBJECT

 public:
  explicit MomentPill(TimeTravel& travel, QWidget* parent = nullptr);
  /// "LIVE", "HISTORY 14:02:09.017", "RECORDING 14:02:09.017".
  QString text() const;
  QSize sizeHint() const override;
  /// On a narrow window the mark alone is left.
  QSize minimumSizeHint() const override { return {24, 22}; }

 Q_SIGNALS:
  void clicked();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  TimeTravel& m_travel;
};

/// A button with a sign on it that every font lacks or draws in its own way.
class TimeButton : public QPushButton {
  Q_OBJECT

 public:
  enum class Sign { Back, Play, Stop, Forth };
  explicit TimeButton(Sign sign, QWidget* parent = nullptr);
  void setSign(Sign sign);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Sign m_sign;
};

/// While a moment of the past is shown: step, play, how fast, where in what is remembered, and the way back to the
/// present.
class TimeBar : public QWidget {
  Q_OBJECT

 public:
  explicit TimeBar(TimeTravel& travel, QWidget* parent = nullptr);

  QPushButton& playButton() noexcept { return *m_play; }
  QSlider& slider() noexcept { return *m_slider; }
  QComboBox& speeds() noexcept { return *m_speeds; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void take();

  TimeTravel& m_travel;
  TimeButton* m_back;
  TimeButton* m_play;
  TimeButton* m_forth;
  QComboBox* m_speeds;
  QSlider* m_slider;
  QLabel* m_time;
  QPushButton* m_live;
  bool m_taking = false;
};

}  // namespace tidemark::widgets
