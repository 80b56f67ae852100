#include "faults/faulty_handler.h"

#include <utility>

#include "faults/refusals.h"
#include "protocol/api.h"

namespace tidemark::faults {
namespace {

/// Requests that are dropped keep their connections; beyond so many the oldest are closed.
constexpr size_t kMostDropped = 1000;

}  // namespace

/// Requests that come late, and those that are never answered. On an executor of its own.
class FaultyHandler::Waiting final : public LinkWaiter, public std::enable_shared_from_this<FaultyHandler::Waiting> {
 public:
  Waiting(network::RequestHandler& below, platform::Process& process, std::shared_ptr<FaultBook> book)
      : below_(below),
        executor_(process.createExecutor({.name = "request-faults", .threads = 1})),
        book_(std::move(book)) {}

  void delay(network::RequestPtr request, Duration by) {
    executor_->post([this, request = std::move(request), by]() mutable {
      Late& late = late_.emplace_back();
      late.request = std::move(request);
      late.timer = executor_->schedule(by, [this, at = std::prev(late_.end())] {
        // Its timer goes with it: not from inside.
        executor_->post([timer = std::move(at->timer)] {});
        network::RequestPtr due = std::move(at->request);
        late_.erase(at);
        below_.handle(std::move(due));
      });
    });
  }

  /// Until the fault is healed: then its connection is closed.
  void drop(network::RequestPtr request, int fault) {
    request->releaseFrame();
    executor_->post([this, request = std::move(request), fault]() mutable {
      if (dropped_.size() == kMostDropped) dropped_.pop_front();
      dropped_.push_back({.fault = fault, .request = std::move(request)});
      // One that was over with this request is looked for at the next change.
      static_cast<void>(book_->acts(fault, weak_from_this()));
    });
  }

  void linksChanged() override {
    executor_->post([weak = weak_from_this()] {
      if (const auto self = std::static_pointer_cast<Waiting>(weak.lock())) self->look();
    });
  }

 private:
  struct Late {
    network::RequestPtr request;
    platform::Timer timer;
  };
  struct Dropped {
    int fault;
    network::RequestPtr request;
  };

  void look() {
    std::map<int, bool> acts;
    for (const Dropped& each : dropped_)
      if (!acts.contains(each.fault)) acts[each.fault] = book_->acts(each.fault, weak_from_this());
    std::list<Dropped> healed;
    for (auto at = dropped_.begin(); at != dropped_.end();) {
      const auto next = std::next(at);
      if (!acts[at->fault]) healed.splice(healed.end(), dropped_, at);
      at = next;
    }
    for (Dropped& each : healed) each.request->close("the lab had dropped it");
  }

  network::RequestHandler& below_;
  const std::shared_ptr<platform::Executor> executor_;
  const std::shared_ptr<FaultBook> book_;
  std::list<Late> late_;
  std::list<Dropped> dropped_;
};

FaultyHandler::FaultyHandler(network::RequestHandler& below, platform::Process& process,
                             std::shared_ptr<FaultBook> book, NodeId node, TopicName topicName)
    : below_(below),
      process_(process),
      book_(std::move(book)),
      site_(book_->site(node)),
      topicName_(std::move(topicName)) {}

FaultyHandler::~FaultyHandler() = default;

FaultyHandler::Waiting& FaultyHandler::waiting() {
  const Lock lock(mutex_);
  if (!waiting_) waiting_ = std::make_shared<Waiting>(below_, process_, book_);
  return *waiting_;
}

void FaultyHandler::judge(network::RequestPtr request) {
  const std::string_view api = protocol::apiName(request->apiKey());
  const std::string_view client = request->context().clientId();
  std::vector<TopicPartition> named;
  if (book_->askWhatIsNamed(site_->node(), api, client))
    named = namedIn(request->apiKey(), request->apiVersion(), request->body(), topicName_);
  const RequestVerdict verdict = book_->request(site_->node(), api, client, named);
  if (verdict.disconnects) return request->close("the lab ends its connection");
  if (verdict.droppedBy != 0) return waiting().drop(std::move(request), verdict.droppedBy);
  if (verdict.error != ErrorCode::None) return refuse(std::move(request), verdict.error);
  if (verdict.delay > Duration{}) return waiting().delay(std::move(request), verdict.delay);
  below_.handle(std::move(request));
}

}  // namespace tidemark::faults
