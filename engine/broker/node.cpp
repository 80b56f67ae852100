#include "broker/node.h"

namespace tidemark::broker {

Node::Node(platform::Process& process, events::Recorder& recorder, NodeOptions options)
    : shared_(std::make_unique<Shared>(process, recorder, std::move(options))) {}

Node::~Node() = default;

Result<void> Node::open() {
  TIDEMARK_TRY(shared_->open());
  if (shared_->config().isController()) controller_ = std::make_unique<ControllerServer>(*shared_);
  if (shared_->config().isBroker()) broker_ = std::make_unique<BrokerServer>(*shared_);
  // All addresses are taken before anything runs: a port in use leaves no trace.
  if (controller_) TIDEMARK_TRY(controller_->listen());
  if (broker_) TIDEMARK_TRY(broker_->listen());
  return {};
}

void Node::start() {
  shared_->raft->registerListener(shared_->loader);
  shared_->raft->start();
  if (controller_) controller_->start();
  if (broker_) broker_->start();
}

void Node::shutdownBroker(platform::Duration timeout, platform::Task done) {
  if (broker_) {
    broker_->shutdown(timeout, std::move(done));
  } else {
    shared_->background->post(std::move(done));
  }
}

void Node::shutdownController(platform::Duration timeout, platform::Task done) {
  auto stopRaft = [this, timeout, done = std::move(done)]() mutable {
    shared_->raft->shutdown(timeout, std::move(done));
  };
  if (controller_) {
    controller_->shutdown(std::move(stopRaft));
  } else {
    stopRaft();
  }
}

}  // namespace tidemark::broker
