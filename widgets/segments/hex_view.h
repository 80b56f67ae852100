#pragma once

#include <QAbstractScrollArea>

#include "segments/segment_types.h"

namespace tidemark::widgets {

/// The bytes of a batch, sixteen a row, coloured by field; hovering a byte lights its field up, here and beside. With
/// the keyboard: a cursor that the arrow keys, Page up and down, Home and End move. Ctrl+C copies the field's bytes.
/// Only the rows in sight are painted.
class HexView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  static constexpr int kPerRow = 16;

  explicit HexView(QWidget* parent = nullptr);

  /// `payload`: the decompressed records instead of the file's bytes.
  void setBatch(BatchPicturePtr batch, bool payload);
  bool showsPayload() const noexcept { return m_payload; }
  void setHovered(int field);
  void ensureVisible(int field);
  /// The field that holds a byte of what is shown; −1: none.
  int fieldAt(int64_t byte) const;
  /// The byte at a place of the viewport; −1: none.
  int64_t byteAt(const QPointF& point) const;
  QRectF rectOf(int64_t byte) const;
  int rowsPainted() const noexcept { return m_rowsPainted; }
  /// Bytes of the field under the cursor or the mouse, else all, as rows of hexadecimal text.
  QString selectionAsText() const;

 Q_SIGNALS:
  void fieldHovered(int field);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  ByteView bytes() const;
  /// Where what is shown begins: of the file, so that positions are the file's.
  int64_t origin() const;
  void settleScroll();
  void hover(int field);
  void moveCursor(int64_t byte);

  BatchPicturePtr m_batch;
  bool m_payload = false;
  /// Fields of what is shown, by their first byte.
  std::vector<int> m_order;
  int m_hovered = -1;
  int64_t m_cursor = -1;
  int m_rowsPainted = 0;
};

}  // namespace tidemark::widgets
