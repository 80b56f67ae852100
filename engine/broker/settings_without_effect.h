#pragma once

#include <string>
#include <vector>

#include "config/config_value.h"

namespace tidemark::broker {

/// Of the settings of groups, share groups, transactions and their coordinators that `set` names: what is to be said of
/// those that change nothing here, a sentence each. Whatever is set to Kafka's default is what is done anyway.
std::vector<std::string> settingsWithoutEffect(const config::ConfigMap& set);
/// The same of one group's own configuration.
std::vector<std::string> groupSettingsWithoutEffect(const config::ConfigMap& set);

}  // namespace tidemark::broker
