#pragma once

#include <vector>

#include <QColor>
#include <QWidget>

namespace tidemark::widgets {

/// Names at the left, values in mono at the right, one a row; painted, since values change with each frame. Ctrl+C or
/// the menu copies all of it.
class FactList : public QWidget {
  Q_OBJECT

 public:
  struct Fact {
    QString name;
    QString value;
    /// Invalid: the usual ink.
    QColor color;
    /// It is never cut: where it does not fit it stands on lines of its own.
    bool whole = false;
    friend bool operator==(const Fact&, const Fact&) = default;
  };
  explicit FactList(QWidget* parent = nullptr);
  void setFacts(std::vector<Fact> facts);
  QString toText() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  /// The lines of a value that has some of its own; empty: it stands beside its name.
  QStringList linesOf(const Fact& fact) const;
  void measure();

  std::vector<Fact> m_facts;
  int m_height = 0;
};

}  // namespace tidemark::widgets
