#include "scene_shot.h"

#include <algorithm>

#include "belts/belts_view.h"
#include "faults/fault_actions.h"
#include "faults/fault_json.h"
#include "main_window.h"
#include "timeline/cause_card.h"
#include "timeline/timeline_page.h"
#include "views/cluster_page.h"

// Pictures of what is broken on purpose, and of what that was like.

namespace tidemark::widgets {

void SceneShot::set(const char* json) {
  const auto fault = faults::parseFault(json);
  if (fault) m_window.faultActions().set(*fault);
}

void SceneShot::addFaults() {
  const bool broken = m_condition != QStringLiteral("map");
  m_steps.push_back(
      {tr("the view"), [this, broken] {
         if (m_condition != QStringLiteral("faults"))
           m_window.clusterPage().showView(ClusterPage::View::Map);
         else
           m_window.showFaults();
         if (!broken) return true;
         set(R"({"kind": "delay", "target": "link 1->3", "delayMs": 80, "durationMs": 120000})");
         set(R"({"kind": "cut", "target": "link 2<->3", "durationMs": 30000})");
         set(R"({"kind": "request-delay", "target": "clients", "api": "Fetch", "delayMs": 20, "trigger": {"every": 5}})");
         return true;
       }});
  if (!broken) {
    m_steps.push_back({tr("rates"), [this] { return held(4000); }});
    return;
  }
  m_steps.push_back(
      {tr("the faults"), [this] { return held(1500) && m_window.bridge().snapshot()->faults.size() == 3; }});
  m_steps.push_back({tr("a pause"), [this] {
                       set(R"({"kind": "pause", "target": "broker 3", "durationMs": 25000})");
                       return true;
                     }});
  m_steps.push_back({tr("smaller ISRs"), [this] {
                       const auto* partition = observe::findPartition(*m_window.bridge().snapshot(), kShown);
                       return partition != nullptr && partition->isr.size() == 2 && held(3500);
                     }});
}

void SceneShot::addTimeline() {
  m_steps.push_back({tr("the view"), [this] {
                       m_window.clusterPage().showView(ClusterPage::View::Timeline);
                       m_window.clusterPage().timeline().axis().setSpan(std::chrono::seconds(30));
                       return held(3000);
                     }});
  m_steps.push_back({tr("a pause"), [this] {
                       const auto* partition = observe::findPartition(*m_window.bridge().snapshot(), kShown);
                       set(partition != nullptr && partition->leader == NodeId(3)
                               ? R"({"kind": "pause", "target": "broker 2", "durationMs": 4000})"
                               : R"({"kind": "pause", "target": "broker 3", "durationMs": 4000})");
                       return true;
                     }});
  m_steps.push_back(
      {tr("its end"), [this] { return held(5000) && m_window.bridge().snapshot()->faults.empty() && isrIsFull(); }});
  m_steps.push_back({tr("a slow link"), [this] {
                       set(R"({"kind": "delay", "target": "link 1<->2", "delayMs": 300, "durationMs": 5000})");
                       return true;
                     }});
  m_steps.push_back({tr("its own end"), [this] { return held(6500) && m_window.bridge().snapshot()->faults.empty(); }});
  m_steps.push_back({tr("the cause"), [this] {
                       TimelinePage& page = m_window.clusterPage().timeline();
                       for (int i = 0; i < 100; ++i) {
                         page.step(-1);
                         if (page.card().words() && page.card().words()->part >= 0) return true;
                       }
                       return false;
                     }});
}

void SceneShot::addHistory() {
  m_steps.push_back({tr("the moment"), [this] {
                       const auto& events = m_window.bridge().recording().events();
                       const auto elected =
                           std::find_if(events.rbegin(), events.rend(), [](const observe::ObservedEvent& one) {
                             return std::holds_alternative<events::LeaderElected>(one.event.payload) &&
                                    one.topic == kShown.topic && one.partition == kShown.partition;
                           });
                       if (elected == events.rend()) return false;
                       m_window.travel().lookAtEvent(elected->number, elected->event.wall);
                       m_window.travel().step(-1);
                       return true;
                     }});
  m_steps.push_back({tr("a still window"), [this] { return held(300); }});
}

void SceneShot::addLoss() {
  const auto partition = [this] { return observe::findPartition(*m_window.bridge().snapshot(), kShown); };
  m_steps.push_back({tr("a cut link"), [this, partition] {
                       const auto* now = partition();
                       if (now == nullptr || now->leader == kNoNode || now->replicas.size() != 2) return false;
                       m_victim = now->leader;
                       set(qUtf8Printable(QStringLiteral(R"({"kind": "cut", "target": "link %1<->%2"})")
                                              .arg(now->replicas[0].value())
                                              .arg(now->replicas[1].value())));
                       return true;
                     }});
  m_steps.push_back({tr("a replica alone in the ISR"), [this, partition] {
                       const auto* now = partition();
                       m_end = logEnd();
                       return now != nullptr && now->isr.size() == 1 && now->isr[0] == m_victim;
                     }});
  m_steps.push_back({tr("some more of them"), [this] { return logEnd() >= m_end + 9; }});
  m_steps.push_back({tr("its death"), [this] {
                       m_window.command(EngineBridge::BrokerCommand::Kill, m_victim);
                       for (const observe::FaultSnapshot& fault : m_window.bridge().snapshot()->faults)
                         if (fault.fault.kind == faults::Kind::Cut) m_window.faultActions().heal(fault.id);
                       return true;
                     }});
  m_steps.push_back({tr("an unclean election"), [this, partition] {
                       m_end = logEnd();
                       return partition()->leader != m_victim && partition()->leader != kNoNode &&
                              !m_window.clusterPage().belts().lostRecords().empty();
                     }});
  m_steps.push_back({tr("records under the new leader"), [this] { return logEnd() >= m_end + 5 && held(1500); }});
  if (m_condition != QStringLiteral("truncated")) return;
  m_steps.push_back({tr("its return"), [this] {
                       m_window.command(EngineBridge::BrokerCommand::Restart, m_victim);
                       return true;
                     }});
  m_steps.push_back({tr("what it gives up"), [this] {
                       const auto& breaks = m_window.clusterPage().belts().breaks();
                       return std::ranges::any_of(breaks, [this](const LogBreak& one) {
                         return one.what == LogBreak::What::Truncated && one.broker == m_victim;
                       });
                     }});
}

}  // namespace tidemark::widgets
