#pragma once

#include "metadata/controller/view.h"
#include "metadata/features.h"
#include "protocol/generated/allocate_producer_ids_request.h"
#include "protocol/generated/allocate_producer_ids_response.h"
#include "protocol/generated/update_features_request.h"
#include "protocol/generated/update_features_response.h"

// Feature levels, blocks of producer ids, and what a new cluster starts with.

namespace tidemark::metadata {

/// UpdateFeatures 0–2, all or nothing: InvalidUpdateVersion for what this node, a broker or a controller does not know,
/// and for a downgrade that was not asked for or would lose metadata.
HandlerResult<protocol::UpdateFeaturesResponse> handle(const ControllerView& view,
                                                       const protocol::UpdateFeaturesRequest& request);

/// Producer ids come in blocks of so many.
inline constexpr int32_t kProducerIdBlockSize = 1000;

/// AllocateProducerIds 0. StaleBrokerEpoch.
HandlerResult<protocol::AllocateProducerIdsResponse> handle(const ControllerView& view,
                                                            const protocol::AllocateProducerIdsRequest& request);

/// The records that formatting writes into the bootstrap snapshot (Kafka's BootstrapMetadata): feature levels as
/// knownFeatures() finalizes them, or as `levels` say (checkFormatLevels()), metadata.version first. kraft.version is
/// not among them.
Records bootstrapRecords(const FeatureLevels& levels = {});

/// What a new active controller appends before it serves: nothing, the abort of a transaction that its predecessor left
/// open, and, on an empty log, the bootstrap records in a transaction.
/// `minInsyncReplicas`: of this node's own configuration, see minInsyncReplicasRecord().
Records activationRecords(const Image& image, bool inTransaction, const Records& bootstrap, int32_t minInsyncReplicas);

}  // namespace tidemark::metadata
