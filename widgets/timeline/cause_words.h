#pragma once

#include <QStringList>

#include "models/timeline_past.h"
#include "theme/shapes.h"

namespace tidemark::widgets {

/// Why something changed, as the card of the timeline tells it.
struct CauseWords {
  QString title;
  StateShape shape = StateShape::None;
  QColor color;
  platform::WallTime at;
  QStringList lines;
  /// How far a time that is allowed was used, with words for both ends of the bar; below 0: no bar.
  double part = -1;
  QString barLeft;
  QString barRight;
  /// To be found in the event table; 0: none.
  uint64_t event = 0;
};

/// Of an event of the partition or of the cluster. `past` tells what the high watermark did about it.
CauseWords causeOf(const observe::ObservedEvent& event, const TimelinePartition& past,
                   const observe::ClusterSnapshot& cluster);
CauseWords causeOf(const TimelineFault& fault);

}  // namespace tidemark::widgets
