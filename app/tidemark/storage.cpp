#include "tidemark/storage.h"

#include <cstdio>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "inspect/check.h"
#include "inspect/dump.h"
#include "inspect/dump_printer.h"
#include "inspect/repair.h"
#include "platform/native/native.h"
#include "tidemark/checks.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"
#include "tidemark/long_work.h"

namespace tidemark::app {
namespace {

/// The files of this machine, and nothing else of a process.
class Files {
 public:
  explicit Files(const char* name) {
    platform::NativeOptions options;
    options.name = name;
    options.level = platform::Logger::Level::Error;
    process_ = platform::makeNativeProcess(std::move(options));
  }
  ~Files() {
    process_->kill({});
    process_->awaitStopped();
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  platform::FileSystem& operator*() { return process_->files(); }
  platform::Process& process() { return *process_; }

 private:
  std::shared_ptr<platform::Process> process_;
};

/// "1 segment", "2 segments".
template <class Number>
std::string counted(Number number, std::string_view word, std::string_view plural = "s") {
  return fmt::format("{} {}{}", number, word, number == 1 ? "" : plural);
}

/// Lines on standard output, many at a time.
class Lines {
 public:
  Lines() = default;
  ~Lines() { flush(); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  void add(std::string_view line) {
    text_ += line;
    text_ += '\n';
    if (text_.size() >= kAtOnce) flush();
  }
  /// False: nobody reads any more.
  bool open() const { return open_; }
  void flush() {
    if (!Console::printText(text_)) open_ = false;
    text_.clear();
  }

 private:
  static constexpr size_t kAtOnce = 1u << 16;
  std::string text_;
  bool open_ = true;
};

void addDirectories(CLI::App& command, std::vector<std::string>& directories) {
  command
      .add_option("DIRECTORIES", directories,
                  "all log directories of one node (log.dirs), or the data folder of a lab: all in it")
      ->required();
}

/// Whether a directory was named twice, by whatever names, or with the folder that it lies in: that is told. What is
/// there once would be checked against itself, and repaired twice.
bool complainOfTwice(const char* command, const std::vector<std::string>& directories) {
  for (const std::string& one : directories)
    for (const std::string& other : directories) {
      if (&one == &other || !isInside(one, other)) continue;
      Console::complain(
          isInside(other, one)
              ? fmt::format("tidemark: {}: {} and {} are the same directory: name it once", command, one, other)
              : fmt::format("tidemark: {}: {} lies in {}: name one of them", command, one, other));
      return true;
    }
  return false;
}

}  // namespace

StorageCommands::StorageCommands(CLI::App& app) {
  dumpLogCommand_ = app.add_subcommand(
      "dump-log", "show what is in files of a log: batches, records, indexes, snapshots, checkpoints");
  dumpLogCommand_->footer(
      "Shows .log, .index, .timeindex, .txnindex, .snapshot, metadata .checkpoint and checkpoint files, or all files "
      "of a\n"
      "partition's folder, in the words of Kafka's kafka-dump-log, and what does not fit together. Records of the "
      "metadata\n"
      "log and of the coordinators are shown by name. Exit status 1: something is wrong in the files.");
  dumpLogCommand_->add_option("FILES", dumpLog_.files, "files or partition folders");
  dumpLogCommand_->add_option("--files", dumpLog_.commaFiles, "the same, separated by commas (Kafka's spelling)")
      ->delimiter(',');
  dumpLogCommand_->add_flag("--json", dumpLog_.json, "a line of JSON for each batch, record, entry, finding");
  dumpLogCommand_->add_flag("--records", dumpLog_.records, "records with key, value and headers");
  dumpLogCommand_->add_flag("--print-data-log", dumpLog_.printDataLog, "as --records (Kafka's spelling)");
  dumpLogCommand_->add_flag("--deep-iteration", dumpLog_.deep, "records without key and value");
  dumpLogCommand_->add_flag("--skip-record-metadata", dumpLog_.skipBatches, "no lines about batches");
  dumpLogCommand_->add_flag("--index-sanity-check,--verify-index-only", dumpLog_.onlyCheck, "only what is wrong");
  dumpLogCommand_->add_flag("--no-check", dumpLog_.noCheck, "do not check files against each other")
      ->excludes("--index-sanity-check");
  dumpLogCommand_->add_option("--max-bytes", dumpLog_.maxBytes, "so many bytes of batches of each .log")
      ->check(wholeNumber(0));
  dumpLogCommand_->add_flag("--cluster-metadata-decoder", dumpLog_.metadata,
                            "records are those of the metadata log, whatever the folder's name");
  dumpLogCommand_->add_flag("--offsets-decoder", dumpLog_.offsets, "… of __consumer_offsets");
  dumpLogCommand_->add_flag("--transaction-log-decoder", dumpLog_.transactions, "… of __transaction_state");
  dumpLogCommand_->add_flag("--share-group-state-decoder", dumpLog_.shareState, "… of __share_group_state");

  verifyCommand_ = app.add_subcommand(
      "verify", "check the log directories of a node: every batch, index entry, snapshot and checkpoint");
  verifyCommand_->footer(
      "Changes nothing. Tells what is wrong with file, byte, what was expected and found, the bytes in hex, and what "
      "to do.\n"
      "error: data is lost, cannot be read, or is told wrongly. warning: a broker puts it right at its next start.\n"
      "note: worth knowing. A broker may run on them (one note, in-use): what it is about to change is not held "
      "against it.\n"
      "Exit status 0: no error and no warning, a running broker or not; 1: there is one; 2: nothing could be checked.");
  addDirectories(*verifyCommand_, verify_.directories);
  verifyCommand_->add_flag("--json", verify_.json, "a line of JSON for each finding, and one in the end");
  verifyCommand_->add_flag("--quiet", verify_.quiet, "no notes");
  verifyCommand_
      ->add_option("--index-interval", verify_.indexInterval,
                   "index.interval.bytes of the topics: indexes must be as a rebuild has them")
      ->check(wholeNumber(1, INT32_MAX));

  repairCommand_ =
      app.add_subcommand("repair", "put right what verify finds; without --apply it only tells what it would do");
  repairCommand_->footer(
      "Logs are cut at their first bad batch; indexes, transaction indexes, leader epochs and producer state are built "
      "anew\n"
      "from the batches; checkpoints are corrected. Everything that is changed is copied to "
      "DIRECTORY.before-repair-TIME\n"
      "first. Where logs or checkpoints lose something, the marker of a clean stop (.kafka_cleanshutdown) is set "
      "aside, so that\n"
      "the broker is not elected as if it had everything. Records that are cut off are lost here: if the partition has "
      "other\n"
      "replicas, remove its folder instead and let the broker fetch it - while the other brokers of the cluster run, "
      "or with\n"
      "the marker removed as well: else it may be elected with an empty log, and the others drop theirs. Exit status "
      "0: nothing (more) to do; 1: there is; 2: refused, nothing was touched.");
  addDirectories(*repairCommand_, repair_.directories);
  repairCommand_->add_flag("--apply", repair_.apply, "do it");
  repairCommand_->add_flag("--json", repair_.json, "a line of JSON for each step, and one in the end");
  repairCommand_
      ->add_option("--index-interval", repair_.indexInterval,
                   "index.interval.bytes for indexes that are built anew; without: Kafka's default")
      ->check(wholeNumber(1, INT32_MAX));
}

StorageCommands::~StorageCommands() = default;

bool StorageCommands::parsed() const {
  return dumpLogCommand_->parsed() || verifyCommand_->parsed() || repairCommand_->parsed();
}

int StorageCommands::run() {
  return dumpLogCommand_->parsed() ? dumpLog() : verifyCommand_->parsed() ? verify() : repair();
}

int StorageCommands::repair() {
  if (complainOfTwice("repair", repair_.directories)) return kUsage;
  Files files("repair");
  LongWork work("checked");
  inspect::RepairOptions options;
  options.apply = repair_.apply;
  if (repair_.indexInterval > 0) options.indexIntervalBytes = repair_.indexInterval;
  options.progress = [&work](uint64_t bytes) { return work.advance(bytes); };
  const auto repaired =
      inspect::repair(files.process(), repair_.directories, options, [this](const inspect::RepairStep& step) {
        if (repair_.json)
          Console::print(nlohmann::ordered_json{
              {"is", "step"}, {"kind", inspect::repairStepName(step.kind)}, {"path", step.path}, {"what", step.what}}
                             .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        else
          Console::print(fmt::format("{:<22}{}: {}", inspect::repairStepName(step.kind), step.path, step.what));
      });
  if (!repaired) {
    Console::complain("tidemark: repair: " + repaired.error().message);
    return LongWork::interrupted() ? kInterrupted : kUsage;
  }
  const bool good =
      repaired->steps == 0 || (repaired->after && repaired->after->errors == 0 && repaired->after->warnings == 0);
  if (repair_.json) {
    nlohmann::ordered_json summary{{"is", "summary"},
                                   {"steps", repaired->steps},
                                   {"impossible", repaired->impossible},
                                   {"applied", repaired->after.has_value()},
                                   {"copies", repaired->copies}};
    if (repaired->after)
      summary["after"] = {{"errors", repaired->after->errors}, {"warnings", repaired->after->warnings}};
    Console::print(summary.dump());
    return good ? kOk : kFailed;
  }
  for (const std::string& copies : repaired->copies) Console::print("copies of what was changed: " + copies);
  if (repaired->steps == 0)
    Console::print("nothing to do");
  else if (!repair_.apply)
    Console::print(fmt::format(
        "{}, nothing was touched: --apply takes them{}", counted(repaired->steps, "step"),
        repaired->impossible > 0 ? fmt::format(", but {} that no program should decide", repaired->impossible) : ""));
  else if (repaired->after)
    Console::print(good ? "verified: good"
                        : fmt::format("verified: {} errors and {} warnings are left, `tidemark verify` tells them",
                                      repaired->after->errors, repaired->after->warnings));
  return good ? kOk : kFailed;
}

int StorageCommands::verify() {
  if (complainOfTwice("verify", verify_.directories)) return kUsage;
  Files files("verify");
  LongWork work("checked");
  Lines lines;
  inspect::VerifyOptions options;
  if (verify_.indexInterval > 0) options.indexIntervalBytes = verify_.indexInterval;
  options.progress = [&](uint64_t bytes) { return lines.open() && work.advance(bytes); };
  const auto checked =
      inspect::verify(files.process(), verify_.directories, options, [&](const inspect::Finding& finding) {
        if (verify_.quiet && finding.severity == inspect::Severity::Note) return;
        lines.add(verify_.json ? inspect::findingJson(finding) : inspect::findingText(finding));
      });
  if (LongWork::interrupted()) return kInterrupted;
  if (!checked) {
    lines.flush();
    if (!lines.open()) return kFailed;
    Console::complain("tidemark: verify: " + checked.error().message);
    return kUsage;
  }
  const bool good = checked->errors == 0 && checked->warnings == 0;
  if (verify_.json)
    lines.add(nlohmann::ordered_json{{"is", "summary"},
                                     {"directories", checked->directories},
                                     {"partitions", checked->partitions},
                                     {"segments", checked->segments},
                                     {"batches", checked->batches},
                                     {"records", checked->records},
                                     {"bytes", checked->bytes},
                                     {"errors", checked->errors},
                                     {"warnings", checked->warnings},
                                     {"notes", checked->notes},
                                     {"inUse", checked->inUse}}
                  .dump());
  else
    lines.add(fmt::format("{}{}: {}, {}, {}, {}, {}: {}, {}, {}", good ? "good" : "not good",
                          checked->inUse ? ", while a broker runs" : "", counted(checked->partitions, "partition"),
                          counted(checked->segments, "segment"), counted(checked->batches, "batch", "es"),
                          counted(checked->records, "record"), counted(checked->bytes, "byte"),
                          counted(checked->errors, "error"), counted(checked->warnings, "warning"),
                          counted(checked->notes, "note")));
  return good ? kOk : kFailed;
}

int StorageCommands::dumpLog() {
  std::vector<std::string> paths = dumpLog_.files;
  paths.insert(paths.end(), dumpLog_.commaFiles.begin(), dumpLog_.commaFiles.end());
  if (paths.empty()) {
    Console::complain("tidemark: dump-log: name the files or folders to show");
    return kUsage;
  }
  inspect::DumpOptions options;
  options.json = dumpLog_.json;
  options.deep = dumpLog_.deep;
  options.skipBatches = dumpLog_.skipBatches;
  options.onlyCheck = dumpLog_.onlyCheck;
  options.check = !dumpLog_.noCheck;
  options.maxBytes = dumpLog_.maxBytes;
  options.records = dumpLog_.records || dumpLog_.printDataLog;
  const std::pair<bool, inspect::RecordSchema> decoders[] = {
      {dumpLog_.metadata, inspect::RecordSchema::Metadata},
      {dumpLog_.offsets, inspect::RecordSchema::Offsets},
      {dumpLog_.transactions, inspect::RecordSchema::Transactions},
      {dumpLog_.shareState, inspect::RecordSchema::ShareState}};
  for (const auto& [wanted, schema] : decoders) {
    if (!wanted) continue;
    if (options.schema) {
      Console::complain("tidemark: dump-log: one decoder at a time");
      return kUsage;
    }
    options.schema = schema;
    options.records = true;
  }
  Files files("dump-log");
  LongWork work("read");
  Lines lines;
  options.progress = [&](uint64_t bytes) { return lines.open() && work.advance(bytes); };
  int status = kOk;
  for (const std::string& path : paths) {
    const auto dumped = inspect::dump(*files, path, options, [&lines](std::string_view line) { lines.add(line); });
    lines.flush();
    if (LongWork::interrupted()) return kInterrupted;
    if (!lines.open()) return kFailed;
    if (!dumped) {
      Console::complain("tidemark: " + dumped.error().message);
      // What was named cannot be shown at all; the others can.
      status = dumped.error().code == ErrorCode::InvalidRequest ? kUsage : kFailed;
    } else if (dumped->errors > 0 && status == kOk) {
      status = kFailed;
    }
  }
  return status;
}

}  // namespace tidemark::app
