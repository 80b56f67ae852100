#pragma once

#include "client/admin.h"
#include "client/group_admin.h"
#include "client/offset_reset.h"
#include "client/transaction_admin.h"
#include "cluster/cluster.h"

namespace tidemark::cluster {

/// What the lab asks of its own brokers, as any client would. Of the cluster's executor; goes before its Client.
struct Cluster::Errands {
  explicit Errands(client::Client& client)
      : topics(client), groups(client, kPatience), offsets(client, kPatience), transactions(client, kPatience) {}

  /// Somebody waits at a dialog.
  static constexpr std::chrono::seconds kPatience{10};
  client::Admin topics;
  client::GroupAdmin groups;
  client::ResetPlanner offsets;
  client::TransactionAdmin transactions;
};

}  // namespace tidemark::cluster
