#pragma once

#include "broker/requests.h"
#include "network/api_table.h"
#include "protocol/api.h"

// What a broker serves. Any thread.

namespace tidemark::broker {

/// Which APIs a broker's listeners serve: the one list.
network::ApiTable brokerApis();
/// Whether it is handled where its request is read, without the handlers' queue (network::RequestHandler).
bool isQuickApi(protocol::ApiKey key);
/// To the handler of its API, which must be one that is served.
void handleApi(BrokerContext& broker, network::RequestPtr request);

}  // namespace tidemark::broker
