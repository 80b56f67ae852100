#include "models/readers.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace tidemark::widgets {

std::vector<const observe::ReaderSnapshot*> readersOf(const observe::ClusterSnapshot& cluster,
                                                      const std::optional<TopicPartition>& partition) {
  using Name = std::tuple<std::string_view, std::string_view, std::string_view, PartitionIndex>;
  const auto nameOf = [](const observe::ReaderSnapshot& reader) {
    return Name{reader.client, reader.group, reader.partition.topic, reader.partition.partition};
  };
  std::vector<const observe::ReaderSnapshot*> readers;
  std::map<Name, platform::Duration> newest;
  for (const observe::ReaderSnapshot& reader : cluster.readers) {
    if (partition && reader.partition != *partition) continue;
    readers.push_back(&reader);
    const auto [known, isNew] = newest.try_emplace(nameOf(reader), reader.sinceFetch);
    if (!isNew) known->second = std::min(known->second, reader.sinceFetch);
  }
  std::erase_if(readers, [&](const observe::ReaderSnapshot* reader) {
    return reader->sinceFetch > newest.at(nameOf(*reader)) + kReaderMoved;
  });
  return readers;
}

}  // namespace tidemark::widgets
