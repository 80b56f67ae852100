#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tidemark::app {

/// Exit codes of the program.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
/// The command line or a configuration is wrong; nothing was touched.
inline constexpr int kUsage = 2;
/// What was asked for is there, but not all of it: not everybody answered.
inline constexpr int kPartial = 3;

struct ServeOptions {
  int brokers = 3;
  /// So many nodes more are the quorum's voters, instead of the brokers; 0: none.
  int separateControllers = 0;
  std::string host = "127.0.0.1";
  /// What clients are told instead of `host`; empty: the same.
  std::string advertise;
  uint16_t port = 19092;
  std::string data;
  /// Of each broker.
  int logDirectories = 1;
  /// key=value
  std::vector<std::string> settings;
  /// Of each broker, in order, comma separated; empty: none.
  std::string racks;
  /// A file that a recording is written into; empty: none is.
  std::string record;
  /// The end of standard input ends the brokers in control.
  bool untilEof = false;
  bool json = false;
  bool verbose = false;
  /// Names of the options that were said, as "--port": of what does not apply only those are worth a word.
  std::set<std::string, std::less<>> given;
};

/// Launches a cluster in this process and runs it until it is asked to end. Commands on standard input, answers on
/// standard output, one line of JSON each.
int serve(const ServeOptions& options);

/// Runs one node from a Kafka configuration file until it is asked to end. Of the options the settings, and what is to
/// be told and when to end.
int serveNode(const std::string& file, const ServeOptions& options);

struct FormatOptions {
  std::string file;
  std::string clusterId;
  /// ID@HOST:PORT:DIRECTORY-ID, comma separated; empty: this node alone.
  std::string initialControllers;
};
/// Makes the log directories of a configuration file ready for its first start.
int formatStorage(const FormatOptions& options);

struct TopicsOptions {
  std::string bootstrap = "127.0.0.1:19092";
  /// create, list, describe, delete
  std::string action;
  std::string name;
  int partitions = -1;
  int replicationFactor = -1;
  std::vector<std::string> configs;
  bool json = false;
};
int topics(const TopicsOptions& options);

/// "key=value" taken apart; an empty key: it is none.
std::pair<std::string, std::string> keyAndValue(const std::string& text);

}  // namespace tidemark::app
