#include <QApplication>
#include <QButtonGroup>
#include <QClipboard>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>

#include "segments/batch_panel.h"
#include "segments/index_plot.h"
#include "segments/lookup_panel.h"
#include "segments/past_panel.h"
#include "segments/segment_tables.h"
#include "segments/segments_page.h"
#include "text/format.h"
#include "theme/theme.h"

// What the Segments view does with what is typed and pressed, and what it remembers.

namespace tidemark::widgets {

void SegmentsPage::nameSearch() {
  const auto target = readTarget(m_search->text(), QDateTime::currentDateTime());
  m_searchName->setText(!target ? tr("find") : target->byTime ? tr("find time") : tr("find offset"));
}

void SegmentsPage::search(const QString& text) {
  if (m_search->text() != text) m_search->setText(text);
  const auto target = readTarget(text, QDateTime::currentDateTime());
  if (!target) {
    setStyled(m_search, "wrong", true);
    Q_EMIT told(tr("“%1” is neither an offset nor a time").arg(text));
    return;
  }
  m_controller.find(*target);
}

void SegmentsPage::focusSearch() {
  m_search->setFocus(Qt::ShortcutFocusReason);
  m_search->selectAll();
}

void SegmentsPage::showTable(bool table) {
  m_asTable = table;
  if (table || m_tables != nullptr) tables().setActive(table);
  if (!m_controller.partition()) return;
  m_stack->setCurrentIndex(table ? 1 : 0);
  if (table)
    tables().view(tables().shown()).setFocus();
  else
    setFocus();
}

bool SegmentsPage::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Comma || key == Qt::Key_Period) {
      event->accept();
      return true;
    }
  }
  return QWidget::event(event);
}

void SegmentsPage::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(asText());
    return;
  }
  const bool alt = event->modifiers() & Qt::AltModifier;
  const int last = static_cast<int>(m_controller.rows().size()) - 1;
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Comma:
      m_controller.setRow(m_controller.row() - 1);
      return;
    case Qt::Key_Down:
    case Qt::Key_Period:
      m_controller.setRow(m_controller.row() + 1);
      return;
    case Qt::Key_Home:
      m_controller.setRow(0);
      return;
    case Qt::Key_End:
      m_controller.setRow(last);
      return;
    case Qt::Key_P:
      m_controller.play();
      return;
    case Qt::Key_PageUp:
      m_controller.stepBatch(-1);
      return;
    case Qt::Key_PageDown:
      m_controller.stepBatch(1);
      return;
    case Qt::Key_Left:
      alt ? m_controller.stepSegment(-1) : m_plot->panBy(-0.15);
      return;
    case Qt::Key_Right:
      alt ? m_controller.stepSegment(1) : m_plot->panBy(0.15);
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      m_plot->zoomBy(1.5);
      return;
    case Qt::Key_Minus:
      m_plot->zoomBy(1 / 1.5);
      return;
    case Qt::Key_0:
      m_plot->showAll();
      return;
    case Qt::Key_I:
      setIndex(m_indexChoice->checkedId() == 0);
      return;
    case Qt::Key_F5:
      m_controller.reload();
      return;
    case Qt::Key_Slash:
      focusSearch();
      return;
    case Qt::Key_Escape:
      if (m_fromDisk) {
        Q_EMIT backWanted();
        return;
      }
      break;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

QString SegmentsPage::asText() const {
  if (!m_controller.partition() || !m_controller.segment()) return {};
  const PartitionPicture& partition = *m_controller.partition();
  const SegmentPicture& segment = *m_controller.segment();
  QString text = tr("partition\t%1\nfolder\t%2\nsegment\t%3\nbytes\t%4\noffset index entries\t%5\n"
                    "time index entries\t%6\n")
                     .arg(partition.name, partition.folder, segmentFileName(segment.base))
                     .arg(segment.bytes)
                     .arg(segment.offsets.size())
                     .arg(segment.times.size());
  for (const FindingEntry& finding : partition.findings)
    text += tr("finding\t%1\t%2\t%3\n").arg(finding.file).arg(finding.position).arg(finding.what);
  if (m_controller.isPast()) text += m_past->asText();
  if (m_controller.lookup()) text += m_lookup->asText();
  if (const auto& batch = m_controller.batch()) {
    text += tr("batch at position\t%1\n").arg(batch->position);
    for (int32_t i = 0; i < batch->headerFields; ++i) {
      const FieldEntry& field = batch->fields[static_cast<size_t>(i)];
      text += QStringLiteral("%1\t%2\n").arg(field.name, field.value);
    }
  }
  return text;
}

// State.

void SegmentsPage::save(QSettings& settings) const {
  settings.setValue(QStringLiteral("segments/rows"), m_rows->saveState());
  settings.setValue(QStringLiteral("segments/columns"), m_columns->saveState());
  settings.setValue(QStringLiteral("segments/bytes"), m_batch->splitter().saveState());
  settings.setValue(QStringLiteral("segments/times"), m_indexChoice->checkedId() == 1);
  settings.setValue(QStringLiteral("segments/search"), m_search->text());
}

void SegmentsPage::restore(const QSettings& settings) {
  const auto split = [&settings](QSplitter& splitter, const char* name) {
    const QByteArray state = settings.value(QLatin1String(name)).toByteArray();
    if (!state.isEmpty()) splitter.restoreState(state);
  };
  split(*m_rows, "segments/rows");
  split(*m_columns, "segments/columns");
  split(m_batch->splitter(), "segments/bytes");
  setIndex(settings.value(QStringLiteral("segments/times"), false).toBool());
  m_search->setText(settings.value(QStringLiteral("segments/search")).toString());
}

}  // namespace tidemark::widgets
