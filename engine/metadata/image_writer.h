#pragma once

#include "metadata/features.h"
#include "metadata/image.h"
#include "metadata/records.h"

namespace tidemark::metadata {

/// The whole image as records that, replayed over nothing, give it again: what a snapshot holds. In Kafka's order
/// (feature levels first, metadata.version before all), in the record versions of `version`. What an old
/// metadata.version cannot say (directories, ELR, cordoned directories …) is left out, as Kafka does.
Records writeRecords(const Image& image, MetadataVersion version);

/// Under the image's own metadata.version.
inline Records writeRecords(const Image& image) {
  return writeRecords(image, MetadataVersion(image.features.metadataVersion()));
}

/// One broker or partition as its record; the controller writes them as well.
Record toRecord(const BrokerRegistration& broker, MetadataVersion version);
Record toRecord(const Uuid& topic, PartitionIndex index, const PartitionRegistration& partition,
                MetadataVersion version);

/// The reverse of reading ids.
std::vector<int32_t> toNumbers(const std::vector<NodeId>& nodes);

}  // namespace tidemark::metadata
