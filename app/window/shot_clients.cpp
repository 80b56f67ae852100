#include "shot_clients.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include <librdkafka/rdkafka.h>

namespace tidemark::widgets {

namespace {

constexpr int kPollMs = 100;
constexpr int kTimeoutMs = 20'000;

rd_kafka_t* makeClient(rd_kafka_type_t type, const std::vector<std::pair<std::string, std::string>>& settings) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char reason[512];
  for (const auto& [key, value] : settings) rd_kafka_conf_set(conf, key.c_str(), value.c_str(), reason, sizeof reason);
  rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
  return rd_kafka_new(type, conf, reason, sizeof reason);
}

}  // namespace

ShotConsumers::~ShotConsumers() {
  for (auto& member : members_) member->running = false;
  for (auto& member : members_) {
    member->thread.join();
    rd_kafka_destroy_flags(member->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  }
}

void ShotConsumers::add(const std::string& bootstrap, const std::string& group, const std::string& clientId,
                        const std::string& topic) {
  auto member = std::make_unique<Member>();
  member->client = makeClient(RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap},
                                                  {"group.id", group},
                                                  {"client.id", clientId},
                                                  {"auto.offset.reset", "earliest"},
                                                  {"auto.commit.interval.ms", "1000"},
                                                  {"partition.assignment.strategy", "range"},
                                                  {"topic.metadata.refresh.interval.ms", "5000"}});
  rd_kafka_poll_set_consumer(member->client);
  rd_kafka_topic_partition_list_t* topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, topic.c_str(), RD_KAFKA_PARTITION_UA);
  rd_kafka_subscribe(member->client, topics);
  rd_kafka_topic_partition_list_destroy(topics);
  member->thread = std::thread([member = member.get()] {
    // Whoever is busy polls no more; its client's own threads go on.
    while (member->running && !member->busy)
      if (rd_kafka_message_t* message = rd_kafka_consumer_poll(member->client, kPollMs))
        rd_kafka_message_destroy(message);
  });
  members_.push_back(std::move(member));
}

void ShotConsumers::keepBusy(size_t member) {
  members_.at(member)->busy = true;
}

struct ShotProducers::Instance {
  rd_kafka_t* client = nullptr;
  bool open = false;
};

struct ShotProducers::State {
  std::string bootstrap;
  std::string topic;
  /// By transactional id, oldest first. Of the thread.
  std::map<std::string, std::vector<Instance>> instances;

  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void(State&)>> steps;
  bool stopping = false;
  std::string problem;

  void check(rd_kafka_error_t* error) {
    if (error == nullptr) return;
    const std::lock_guard lock(mutex);
    if (problem.empty()) problem = rd_kafka_error_string(error);
    rd_kafka_error_destroy(error);
  }
};

ShotProducers::ShotProducers(std::string bootstrap, std::string topic) : state_(std::make_shared<State>()) {
  state_->bootstrap = std::move(bootstrap);
  state_->topic = std::move(topic);
  thread_ = std::thread([this] {
    State& state = *state_;
    while (true) {
      std::unique_lock lock(state.mutex);
      state.wake.wait(lock, [&] { return state.stopping || !state.steps.empty(); });
      if (state.stopping) break;
      auto step = std::move(state.steps.front());
      state.steps.pop_front();
      lock.unlock();
      step(state);
      --left_;
    }
    for (auto& [id, all] : state.instances)
      for (Instance& one : all) rd_kafka_destroy(one.client);
  });
}

ShotProducers::~ShotProducers() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
  thread_.join();
}

void ShotProducers::post(std::function<void(State&)> step) {
  ++left_;
  const std::lock_guard lock(state_->mutex);
  state_->steps.push_back(std::move(step));
  state_->wake.notify_all();
}

std::string ShotProducers::problem() const {
  const std::lock_guard lock(state_->mutex);
  return state_->problem;
}

void ShotProducers::start(const std::string& transactionalId) {
  post([transactionalId](State& state) {
    rd_kafka_t* client = makeClient(RD_KAFKA_PRODUCER, {{"bootstrap.servers", state.bootstrap},
                                                        {"transactional.id", transactionalId},
                                                        {"client.id", transactionalId},
                                                        {"transaction.timeout.ms", "60000"},
                                                        {"linger.ms", "5"}});
    state.check(rd_kafka_init_transactions(client, kTimeoutMs));
    state.instances[transactionalId].push_back({client});
  });
}

void ShotProducers::write(const std::string& transactionalId, int partition, int records, int instance) {
  post([=](State& state) {
    auto& all = state.instances[transactionalId];
    Instance& one = instance < 0 ? all.back() : all.at(static_cast<size_t>(instance));
    if (!one.open) {
      rd_kafka_error_t* error = rd_kafka_begin_transaction(one.client);
      // One that was fenced before it noticed has its transaction open still.
      if (error != nullptr && instance >= 0)
        rd_kafka_error_destroy(error);
      else
        state.check(error);
      one.open = true;
    }
    for (int i = 0; i < records; ++i)
      rd_kafka_producev(one.client, RD_KAFKA_V_TOPIC(state.topic.c_str()), RD_KAFKA_V_PARTITION(partition),
                        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(const_cast<char*>("a transfer"), 10),
                        RD_KAFKA_V_END);
    rd_kafka_flush(one.client, instance < 0 ? kTimeoutMs : 1000);
  });
}

void ShotProducers::commit(const std::string& transactionalId) {
  post([transactionalId](State& state) {
    Instance& one = state.instances[transactionalId].back();
    state.check(rd_kafka_commit_transaction(one.client, kTimeoutMs));
    one.open = false;
  });
}

void ShotProducers::abort(const std::string& transactionalId) {
  post([transactionalId](State& state) {
    Instance& one = state.instances[transactionalId].back();
    state.check(rd_kafka_abort_transaction(one.client, kTimeoutMs));
    one.open = false;
  });
}

}  // namespace tidemark::widgets
