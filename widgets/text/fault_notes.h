#pragma once

#include <QString>
#include <QStringList>

#include "observe/snapshot.h"

// What is said beside a fault: why it meets nothing, how it ended, what it leaves behind.
namespace tidemark::widgets {

/// "no client named billing is connected".
QString unmatchedText(const faults::Unmatched& unmatched, const observe::ClusterSnapshot& cluster);
/// Whoever it names and is still not there, as far as the cluster tells: "Matches nothing yet: no client named billing
/// is connected". Empty once all of them are, or it has met something.
QString faultNote(const observe::FaultSnapshot& fault, const observe::ClusterSnapshot& cluster);
/// The same of one that is over: what it found nobody for.
QString faultNote(const observe::FaultOverSnapshot& fault, const observe::ClusterSnapshot& cluster);

/// "healed", "time over", "happened", "dropped".
QString endingText(faults::Ending ending);
/// The same in a sentence, with the reason if there is one.
QString endingMeaning(const observe::FaultOverSnapshot& fault);
/// What it leaves behind: "lowest bit of byte 2 048 flipped in broker-1/orders-0/00000000000000000000.log", "wall clock
/// +5.0 s until it starts anew". Of paths the end, or `whole`. Empty: nothing.
QStringList lastingTexts(faults::Kind kind, const faults::Lasting& lasting, bool whole);

}  // namespace tidemark::widgets
