#include "network/request_queue.h"

#include <gtest/gtest.h>

#include <deque>

#include "network/processor.h"

namespace tidemark::network {
namespace {

/// Keeps its tasks until they are asked for.
class HeldExecutor final : public platform::Executor {
 public:
  void post(platform::Task task) override { tasks.push_back(std::move(task)); }
  platform::Timer schedule(platform::Duration /*after*/, platform::Task /*task*/) override { return {}; }
  bool isCurrent() const noexcept override { return false; }
  void stall(platform::Duration /*duration*/) override {}
  const std::string& name() const noexcept override { return name_; }

  bool runOne() {
    if (tasks.empty()) return false;
    auto task = std::move(tasks.front());
    tasks.pop_front();
    task();
    return true;
  }
  std::deque<platform::Task> tasks;

 private:
  std::string name_ = "held";
};

struct Sink final : AnswerSink {
  void answer(Answer answer) override { kinds.push_back(answer.kind); }
  std::vector<Answer::Kind> kinds;
};

struct SmallFrame final : Frame {
  SmallFrame() : Frame(memory) {}
  uint8_t memory[4] = {};
};

class RequestQueueTest : public testing::Test, public RequestHandler {
 protected:
  ~RequestQueueTest() override { executor->tasks.clear(); }  // Each holds the queue, which holds the executor.

  void handle(RequestPtr request) override {
    order.push_back(request->context().correlationId);
    if (inside) inside();
    request->noResponse();
  }
  RequestPtr request(int32_t correlationId) {
    RequestContext context;
    context.correlationId = correlationId;
    return std::make_unique<Request>(sink, std::move(context), std::make_shared<SmallFrame>(), 0);
  }

  std::shared_ptr<HeldExecutor> executor = std::make_shared<HeldExecutor>();
  std::shared_ptr<Sink> sink = std::make_shared<Sink>();
  std::shared_ptr<RequestQueue> queue = std::make_shared<RequestQueue>(executor, *this, nullptr, 2);
  std::vector<int32_t> order;
  std::function<void()> inside;
};

TEST_F(RequestQueueTest, LetsRequestsAboveItsBoundWaitAndTakesThemInOrder) {
  EXPECT_TRUE(queue->offer(request(1)));
  EXPECT_TRUE(queue->offer(request(2)));
  EXPECT_FALSE(queue->offer(request(3)));
  EXPECT_FALSE(queue->offer(request(4)));
  EXPECT_EQ(queue->load().queued, 2u);
  EXPECT_EQ(queue->load().waiting, 2u);
  EXPECT_EQ(executor->tasks.size(), 2u) << "never more ahead of the handlers than the bound";
  executor->runOne();
  EXPECT_EQ(queue->load().queued, 2u);
  EXPECT_EQ(queue->load().waiting, 1u);
  EXPECT_FALSE(queue->offer(request(5))) << "nobody overtakes one that waits";
  while (executor->runOne()) {
  }
  EXPECT_EQ(order, (std::vector<int32_t>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(queue->offer(request(6)));
}

TEST_F(RequestQueueTest, DropsWhatIsQueuedWhenItStops) {
  queue->offer(request(1));
  queue->offer(request(2));
  queue->offer(request(3));
  bool idle = false;
  queue->stop([&] { idle = true; });
  EXPECT_TRUE(idle);
  EXPECT_EQ(sink->kinds, (std::vector<Answer::Kind>(3, Answer::Kind::Close)));
  while (executor->runOne()) {
  }
  EXPECT_TRUE(order.empty());
  EXPECT_TRUE(queue->offer(request(4)));
  EXPECT_EQ(sink->kinds.size(), 4u);
}

TEST_F(RequestQueueTest, IsIdleOnlyAfterTheLastHandlerReturned) {
  bool idle = false;
  inside = [&] {
    queue->stop([&] { idle = true; });
    EXPECT_FALSE(idle);
  };
  queue->offer(request(1));
  executor->runOne();
  EXPECT_TRUE(idle);
}

TEST_F(RequestQueueTest, LetsAProcessorHandleARequestItselfWhenNothingIsBeforeIt) {
  RequestPtr first = request(1);
  EXPECT_TRUE(queue->handleHere(first));
  EXPECT_EQ(order, (std::vector<int32_t>{1}));
  EXPECT_TRUE(executor->tasks.empty());
  queue->offer(request(2));
  RequestPtr third = request(3);
  EXPECT_FALSE(queue->handleHere(third)) << "nobody overtakes one that is queued";
  ASSERT_TRUE(third);
  queue->offer(std::move(third));
  while (executor->runOne()) {
  }
  EXPECT_EQ(order, (std::vector<int32_t>{1, 2, 3}));
  bool idle = false;
  inside = [&] {
    queue->stop([&] { idle = true; });
    EXPECT_FALSE(idle) << "it runs, wherever that is";
  };
  RequestPtr fourth = request(4);
  EXPECT_TRUE(queue->handleHere(fourth));
  EXPECT_TRUE(idle);
  RequestPtr late = request(5);
  EXPECT_FALSE(queue->handleHere(late));
}

TEST(OwnHandling, LeavesTheNextRequestsToThePoolAfterOneThatTookLong) {
  OwnHandling rule;
  EXPECT_TRUE(rule.allows());
  rule.took(OwnHandling::kQuick);
  EXPECT_TRUE(rule.allows());
  rule.took(OwnHandling::kQuick + platform::Duration(1));
  for (int i = 0; i < OwnHandling::kAbstain; ++i) EXPECT_FALSE(rule.allows());
  EXPECT_TRUE(rule.allows());
}

TEST_F(RequestQueueTest, ARequestAnswersOnceAndOnlyOnce) {
  {
    const RequestPtr twice = request(1);
    twice->close();
    EXPECT_TRUE(twice->answered());
    EXPECT_THROW(twice->noResponse(), InvariantBroken);
  }
  request(2).reset();
  EXPECT_EQ(sink->kinds, (std::vector<Answer::Kind>{Answer::Kind::Close, Answer::Kind::Close}));
}

}  // namespace
}  // namespace tidemark::network
