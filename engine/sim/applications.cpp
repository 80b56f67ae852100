#include "sim/applications.h"

#include <fmt/format.h>

#include "sim/transaction_history.h"

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
               const std::vector<TopicPartition>& partitions, client::IsolationLevel isolation, Journal& journal,
               TransactionHistory* history)
    : Application(world, name, bootstrap) {
  executor_->post([this, partitions, isolation, &journal, history] {
    consumer_ = std::make_unique<client::Consumer>(
        *client_, client::ConsumerOptions{.isolation = isolation},
        [this, &journal, history](const client::ConsumedRecord& record) {
          journal.consumed(record.where, record.record.offset, valueOf(record));
          if (history != nullptr)
            history->sawCommitted(name_, record.where, record.record.offset, valueOf(record),
                                  consumer_->highWatermark(record.where));
          records_[record.where].emplace(record.record.offset, valueOf(record));
        },
        [this](const TopicPartition& where, const Error& error) {
          error_ = fmt::format("{}: {}", where, error.message);
        });
    std::vector<client::Consumer::Position> positions;
    for (const TopicPartition& each : partitions) positions.push_back({.where = each});
    consumer_->assign(std::move(positions));
  });
}

Reader::~Reader() {
  end();
}

}  // namespace tidemark::sim
