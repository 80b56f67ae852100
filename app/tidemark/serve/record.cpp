#include "tidemark/serve/record.h"

#include <fmt/format.h>

namespace tidemark::app {
namespace {

/// What happens within this time is written together.
constexpr auto kTogether = std::chrono::milliseconds(50);

}  // namespace

Record::~Record() {
  static_cast<void>(end());
}

Result<void> Record::begin(observe::ClusterSource& source, const std::string& path) {
  file_.open(path, std::ios::trunc);
  if (!file_) return fail(ErrorCode::InvalidRequest, fmt::format("{} cannot be written", path));
  source_ = &source;
  path_ = path;
  writer_.emplace([this](std::string_view line) { file_ << line << '\n'; });
  source.onChange([this] {
    const std::lock_guard lock(mutex_);
    due_ = true;
    changed_.notify_one();
  });
  thread_ = std::thread([this] { run(); });
  return {};
}

void Record::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait(lock, [this] { return due_ || ending_; });
    changed_.wait_for(lock, kTogether, [this] { return ending_; });
    due_ = false;
    lock.unlock();
    take(*source_->snapshot());
    lock.lock();
  }
}

void Record::take(const observe::ClusterSnapshot& cluster) {
  const std::lock_guard lock(writing_);
  const observe::EventBatch batch = source_->drainEvents(told_, SIZE_MAX);
  told_ = batch.last;
  lostEvents_ = cluster.lostEvents;
  for (const observe::ObservedEvent& event : batch.events) writer_->add(event);
  writer_->add(cluster);
}

Result<void> Record::end() {
  if (!thread_.joinable()) return {};
  source_->onChange({});
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_one();
  }
  thread_.join();
  take(*source_->snapshot());
  file_.close();
  if (!file_) return fail(ErrorCode::KafkaStorageError, fmt::format("{} could not be written to its end", path_));
  return {};
}

}  // namespace tidemark::app
