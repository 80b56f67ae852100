#include "scene_shot.h"

#include <algorithm>

#include "main_window.h"
#include "transactions/transactions_page.h"
#include "views/cluster_page.h"

// Pictures of work that clients share: groups, transactions.

namespace tidemark::widgets {

const observe::GroupSnapshot* SceneShot::group() const {
  const auto& groups = m_window.bridge().snapshot()->groups;
  const auto found = std::ranges::find(groups, "billing", &observe::GroupSnapshot::id);
  return found == groups.end() ? nullptr : &*found;
}

void SceneShot::addGroups() {
  const auto add = [this](const char* member) {
    m_consumers.add(m_window.bridge().snapshot()->bootstrap, "billing", member, kShown.topic);
  };
  m_steps.push_back({tr("the view and two members"), [this, add] {
                       m_window.clusterPage().showView(ClusterPage::View::Groups);
                       add("c-1");
                       add("c-2");
                       return true;
                     }});
  m_steps.push_back({tr("a stable group of two"), [this] {
                       const observe::GroupSnapshot* found = group();
                       return found != nullptr && found->state == "Stable" && found->members.size() == 2;
                     }});
  m_steps.push_back({tr("a lag of nothing"), [this] { return held(14'000); }});
  m_steps.push_back({tr("a busy member"), [this] {
                       m_consumers.keepBusy(1);
                       return true;
                     }});
  m_steps.push_back({tr("its lag"), [this] { return held(6000); }});
  m_steps.push_back({tr("a third member"), [add] {
                       add("c-3");
                       return true;
                     }});
  m_steps.push_back({tr("a rebalance that waits"), [this] {
                       const observe::GroupSnapshot* found = group();
                       return found != nullptr && found->state == "PreparingRebalance" && found->members.size() == 3;
                     }});
  m_steps.push_back({tr("who joined again"), [this] { return held(5000); }});
}

void SceneShot::addTransactions() {
  const auto step = [this](const QString& what, int ms, const std::function<void(ShotProducers&)>& act) {
    m_steps.push_back({what, [this, act] {
                         act(*m_producers);
                         return true;
                       }});
    m_steps.push_back({what, [this, ms] { return held(ms) && m_producers->idle(); }});
  };
  m_steps.push_back({tr("the view"), [this] {
                       m_window.clusterPage().showView(ClusterPage::View::Transactions);
                       m_producers =
                           std::make_unique<ShotProducers>(m_window.bridge().snapshot()->bootstrap, kShown.topic);
                       for (const char* id : {"billing-tx-1", "billing-tx-2", "ledger-sync"}) m_producers->start(id);
                       return true;
                     }});
  m_steps.push_back({tr("producers"), [this] { return m_producers->idle(); }});
  step(tr("a transaction over three partitions"), 1200, [](ShotProducers& all) {
    all.write("billing-tx-1", 0, 4);
    all.write("billing-tx-1", 1, 3);
    all.write("billing-tx-1", 2, 3);
  });
  step(tr("another one"), 2500, [](ShotProducers& all) { all.write("billing-tx-2", 0, 4); });
  step(tr("the end of the first"), 1500, [](ShotProducers& all) { all.commit("billing-tx-1"); });
  step(tr("one that stays open"), 3500, [](ShotProducers& all) { all.write("ledger-sync", 0, 3); });
  step(tr("another instance"), 2000, [](ShotProducers& all) { all.start("billing-tx-2"); });
  step(tr("a transaction after it"), 3500, [](ShotProducers& all) {
    all.write("billing-tx-1", 0, 5);
    all.write("billing-tx-1", 1, 4);
  });
  step(tr("its end"), 1500, [](ShotProducers& all) { all.commit("billing-tx-1"); });
  step(tr("the new instance's"), 3500, [](ShotProducers& all) { all.write("billing-tx-2", 1, 3); });
  step(tr("its end as well"), 1500, [](ShotProducers& all) { all.commit("billing-tx-2"); });
  step(tr("more of what stays open"), 1200, [](ShotProducers& all) { all.write("ledger-sync", 0, 2); });
  step(tr("a zombie"), 3000, [](ShotProducers& all) { all.write("billing-tx-2", 0, 1, 0); });
  m_steps.push_back({tr("a picture of it"), [this] {
                       m_window.clusterPage().transactions().setSpan(std::chrono::seconds(30));
                       return held(300);
                     }});
}

}  // namespace tidemark::widgets
