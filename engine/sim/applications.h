#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/consumer.h"
#include "client/group_consumer.h"
#include "client/producer.h"
#include "platform/simulated/generator.h"
#include "platform/simulated/world.h"
#include "sim/journal.h"

namespace tidemark::sim {

/// A client's process. Destroying it kills the process.
class Application {
 public:
  Application(platform::World& world, const std::string& name, const std::vector<platform::Endpoint>& bootstrap);
  virtual ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  const std::string& name() const noexcept { return name_; }

 protected:
  /// In its destructor a class kills the process before what its tasks use goes.
  void end();

  const std::string name_;
  const std::shared_ptr<platform::SimulatedProcess> process_;
  const std::shared_ptr<platform::Executor> executor_;
  std::unique_ptr<client::Client> client_;
};

/// Sends records of its own to all partitions, a few at a time, until it is told to stop.
class Writer final : public Application {
 public:
  struct Options {
    client::ProducerOptions producer;
    platform::Duration pause = std::chrono::milliseconds(60);
    int burst = 6;
  };
  Writer(platform::World& world, const std::string& name, const std::vector<platform::Endpoint>& bootstrap,
         std::string topic, int partitions, Options options, uint64_t seed, Journal& journal);
  ~Writer() override;

  void stop() noexcept { stopped_ = true; }
  size_t unanswered() const noexcept { return unanswered_; }
  size_t failed() const noexcept { return failed_; }

 private:
  void tick();

  const std::string topic_;
  const int partitions_;
  const Options options_;
  platform::Generator choices_;
  Journal& journal_;
  std::unique_ptr<client::Producer> producer_;
  platform::Timer timer_;
  bool stopped_ = false;
  int64_t next_ = 0;
  size_t unanswered_ = 0;
  size_t failed_ = 0;
};

class TransactionHistory;

/// Reads partitions from their beginning.
class Reader final : public Application {
 public:
  using Records = std::map<TopicPartition, std::map<Offset, std::string>>;
  /// `history`: is told what is read in read_committed; null in read_uncommitted.
  Reader(platform::World& world, const std::string& name, const std::vector<platform::Endpoint>& bootstrap,
         const std::vector<TopicPartition>& partitions, client::IsolationLevel isolation, Journal& journal,
         TransactionHistory* history);
  ~Reader() override;

  const Records& records() const noexcept { return records_; }
  const std::string& error() const noexcept { return error_; }

 private:
  std::unique_ptr<client::Consumer> consumer_;
  Records records_;
  std::string error_;
};

}  // namespace tidemark::sim
