#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "network/request.h"
#include "network/stage.h"

namespace tidemark::test {

/// Requests that a test keeps and answers by itself, in the order in which they came; the first one is number 1.
class HeldRequests {
 public:
  explicit HeldRequests(Stage& stage) : stage_(stage) {}

  /// On a broker's thread, as FakeCluster::takes is called.
  void take(network::RequestPtr& request) { held_.push_back(std::move(request)); }
  void clear() { held_.clear(); }

  /// As part of a predicate.
  size_t count() const { return held_.size(); }
  bool reach(size_t number) {
    return stage_.await([&] { return held_.size() >= number; });
  }
  /// Waits for it. What it says refers to the request itself, until that is answered.
  template <class Request>
  Request read(size_t number) {
    Request request;
    EXPECT_TRUE(reach(number));
    stage_.change([&] {
      auto decoded = held_.at(number - 1)->template decode<Request>();
      ASSERT_TRUE(decoded) << "another request than was expected";
      request = std::move(*decoded);
    });
    return request;
  }
  template <class Response>
  void answer(size_t number, const Response& response) {
    ASSERT_TRUE(reach(number));
    stage_.change([&] { held_.at(number - 1)->respond(response); });
  }

 private:
  Stage& stage_;
  std::vector<network::RequestPtr> held_;
};

}  // namespace tidemark::test
