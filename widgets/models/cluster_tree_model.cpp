#include "models/cluster_tree_model.h"

#include <algorithm>

#include "models/fault_model.h"
#include "models/row_sync.h"
#include "text/format.h"
#include "text/node_words.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

/// Internal id of a section; a row carries the number of its section.
constexpr quintptr kSectionId = 1000;

}  // namespace

ClusterTreeModel::ClusterTreeModel(QObject* parent) : QAbstractItemModel(parent) {}

void ClusterTreeModel::setSnapshot(const observe::ClusterSnapshot& cluster, platform::Duration age) {
  sync(Section::Cluster, clusterRows(cluster));
  sync(Section::Topics, topicRows(cluster));
  sync(Section::Groups, groupRows(cluster));
  sync(Section::Faults, activeFaults(cluster, age));
}

std::vector<ClusterTreeModel::Row> ClusterTreeModel::clusterRows(const observe::ClusterSnapshot& cluster) {
  const Palette& p = colors();
  std::vector<Row> rows;
  if (cluster.brokers.empty()) return rows;
  Row quorum{.kind = Kind::Quorum, .text = tr("Quorum")};
  const bool led = cluster.quorum.leader != kNoNode;
  quorum.note = led ? tr("epoch %1 · leader %2").arg(cluster.quorum.epoch.value()).arg(cluster.quorum.leader.value())
                    : tr("epoch %1 · no leader").arg(cluster.quorum.epoch.value());
  quorum.noteColor = led ? p.muted : p.badText;
  quorum.shape = led ? StateShape::Crown : StateShape::Ring;
  quorum.shapeColor = led ? p.controllerCrown : p.ring;
  rows.push_back(quorum);
  // Below the quorum the controllers that are nothing else, then the brokers.
  for (const observe::BrokerSnapshot& node : cluster.brokers) {
    if (node.isBroker) continue;
    const StateLook look = lookOf(node);
    Row row{.kind = Kind::Broker, .number = node.id.value(), .text = nodeTitle(node)};
    row.shape = look.shape;
    row.shapeColor = look.color;
    const bool fine = node.state == observe::BrokerState::Running && node.failedDirectories.empty();
    const QString role = node.id == cluster.quorum.leader ? tr("active") : tr("voter");
    row.note = fine ? role : tr("%1 · %2").arg(role, look.word);
    row.noteColor = fine ? p.muted : look.textColor;
    rows.push_back(row);
  }
  for (const observe::BrokerSnapshot& broker : cluster.brokers) {
    if (!broker.isBroker) continue;
    const StateLook look = lookOf(broker);
    Row row{.kind = Kind::Broker, .number = broker.id.value(), .text = nodeTitle(broker)};
    row.shape = look.shape;
    row.shapeColor = look.color;
    const QString leads = tr("leads %1").arg(broker.leaderCount);
    const bool fine = broker.state == observe::BrokerState::Running && broker.failedDirectories.empty();
    row.note = fine ? leads : broker.leaderCount > 0 ? tr("%1 · %2").arg(leads, look.word) : look.word;
    row.noteColor = fine ? p.muted : look.textColor;
    rows.push_back(row);
  }
  return rows;
}

std::vector<ClusterTreeModel::Row> ClusterTreeModel::topicRows(const observe::ClusterSnapshot& cluster) {
  const Palette& p = colors();
  std::vector<Row> rows;
  for (const observe::TopicSnapshot& topic : cluster.topics) {
    Row row{.kind = Kind::Topic, .name = fromUtf8(topic.name), .text = fromUtf8(topic.name)};
    const auto under = std::ranges::count_if(topic.partitions, &observe::PartitionSnapshot::underReplicated);
    const auto offline = std::ranges::count(topic.partitions, kNoNode, &observe::PartitionSnapshot::leader);
    row.note = topic.name == "__cluster_metadata"
                   ? tr("quorum")
                   : tr("%1 × RF %2").arg(topic.partitions.size()).arg(topic.replicationFactor) +
                         (topic.compacted && !topic.internal ? tr("  compact") : QString());
    row.noteColor = p.muted;
    if (offline > 0) {
      row.shape = StateShape::Cross;
      row.shapeColor = p.bad;
      row.note = tr("%n offline", nullptr, static_cast<int>(offline));
      row.noteColor = p.badText;
    } else if (under > 0) {
      row.shape = StateShape::HalfDisc;
      row.shapeColor = p.warn;
    }
    row.faint = topic.internal;
    rows.push_back(row);
  }
  return rows;
}

std::vector<ClusterTreeModel::Row> ClusterTreeModel::groupRows(const observe::ClusterSnapshot& cluster) {
  std::vector<Row> rows;
  for (const observe::GroupSnapshot& group : cluster.groups) {
    Row row{.kind = Kind::Group, .name = fromUtf8(group.id), .text = fromUtf8(group.id)};
    row.note = tr("%1 · lag %2")
                   .arg(tr("%n member(s)", nullptr, static_cast<int>(group.members.size())), grouped(group.lag()));
    row.noteColor = colors().muted;
    rows.push_back(row);
  }
  return rows;
}

std::vector<ClusterTreeModel::Row> ClusterTreeModel::activeFaults(const observe::ClusterSnapshot& cluster,
                                                                  platform::Duration age) {
  std::vector<Row> rows;
  for (const FaultRow& fault : faultRows(cluster, age)) {
    Row row{.kind = Kind::Fault, .number = fault.id, .text = fault.title};
    row.note = fault.waits ? fault.left : fault.age;
    row.noteColor = colors().muted;
    row.shape = fault.shape;
    row.shapeColor = fault.color;
    rows.push_back(row);
  }
  return rows;
}

void ClusterTreeModel::sync(Section which, std::vector<Row> wanted) {
  const auto place = static_cast<int>(which);
  const bool wasEmpty = m_rows[place].empty();
  struct {
    ClusterTreeModel& model;
    QModelIndex parent;
    void removing(int first, int last) { model.beginRemoveRows(parent, first, last); }
    void removed() { model.endRemoveRows(); }
    void inserting(int first, int last) { model.beginInsertRows(parent, first, last); }
    void inserted() { model.endInsertRows(); }
    void changed(int row) {
      const QModelIndex at = model.index(row, 0, parent);
      Q_EMIT model.dataChanged(at, at);
    }
  } signals{*this, section(which)};
  syncRows(m_rows[place], std::move(wanted), signals);
  if (wasEmpty != m_rows[place].empty()) Q_EMIT dataChanged(section(which), section(which), {NoteRole});
}

QModelIndex ClusterTreeModel::broker(NodeId id) const {
  const auto& rows = m_rows[static_cast<int>(Section::Cluster)];
  const auto found =
      std::ranges::find_if(rows, [id](const Row& row) { return row.kind == Kind::Broker && row.number == id.value(); });
  return found == rows.end() ? QModelIndex()
                             : index(static_cast<int>(found - rows.begin()), 0, section(Section::Cluster));
}

QModelIndex ClusterTreeModel::topic(const QString& name) const {
  const auto& rows = m_rows[static_cast<int>(Section::Topics)];
  const auto found = std::ranges::find(rows, name, &Row::name);
  return found == rows.end() ? QModelIndex()
                             : index(static_cast<int>(found - rows.begin()), 0, section(Section::Topics));
}

QModelIndex ClusterTreeModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) : kSectionId);
}

QModelIndex ClusterTreeModel::parent(const QModelIndex& child) const {
  if (!child.isValid() || child.internalId() == kSectionId) return {};
  return createIndex(static_cast<int>(child.internalId()), 0, kSectionId);
}

int ClusterTreeModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return kSections;
  if (parent.internalId() != kSectionId || parent.column() != 0) return 0;
  return static_cast<int>(m_rows[parent.row()].size());
}

int ClusterTreeModel::columnCount(const QModelIndex&) const {
  return 1;
}

QVariant ClusterTreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (index.internalId() == kSectionId) {
    const auto which = static_cast<Section>(index.row());
    switch (role) {
      case Qt::DisplayRole:
        switch (which) {
          case Section::Cluster:
            return tr("CLUSTER");
          case Section::Topics:
            return tr("TOPICS");
          case Section::Groups:
            return tr("GROUPS");
          case Section::Faults:
            return tr("ACTIVE FAULTS");
        }
        return {};
      case KindRole:
        return static_cast<int>(Kind::Section);
      case NoteRole:
        if (which != Section::Faults) return {};
        return m_rows[index.row()].empty() ? tr("none") : tr("for");
      default:
        return {};
    }
  }
  const Row& row = m_rows[index.internalId()][static_cast<size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      return row.text;
    case Qt::AccessibleTextRole:
      return row.text + QStringLiteral(", ") + row.note;
    case Qt::ToolTipRole:
      return row.note.isEmpty() ? row.text : row.text + QLatin1Char('\n') + row.note;
    case KindRole:
      return static_cast<int>(row.kind);
    case BrokerRole:
    case FaultRole:
      return row.number;
    case NameRole:
      return row.name;
    case NoteRole:
      return row.note;
    case NoteColorRole:
      return row.noteColor;
    case ShapeRole:
      return static_cast<int>(row.shape);
    case ShapeColorRole:
      return row.shapeColor;
    case FaintRole:
      return row.faint;
    default:
      return {};
  }
}

Qt::ItemFlags ClusterTreeModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  return index.internalId() == kSectionId ? Qt::ItemIsEnabled
                                          : Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
}

}  // namespace tidemark::widgets
