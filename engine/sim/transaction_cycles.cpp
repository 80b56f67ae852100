#include "sim/transaction_cycles.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

/// What one transaction depends on the other for: it wrote after it, or read what it wrote.
struct Edge {
  size_t to = 0;
  bool byRead = false;
  TopicPartition partition;
  Offset offset;
};
using Graph = std::vector<std::vector<Edge>>;
/// Who wrote what, of one partition.
using Writers = std::map<Offset, size_t>;

class Search {
 public:
  Search(const std::vector<HistoryTransaction>& history, const Graph& graph, bool withReads)
      : history_(history), graph_(graph), withReads_(withReads), state_(graph.size(), State::New) {}

  /// In words, the first cycle there is.
  std::optional<std::string> run() {
    for (size_t i = 0; i < graph_.size(); ++i)
      if (state_[i] == State::New)
        if (auto found = from(i)) return found;
    return std::nullopt;
  }

 private:
  enum class State : uint8_t { New, OnPath, Done };
  struct Step {
    size_t node;
    size_t next = 0;
  };

  std::optional<std::string> from(size_t root) {
    std::vector<Step> path{{root}};
    state_[root] = State::OnPath;
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next == graph_[step.node].size()) {
        state_[step.node] = State::Done;
        path.pop_back();
        continue;
      }
      const Edge& edge = graph_[step.node][step.next++];
      if (edge.byRead && !withReads_) continue;
      if (state_[edge.to] == State::OnPath) return describe(path, edge.to);
      if (state_[edge.to] == State::Done) continue;
      state_[edge.to] = State::OnPath;
      path.push_back({edge.to});
    }
    return std::nullopt;
  }

  std::string describe(const std::vector<Step>& path, size_t start) const {
    std::string text;
    const auto first = std::ranges::find(path, start, &Step::node);
    for (auto step = first; step != path.end(); ++step) {
      const Edge& edge = graph_[step->node][step->next - 1];
      text += fmt::format("{}{} {} {} ({}, offset {})", text.empty() ? "" : "; ", history_[edge.to].name,
                          edge.byRead ? "read what was written by" : "wrote after", history_[step->node].name,
                          edge.partition, edge.offset);
    }
    return text;
  }

  const std::vector<HistoryTransaction>& history_;
  const Graph& graph_;
  const bool withReads_;
  std::vector<State> state_;
};

/// G1a and G1b of one reader.
std::optional<Anomaly> anomalyOfReads(const HistoryTransaction& reader, const std::vector<HistoryTransaction>& history,
                                      const std::map<TopicPartition, Writers>& writers) {
  for (const auto& [partition, offsets] : reader.reads) {
    const auto found = writers.find(partition);
    if (found == writers.end()) continue;
    std::set<size_t> seen;
    for (const Offset offset : offsets) {
      const auto writer = found->second.find(offset);
      if (writer == found->second.end()) continue;
      seen.insert(writer->second);
      if (history[writer->second].committed) continue;
      return Anomaly{"G1a", fmt::format("{} read offset {} of {}, which {} wrote, that was aborted", reader.name,
                                        offset, partition, history[writer->second].name)};
    }
    // In between it passed over nothing of those of whom it saw something.
    for (auto version = found->second.lower_bound(*offsets.begin());
         version != found->second.end() && version->first <= *offsets.rbegin(); ++version) {
      if (!seen.contains(version->second) || offsets.contains(version->first)) continue;
      return Anomaly{"G1b", fmt::format("{} read some of what {} wrote to {}, but not offset {}", reader.name,
                                        history[version->second].name, partition, version->first)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Anomaly> findAnomaly(const std::vector<HistoryTransaction>& history) {
  std::map<TopicPartition, Writers> writers;
  for (size_t i = 0; i < history.size(); ++i)
    for (const auto& [partition, offsets] : history[i].writes)
      for (const Offset offset : offsets) writers[partition].emplace(offset, i);
  Graph graph(history.size());
  for (const auto& [partition, versions] : writers) {
    std::map<std::string_view, size_t> last;
    for (const auto& [offset, writer] : versions) {
      if (!history[writer].committed) continue;
      const auto [before, first] = last.try_emplace(history[writer].session, writer);
      if (!first && before->second != writer)
        graph[before->second].push_back({.to = writer, .byRead = false, .partition = partition, .offset = offset});
      before->second = writer;
    }
  }
  for (size_t i = 0; i < history.size(); ++i) {
    if (auto anomaly = anomalyOfReads(history[i], history, writers)) return anomaly;
    if (!history[i].committed) continue;
    for (const auto& [partition, offsets] : history[i].reads) {
      const auto found = writers.find(partition);
      if (found == writers.end()) continue;
      for (const Offset offset : offsets) {
        const auto writer = found->second.find(offset);
        if (writer == found->second.end() || writer->second == i) continue;
        std::vector<Edge>& edges = graph[writer->second];
        if (edges.empty() || edges.back().to != i || !edges.back().byRead)
          edges.push_back({.to = i, .byRead = true, .partition = partition, .offset = offset});
      }
    }
  }
  if (auto cycle = Search(history, graph, false).run()) return Anomaly{"G0", std::move(*cycle)};
  if (auto cycle = Search(history, graph, true).run()) return Anomaly{"G1c", std::move(*cycle)};
  return std::nullopt;
}

}  // namespace tidemark::sim
