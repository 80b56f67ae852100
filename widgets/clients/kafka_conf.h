#pragma once

#include <initializer_list>
#include <utility>

#include <librdkafka/rdkafka.h>
#include <QString>

#include "clients/client_options.h"

namespace tidemark::widgets {

/// What a client of librdkafka's is made with. What is the same for the window's own: where it connects and by which
/// name, how soon it turns to a broker again that was killed, for the lab's times are short, and who is told of errors.
class KafkaConf {
 public:
  /// `worker` gets the errors that are of no record, as complain(text), on whichever thread polls; it is what callbacks
  /// are given, and outlives the client. `role`: the end of the client's id.
  template <class Worker>
  KafkaConf(Worker* worker, const QString& bootstrap, const char* role) : KafkaConf(bootstrap, role) {
    rd_kafka_conf_set_opaque(m_conf, worker);
    rd_kafka_conf_set_error_cb(m_conf, [](rd_kafka_t*, int code, const char* reason, void* opaque) {
      static_cast<Worker*>(opaque)->complain(QStringLiteral("%1: %2").arg(
          QString::fromUtf8(rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code))), QString::fromUtf8(reason)));
    });
  }
  KafkaConf(const KafkaConf&) = delete;
  KafkaConf& operator=(const KafkaConf&) = delete;
  ~KafkaConf();

  void set(std::initializer_list<std::pair<const char*, QString>> values);
  rd_kafka_conf_t* get() noexcept { return m_conf; }
  /// The client; null with a reason if one of the values was wrong, or there is none for another reason.
  rd_kafka_t* make(rd_kafka_type_t type, QString* reason);

 private:
  KafkaConf(const QString& bootstrap, const char* role);

  /// Null once a client has it.
  rd_kafka_conf_t* m_conf;
  /// What was wrong with a value first.
  QString m_problem;
};

}  // namespace tidemark::widgets
