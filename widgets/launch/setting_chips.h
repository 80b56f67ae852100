#pragma once

#include <vector>

#include <QWidget>

#include "observe/snapshot.h"

namespace tidemark::widgets {

/// Settings as chips that flow over as many rows as they need.
class SettingChips : public QWidget {
  Q_OBJECT

 public:
  explicit SettingChips(QWidget* parent = nullptr);
  void setSettings(std::vector<observe::Setting> settings);
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {500, heightForWidth(500)}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  /// Calls `each(text, rect)`; returns the height.
  template <class Each>
  int place(int width, Each&& each) const;
  std::vector<QString> m_texts;
};

}  // namespace tidemark::widgets
