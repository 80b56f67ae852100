#pragma once

#include <QString>

#include "faults/fault.h"
#include "observe/snapshot.h"
#include "theme/shapes.h"

// How faults are said everywhere in the window.
namespace tidemark::widgets {

/// A fault that acts: "Link 2 ↔ 3 cut", "Broker 3 paused".
QString faultTitle(const faults::Fault& fault);
/// The bare name of a kind, for lists to choose from: "Cut", "Lose power".
QString faultKindName(faults::Kind kind);
/// What it does, in one sentence.
QString faultKindMeaning(faults::Kind kind);
QString faultAreaName(faults::Area area);
/// "3rd, then over", "every 5th", "10 %"; empty: each.
QString faultOccasions(const faults::Trigger& trigger);
/// "broker 3", "link 1 → 3", "everywhere".
QString faultTargetText(const faults::Target& target);
/// "61 tasks", "23 transfers": what its kind meets.
QString faultFiredText(faults::Kind kind, uint64_t times);
/// How much its links keep back now, "3 held"; empty of what keeps nothing back. A hold says so of none as well, as it
/// has nothing to step then.
QString faultHeldText(const observe::FaultSnapshot& fault);
/// Cross, bars, triangle …: as the state it leads to. Every list, card and bar of a fault takes its icon from here.
StateLook lookOf(faults::Kind kind);
/// The same for one that acts; one that has not begun yet is a ring.
StateLook lookOf(const observe::FaultSnapshot& fault);

}  // namespace tidemark::widgets
