#pragma once

#include <vector>

#include <QWidget>

#include "observe/snapshot.h"

namespace tidemark::widgets {

/// Settings as chips that flow over two rows; "5 more" shows all of them.
class SettingChips : public QWidget {
  Q_OBJECT

 public:
  explicit SettingChips(QWidget* parent = nullptr);
  void setSettings(std::vector<observe::Setting> settings);
  bool showsAll() const noexcept { return m_all; }
  void setShowsAll(bool all);
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {500, heightForWidth(500)}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  static constexpr int kRows = 2;
  /// Calls `each(text, rect, isSwitch)`; returns the height.
  template <class Each>
  int place(int width, Each&& each) const;
  QRectF switchRect() const;
  std::vector<QString> m_texts;
  bool m_all = false;
};

}  // namespace tidemark::widgets
