#pragma once

#include <optional>

#include <QWidget>

#include "timeline/cause_words.h"

namespace tidemark::widgets {

/// A small card that says why something changed; it lies over the timeline beside its place and takes no part in the
/// mouse.
class CauseCard : public QWidget {
  Q_OBJECT

 public:
  explicit CauseCard(QWidget* parent);

  /// Beside that point of the parent; nothing hides it.
  void showAt(const std::optional<CauseWords>& words, const QPointF& at);
  const std::optional<CauseWords>& words() const noexcept { return m_words; }
  QString asText() const;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QSize wanted() const;

  std::optional<CauseWords> m_words;
};

}  // namespace tidemark::widgets
