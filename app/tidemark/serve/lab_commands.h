#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cluster/cluster.h"
#include "tidemark/answers.h"

namespace tidemark::app {

/// Commands of standard input, as `serve --help` lists them, each answered by one line of JSON: at once, or, if it has
/// a broker started or stopped, when that is done or the cluster's patience is at its end. On the thread of the
/// console; answers come from that of the cluster, which outlives this.
class LabCommands {
 public:
  LabCommands(cluster::Cluster& cluster, std::function<void()> quit) : cluster_(cluster), quit_(std::move(quit)) {}

  /// False: what comes is no commands, and is not listened to any more.
  bool run(const std::string& line);
  bool refuseLong();

 private:
  struct Answer;

  void take(const std::string& line);
  static void help(const Answer& answer);
  void broker(const Answer& answer, const std::string& text,
              void (cluster::Cluster::*command)(NodeId, cluster::Cluster::Done));
  void leader(const Answer& answer, const std::string& text);
  void topics(const Answer& answer);
  void status(const Answer& answer);
  void fault(const Answer& answer, const std::string& text);
  void heal(const Answer& answer, const std::string& which);
  void step(const Answer& answer, const std::string& which, const std::string& many);
  void faults(const Answer& answer);

  cluster::Cluster& cluster_;
  const std::function<void()> quit_;
  bool known_ = true;
  /// How many lines have come.
  uint64_t line_ = 0;
  Strangers strangers_;
};

}  // namespace tidemark::app
