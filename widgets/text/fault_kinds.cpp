// The kinds of faults, to be chosen from.
#include <QCoreApplication>

#include "text/fault_words.h"

namespace tidemark::widgets {

namespace {

struct FaultKindNames {
  Q_DECLARE_TR_FUNCTIONS(Faults)
};

}  // namespace

QString faultAreaName(faults::Area area) {
  switch (area) {
    case faults::Area::Links:
      return FaultKindNames::tr("LINKS");
    case faults::Area::Brokers:
      return FaultKindNames::tr("BROKERS");
    case faults::Area::Disks:
      return FaultKindNames::tr("DISKS");
    case faults::Area::Clocks:
      return FaultKindNames::tr("CLOCKS");
    case faults::Area::Requests:
      return FaultKindNames::tr("REQUESTS");
  }
  return {};
}

QString faultKindName(faults::Kind kind) {
  using faults::Kind;
  switch (kind) {
    case Kind::Cut:
      return FaultKindNames::tr("Cut");
    case Kind::Delay:
      return FaultKindNames::tr("Delay");
    case Kind::Reset:
      return FaultKindNames::tr("Reset");
    case Kind::Throttle:
      return FaultKindNames::tr("Throttle");
    case Kind::Hold:
      return FaultKindNames::tr("Hold and step");
    case Kind::Isolate:
      return FaultKindNames::tr("Isolate a broker");
    case Kind::Halves:
      return FaultKindNames::tr("Two halves");
    case Kind::Bridge:
      return FaultKindNames::tr("Bridge");
    case Kind::Ring:
      return FaultKindNames::tr("Ring of majorities");
    case Kind::Kill:
      return FaultKindNames::tr("Kill");
    case Kind::PowerLoss:
      return FaultKindNames::tr("Lose power");
    case Kind::Pause:
      return FaultKindNames::tr("Pause");
    case Kind::Slow:
      return FaultKindNames::tr("Slow down");
    case Kind::Stop:
      return FaultKindNames::tr("Stop");
    case Kind::Restart:
      return FaultKindNames::tr("Restart");
    case Kind::Wipe:
      return FaultKindNames::tr("Wipe");
    case Kind::SlowDisk:
      return FaultKindNames::tr("Slow disk");
    case Kind::DiskError:
      return FaultKindNames::tr("Disk error");
    case Kind::FullDisk:
      return FaultKindNames::tr("Full disk");
    case Kind::TornWrite:
      return FaultKindNames::tr("Torn write");
    case Kind::BitFlip:
      return FaultKindNames::tr("Bit flip");
    case Kind::ClockOffset:
      return FaultKindNames::tr("Offset");
    case Kind::ClockJump:
      return FaultKindNames::tr("Jump");
    case Kind::ClockDrift:
      return FaultKindNames::tr("Drift");
    case Kind::RequestError:
      return FaultKindNames::tr("Refuse");
    case Kind::RequestDelay:
      return FaultKindNames::tr("Delay requests");
    case Kind::RequestDrop:
      return FaultKindNames::tr("Drop");
    case Kind::RequestDisconnect:
      return FaultKindNames::tr("Disconnect");
  }
  return {};
}

QString faultKindMeaning(faults::Kind kind) {
  using faults::Kind;
  switch (kind) {
    case Kind::Cut:
      return FaultKindNames::tr(
          "What is sent is held, connecting waits; after healing all of it arrives, unless somebody gave up.");
    case Kind::Delay:
      return FaultKindNames::tr("Each transfer arrives later, behind those before it.");
    case Kind::Reset:
      return FaultKindNames::tr("The transfer is lost and its connection reset; connecting is refused.");
    case Kind::Throttle:
      return FaultKindNames::tr("A line of that width for each connection and direction.");
    case Kind::Hold:
      return FaultKindNames::tr("As cut, but connecting passes, and a step lets the next transfers through.");
    case Kind::Isolate:
      return FaultKindNames::tr("Cut from all other brokers, and from clients if you wish.");
    case Kind::Halves:
      return FaultKindNames::tr("Cut between two groups of brokers.");
    case Kind::Bridge:
      return FaultKindNames::tr("Cut between two halves of the others; the target hears both.");
    case Kind::Ring:
      return FaultKindNames::tr("Each of 5, 7, … brokers hears a majority, no two the same one.");
    case Kind::Kill:
      return FaultKindNames::tr("The process is gone, what it wrote stays; healing starts it again.");
    case Kind::PowerLoss:
      return FaultKindNames::tr("As a kill, and each file is cut off where it was last synced.");
    case Kind::Pause:
      return FaultKindNames::tr("It runs nothing, its sockets stay open, as in a long GC; healing lets it go on.");
    case Kind::Slow:
      return FaultKindNames::tr("Each task, timer and arrival takes that much longer.");
    case Kind::Stop:
      return FaultKindNames::tr("A controlled shutdown; healing starts it again.");
    case Kind::Restart:
      return FaultKindNames::tr("A controlled shutdown and a start; at once over.");
    case Kind::Wipe:
      return FaultKindNames::tr("A broker that is down loses its folders, or those of the partitions named.");
    case Kind::SlowDisk:
      return FaultKindNames::tr("Each call on its files takes that much longer.");
    case Kind::DiskError:
      return FaultKindNames::tr("The call fails with an input/output error and has no effect.");
    case Kind::FullDisk:
      return FaultKindNames::tr("What needs room fails; reading, syncing and writing over go on.");
    case Kind::TornWrite:
      return FaultKindNames::tr("About half of a write is written, then the broker dies; once.");
    case Kind::BitFlip:
      return FaultKindNames::tr("The byte in the middle of the first such file changes on disk; at once over.");
    case Kind::ClockOffset:
      return FaultKindNames::tr("The clock is wrong by that much.");
    case Kind::ClockJump:
      return FaultKindNames::tr("The clock jumps, once; right again when the broker starts anew.");
    case Kind::ClockDrift:
      return FaultKindNames::tr("The clock goes faster or slower, and its timers with it.");
    case Kind::RequestError:
      return FaultKindNames::tr("The request is answered with that error and not handled.");
    case Kind::RequestDelay:
      return FaultKindNames::tr("The request is handled later.");
    case Kind::RequestDrop:
      return FaultKindNames::tr("The request is neither handled nor answered; its connection stays mute.");
    case Kind::RequestDisconnect:
      return FaultKindNames::tr("The request is not handled; its connection is closed.");
  }
  return {};
}

}  // namespace tidemark::widgets
