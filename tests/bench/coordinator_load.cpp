// The load of the rows of `coordinator`: thousands of members of groups, or transactional producers, on raw protocol.
//
//   tidemark_bench_coordinator groups --kind classic|consumer --port P --prefix X --topic T --partitions N
//     --groups G --members M --lanes L --heartbeats H --commits C --rebalances R
//     --interval SECONDS --stand-by SECONDS
//   tidemark_bench_coordinator exchange …   as groups, with members who never joined: to what answers whoever comes
//   tidemark_bench_coordinator transactions --port P --prefix X --topic T --partitions N --producers K --transactions C
//
// Works stage by stage. Before each it waits for a line on its standard input, so that whoever runs it can look at the
// broker, and after it prints one line of JSON: {"stage", "count", "seconds"}, of rebalances also "milliseconds" each,
// of the stand-by also "heartbeats". X names groups and transactional ids; a name that is new makes them new. The
// broker is on 127.0.0.1.

#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>

#include <fmt/ranges.h>

#include "group_load.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"
#include "transaction_load.h"

#include "options.h"

namespace {

using namespace tidemark;
using bench::Links;
using bench::Options;

/// What `body` answers is added to the line as it is.
template <class Body>
void stage(std::string_view name, size_t count, Body body) {
  std::string line;
  if (!std::getline(std::cin, line)) throw std::runtime_error("the standard input ended");
  const auto began = Links::Clock::now();
  const std::string more = body();
  const double seconds = std::chrono::duration<double>(Links::Clock::now() - began).count();
  fmt::print("{{\"stage\":\"{}\",\"count\":{},\"seconds\":{:.6f}{}}}\n", name, count, seconds, more);
  std::fflush(stdout);
}

Uuid topicId(Links& links, const std::string& topic) {
  constexpr int16_t kVersion = 12;
  Uuid found;
  protocol::MetadataRequest request;
  request.topics.emplace().emplace_back().name = protocol::Text(topic);
  links.ask(0, request, kVersion, [&](const protocol::MetadataResponse& response) {
    bench::expect(response.topics.at(0).errorCode, "Metadata");
    found = response.topics.at(0).topicId;
  });
  links.run();
  return found;
}

bench::GroupShape shapeOf(const Options& options) {
  return {.prefix = options.text("prefix"),
          .topic = options.text("topic"),
          .topicId = {},
          .partitions = static_cast<int32_t>(options.size("partitions")),
          .groups = options.size("groups"),
          .members = options.size("members"),
          .lanes = options.size("lanes")};
}

std::unique_ptr<bench::GroupLoad> loadOf(const std::string& kind, Links& links, const bench::GroupShape& shape) {
  if (kind == "classic") return std::make_unique<bench::ClassicLoad>(links, shape);
  return std::make_unique<bench::ConsumerLoad>(links, shape);
}

/// What members do for most of their life.
void stages(const Options& options, bench::GroupLoad& load, size_t members) {
  const size_t heartbeats = options.size("heartbeats"), commits = options.size("commits");
  stage("heartbeat", members * heartbeats, [&] { return load.heartbeat(heartbeats), std::string(); });
  stage("commit", members * commits, [&] { return load.commit(commits), std::string(); });
  stage("stand-by", members, [&] {
    const std::chrono::duration<double> interval(std::stod(options.text("interval"))),
        span(std::stod(options.text("stand-by")));
    return fmt::format(",\"heartbeats\":{}", load.standBy(interval, span));
  });
}

void exchange(const Options& options) {
  const bench::GroupShape shape = shapeOf(options);
  std::unique_ptr<Links> links;
  std::unique_ptr<bench::GroupLoad> load;
  stage("connect", shape.links(), [&] {
    links = std::make_unique<Links>(static_cast<uint16_t>(options.size("port")), shape.links());
    load = loadOf(options.text("kind"), *links, shape);
    load->assumeJoined();
    return std::string();
  });
  stages(options, *load, shape.groups * shape.members);
}

void groups(const Options& options) {
  bench::GroupShape shape = shapeOf(options);
  const size_t all = shape.groups * shape.members;
  std::unique_ptr<Links> links;
  std::unique_ptr<bench::GroupLoad> load;
  stage("connect", shape.links(), [&] {
    links = std::make_unique<Links>(static_cast<uint16_t>(options.size("port")), shape.links());
    shape.topicId = topicId(*links, shape.topic);
    load = loadOf(options.text("kind"), *links, shape);
    load->awaitCoordinators();
    return std::string();
  });
  stage("join", all, [&] { return load->join(), std::string(); });
  stages(options, *load, all);
  const size_t rebalances = options.size("rebalances");
  stage("rebalance", rebalances, [&] {
    std::vector<double> times;
    for (size_t i = 0; i < rebalances; ++i) times.push_back(load->rebalance());
    return fmt::format(",\"milliseconds\":[{:.4f}]", fmt::join(times, ","));
  });
  stage("leave", all, [&] { return load->leave(), std::string(); });
}

void transactions(const Options& options) {
  const size_t producers = options.size("producers"), each = options.size("transactions");
  Links links(static_cast<uint16_t>(options.size("port")), producers);
  bench::TransactionLoad load(links, options.text("prefix"), options.text("topic"),
                              static_cast<int32_t>(options.size("partitions")), producers);
  stage("begin", producers, [&] { return load.begin(), std::string(); });
  stage("commit", producers * each, [&] { return load.commit(each), std::string(); });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string command = argc > 1 ? argv[1] : "";
    const Options options(argc - 2, argv + 2);
    if (command == "groups") {
      groups(options);
    } else if (command == "exchange") {
      exchange(options);
    } else if (command == "transactions") {
      transactions(options);
    } else {
      throw std::runtime_error("expected groups, exchange or transactions");
    }
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "tidemark_bench_coordinator: {}\n", e.what());
    return 1;
  }
}
