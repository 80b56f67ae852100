#include "clients/kafka_conf.h"

namespace tidemark::widgets {

KafkaConf::KafkaConf(const QString& bootstrap, const char* role) : m_conf(rd_kafka_conf_new()) {
  rd_kafka_conf_set_log_cb(m_conf, [](const rd_kafka_t*, int, const char*, const char*) {});
  set({{"bootstrap.servers", bootstrap},
       {"client.id", QStringLiteral("%1-%2").arg(QLatin1String(kOwnClientPrefix), QLatin1String(role))},
       {"reconnect.backoff.max.ms", QStringLiteral("500")},
       {"topic.metadata.refresh.interval.ms", QStringLiteral("5000")}});
}

KafkaConf::~KafkaConf() {
  if (m_conf != nullptr) rd_kafka_conf_destroy(m_conf);
}

void KafkaConf::set(std::initializer_list<std::pair<const char*, QString>> values) {
  char text[512];
  for (const auto& [key, value] : values)
    if (m_problem.isEmpty() &&
        rd_kafka_conf_set(m_conf, key, value.toUtf8().constData(), text, sizeof text) != RD_KAFKA_CONF_OK)
      m_problem = QString::fromUtf8(text);
}

rd_kafka_t* KafkaConf::make(rd_kafka_type_t type, QString* reason) {
  *reason = m_problem;
  if (!m_problem.isEmpty()) return nullptr;
  char text[512];
  rd_kafka_t* client = rd_kafka_new(type, m_conf, text, sizeof text);
  if (client == nullptr)
    *reason = QString::fromUtf8(text);
  else
    m_conf = nullptr;
  return client;
}

}  // namespace tidemark::widgets
