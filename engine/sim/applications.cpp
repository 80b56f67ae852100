#include "sim/applications.h"

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

ByteVector bytesOf(const std::string& text) {
  const ByteView view = asBytes(text);
  return {view.begin(), view.end()};
}

std::string_view valueOf(const client::ConsumedRecord& record) {
  return record.record.value ? asText(*record.record.value) : std::string_view();
}

}  // namespace

Application::Application(platform::World& world, const std::string& name,
                         const std::vector<platform::Endpoint>& bootstrap)
    : name_(name),
      process_(world.createProcess({.name = name})),
      executor_(process_->createExecutor({.name = "client"})) {
  client::ClientOptions options;
  options.bootstrap = bootstrap;
  options.clientId = name;
  client_ = std::make_unique<client::Client>(*process_, executor_, std::move(options));
}

Application::~Application() {
  end();
}

void Application::end() {
  process_->kill("it ends");
  process_->awaitStopped();
}

// --- Writer
// -----------------------------------------------------------------------------------------------------------

Writer::Writer(platform::World& world, const std::string& name, const std::vector<platform::Endpoint>& bootstrap,
               std::string topic, int partitions, Options options, uint64_t seed, Journal& journal)
    : Application(world, name, bootstrap),
      topic_(std::move(topic)),
      partitions_(partitions),
      options_(options),
      choices_(platform::mix(seed, name)),
      journal_(journal) {
  producer_ = std::make_unique<client::Producer>(*client_, options_.producer);
  executor_->post([this] { tick(); });
}

Writer::~Writer() {
  end();
}

void Writer::tick() {
  if (stopped_) return;
  // Whoever is not answered does not go on for ever.
  if (unanswered_ < 200) {
    for (uint64_t left = 1 + choices_.below(static_cast<uint64_t>(options_.burst)); left > 0; --left) {
      const std::string value = fmt::format("{}:{}", name_, next_++);
      ++unanswered_;
      producer_->send({.topic = topic_,
                       .partition = static_cast<int32_t>(choices_.below(static_cast<uint64_t>(partitions_))),
                       .key = {},
                       .value = bytesOf(value),
                       .headers = {},
                       .timestampMs = {}},
                      [this, value](const Result<client::Delivered>& delivered) {
                        --unanswered_;
                        if (delivered) {
                          journal_.acknowledged(delivered->where, delivered->offset, value,
                                                options_.producer.acks == -1);
                        } else {
                          ++failed_;
                          if (options_.producer.idempotent) journal_.refused(name_, delivered.error());
                        }
                      });
    }
  }
  timer_ = executor_->schedule(choices_.around(options_.pause), [this] { tick(); });
}

// --- Reader
// -----------------------------------------------------------------------------------------------------------

Reader::Reader(platform::World& world, const std::string& name, const std::vector<platform::Endpoint>& bootstrap,
               const std::string& topic, int partitions, Journal& journal)
    : Application(world, name, bootstrap) {
  executor_->post([this, topic, partitions, &journal] {
    consumer_ = std::make_unique<client::Consumer>(
        *client_, client::ConsumerOptions{},
        [this, &journal](const client::ConsumedRecord& record) {
          journal.consumed(record.where, record.record.offset, valueOf(record));
          records_[record.where].emplace(record.record.offset, valueOf(record));
        },
        [this](const TopicPartition& where, const Error& error) {
          error_ = fmt::format("{}: {}", where, error.message);
        });
    std::vector<client::Consumer::Position> positions;
    for (int i = 0; i < partitions; ++i) positions.push_back({.where = {topic, PartitionIndex(i)}, .offset = {}});
    consumer_->assign(std::move(positions));
  });
}

Reader::~Reader() {
  end();
}

// --- Member
// -----------------------------------------------------------------------------------------------------------

Member::Member(platform::World& world, const std::string& name, const std::vector<platform::Endpoint>& bootstrap,
               const std::string& topic, Journal& journal, Assignments& assignments)
    : Application(world, name, bootstrap) {
  executor_->post([this, topic, &journal, &assignments] {
    client::GroupOptions options;
    options.groupId = "readers";
    options.topics = {topic};
    options.sessionTimeout = std::chrono::seconds(6);
    options.rebalanceTimeout = std::chrono::seconds(10);
    options.heartbeatInterval = std::chrono::seconds(1);
    options.autoCommitInterval = platform::Duration(0);
    consumer_ = std::make_unique<client::GroupConsumer>(
        *client_, std::move(options),
        [this, &journal](const client::ConsumedRecord& record) {
          journal.consumed(record.where, record.record.offset, valueOf(record));
          if (const auto begins = begins_.extract(record.where))
            journal.groupBegins(name_, record.where, record.record.offset, begins.mapped());
          positions_[record.where] = record.record.offset.next();
        },
        [this, &journal, &assignments](int32_t generation, const std::vector<TopicPartition>& partitions) {
          assignments.assigned(name_, generation, partitions);
          begins_.clear();
          positions_.clear();
          committing_ = isInDoubt_ = false;
          for (const TopicPartition& each : partitions) begins_[each] = journal.groupOffset(each);
        },
        [this](const Error& error) { error_ = error.message; });
    commit(journal);
  });
}

void Member::commit(Journal& journal) {
  // One after the other: of two on their way the older may be the one that stays. So it may be with one that had no
  // answer: until the next generation fences it off nothing is certain.
  if (!positions_.empty() && !committing_) {
    committing_ = true;
    consumer_->commit([this, &journal, committed = positions_](const Result<void>& result) {
      committing_ = false;
      isInDoubt_ |= !result;
      if (isInDoubt_) return;
      for (const auto& [partition, offset] : committed) journal.groupCommitted(partition, offset);
    });
  }
  timer_ = executor_->schedule(std::chrono::milliseconds(700), [this, &journal] { commit(journal); });
}

Member::~Member() {
  end();
}

}  // namespace tidemark::sim
