#pragma once

#include <array>

#include <QColor>

#include "base/ids.h"

namespace tidemark::widgets {

/// Every colour of the window, for light or for dark. Text colours are at 4.5 : 1 or better on the surfaces they are
/// meant for; the ones called rail, roller, grid and line are decoration and carry no meaning alone.
struct Palette {
  bool dark = false;

  // Surfaces.
  QColor background, panel, sunken, hover, statusBar, plot;
  QColor line, softLine, grid;
  // Text.
  QColor ink, muted, heads;
  // What can be pressed or is selected.
  QColor accent, button, onButton, selection, selectionLine;

  // States: shape, text, and the pill or row behind it.
  QColor ok, okText, okSoft;
  QColor warn, warnText, warnSoft;
  QColor fenced, fencedSoft;
  QColor bad, badText, badSoft, badLine;
  QColor fault;
  QColor leaderCrown, controllerCrown;
  QColor ring;
  QColor highWatermark, onHighWatermark;
  QColor violet, onViolet;

  // Belts.
  static constexpr size_t kEpochs = 7;
  std::array<QColor, kEpochs> epochs, epochsSoft;
  QColor onEpoch, recordShine;
  QColor rail, roller, axis, hatchGround, hatchLine, arrow, indexTick;
  QColor purgatory, purgatoryLine;

  // The strip of the ISR over time.
  QColor stripIn, stripOut, stripDown, stripUnknown;

  // Behind the bytes of a field, one after another, with ink on them; and behind a field that is wrong.
  std::array<QColor, 7> fields;
  QColor badField;

  // Brokers in plots, beside solid, dashed and dotted.
  std::array<QColor, 3> brokers;

  /// Fill of a leader epoch: by its number modulo 7, so that it is the same in all views at all times, and two that
  /// meet in a log look alike only if six between them wrote nothing. The number always stands beside it.
  const QColor& epoch(LeaderEpoch value) const noexcept { return epochs[indexOf(value)]; }
  const QColor& epochSoft(LeaderEpoch value) const noexcept { return epochsSoft[indexOf(value)]; }

  static const Palette& light();
  static const Palette& darkOne();

 private:
  static size_t indexOf(LeaderEpoch value) noexcept {
    return value.value() < 0 ? 0 : static_cast<size_t>(value.value()) % kEpochs;
  }
};

/// Ratio of WCAG 2.1, from 1 to 21.
double contrast(const QColor& a, const QColor& b) noexcept;

}  // namespace tidemark::widgets
