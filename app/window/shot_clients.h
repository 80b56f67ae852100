#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct rd_kafka_s;

namespace tidemark::widgets {

/// Members of a group for pictures: each on a thread of its own, as applications would be. They commit every second.
class ShotConsumers {
 public:
  ~ShotConsumers();
  void add(const std::string& bootstrap, const std::string& group, const std::string& clientId,
           const std::string& topic);
  /// From now on the application of this member is busy: it polls no more, and so does not join again.
  void keepBusy(size_t member);
  size_t size() const noexcept { return members_.size(); }

 private:
  struct Member {
    rd_kafka_s* client = nullptr;
    std::thread thread;
    std::atomic<bool> running{true};
    std::atomic<bool> busy{false};
  };
  std::vector<std::unique_ptr<Member>> members_;
};

/// Transactional producers for pictures: what they do is said step by step, each step on one thread behind the other.
class ShotProducers {
 public:
  ShotProducers(std::string bootstrap, std::string topic);
  ~ShotProducers();
  /// A first look at the transactional id, or another instance of it that fences the one before.
  void start(const std::string& transactionalId);
  /// In a transaction that is begun if none is open; `instance` counts from 0, the newest by default.
  void write(const std::string& transactionalId, int partition, int records, int instance = -1);
  void commit(const std::string& transactionalId);
  void abort(const std::string& transactionalId);
  /// All steps so far are done.
  bool idle() const noexcept { return left_ == 0; }
  /// The first thing that went wrong against expectations.
  std::string problem() const;

 private:
  struct Instance;
  struct State;
  void post(std::function<void(State&)> step);

  std::shared_ptr<State> state_;
  std::atomic<int> left_{0};
  std::thread thread_;
};

}  // namespace tidemark::widgets
