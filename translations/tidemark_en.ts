<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_GB">
<context>
    <name>Events</name>
    <message numerus="yes">
        <source>%n record(s)</source>
        <translation>
            <numerusform>%n record</numerusform>
            <numerusform>%n records</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n record(s) given up</source>
        <translation>
            <numerusform>%n record given up</numerusform>
            <numerusform>%n records given up</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n segment(s) scanned</source>
        <translation>
            <numerusform>%n segment scanned</numerusform>
            <numerusform>%n segments scanned</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n record(s) behind</source>
        <translation>
            <numerusform>%n record behind</numerusform>
            <numerusform>%n records behind</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s)</source>
        <translation>
            <numerusform>%n partition</numerusform>
            <numerusform>%n partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n member(s)</source>
        <translation>
            <numerusform>%n member</numerusform>
            <numerusform>%n members</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Faults</name>
    <message numerus="yes">
        <source>%1 transfer(s)</source>
        <translation>
            <numerusform>%1 transfer</numerusform>
            <numerusform>%1 transfers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 call(s)</source>
        <translation>
            <numerusform>%1 call</numerusform>
            <numerusform>%1 calls</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 request(s)</source>
        <translation>
            <numerusform>%1 request</numerusform>
            <numerusform>%1 requests</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 task(s)</source>
        <translation>
            <numerusform>%1 task</numerusform>
            <numerusform>%1 tasks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Groups</name>
    <message numerus="yes">
        <source>delivered %n time(s)</source>
        <translation>
            <numerusform>delivered %n time</numerusform>
            <numerusform>delivered %n times</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s)</source>
        <translation>
            <numerusform>%n partition</numerusform>
            <numerusform>%n partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>subtopology %1 · %n task(s)</source>
        <translation>
            <numerusform>subtopology %1 · %n task</numerusform>
            <numerusform>subtopology %1 · %n tasks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Map</name>
    <message numerus="yes">
        <source>leads %1 of %n partition(s)</source>
        <translation>
            <numerusform>leads %1 of %n partition</numerusform>
            <numerusform>leads %1 of %n partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s) have no leader</source>
        <translation>
            <numerusform>%n partition has no leader</numerusform>
            <numerusform>%n partitions have no leader</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s) refuse acks=all</source>
        <translation>
            <numerusform>%n partition refuses acks=all</numerusform>
            <numerusform>%n partitions refuse acks=all</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s) under-replicated</source>
        <translation>
            <numerusform>%n partition under-replicated</numerusform>
            <numerusform>%n partitions under-replicated</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s) led by %1 do not answer</source>
        <translation>
            <numerusform>%n partition led by %1 does not answer</numerusform>
            <numerusform>%n partitions led by %1 do not answer</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Nodes</name>
    <message numerus="yes">
        <source>%1, %2 record(s)</source>
        <translation>
            <numerusform>%1, %2 record</numerusform>
            <numerusform>%1, %2 records</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Timeline</name>
    <message numerus="yes">
        <source>%1 gave up %n record(s)</source>
        <translation>
            <numerusform>%1 gave up %n record</numerusform>
            <numerusform>%1 gave up %n records</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n acknowledged record(s) lost</source>
        <translation>
            <numerusform>%n acknowledged record lost</numerusform>
            <numerusform>%n acknowledged records lost</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n record(s) lost</source>
        <translation>
            <numerusform>%n record lost</numerusform>
            <numerusform>%n records lost</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Transactions</name>
    <message numerus="yes">
        <source>%n offset(s) held back until the marker is replicated</source>
        <translation>
            <numerusform>%n offset held back until the marker is replicated</numerusform>
            <numerusform>%n offsets held back until the marker is replicated</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n offset(s) held back by %1</source>
        <translation>
            <numerusform>%n offset held back by %1</numerusform>
            <numerusform>%n offsets held back by %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 in %n batch(es)</source>
        <translation>
            <numerusform>%1 in %n batch</numerusform>
            <numerusform>%1 in %n batches</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::BatchPanel</name>
    <message numerus="yes">
        <source>   + %n header(s)</source>
        <translation>
            <numerusform>   + %n header</numerusform>
            <numerusform>   + %n headers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n record(s)</source>
        <translation>
            <numerusform>%n record</numerusform>
            <numerusform>%n records</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more record(s) are not shown</source>
        <translation>
            <numerusform>%n more record is not shown</numerusform>
            <numerusform>%n more records are not shown</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, %n byte(s)</source>
        <translation>
            <numerusform>%1, %n byte</numerusform>
            <numerusform>%1, %n bytes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::BeltsView</name>
    <message numerus="yes">
        <source> · and %n loss(es) more</source>
        <translation>
            <numerusform> · and %n loss more</numerusform>
            <numerusform> · and %n losses more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n acknowledged record(s) lost: %1</source>
        <translation>
            <numerusform>%n acknowledged record lost: %1</numerusform>
            <numerusform>%n acknowledged records lost: %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>✕ %n acknowledged record(s) lost here</source>
        <translation>
            <numerusform>✕ %n acknowledged record lost here</numerusform>
            <numerusform>✕ %n acknowledged records lost here</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>truncated: %1, %n record(s) given up</source>
        <translation>
            <numerusform>truncated: %1, %n record given up</numerusform>
            <numerusform>truncated: %1, %n records given up</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n record(s) that leader %1 does not have</source>
        <translation>
            <numerusform>%n record that leader %1 does not have</numerusform>
            <numerusform>%n records that leader %1 does not have</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more here</source>
        <translation>
            <numerusform>%n more here</numerusform>
            <numerusform>%n more here</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n produce acks=all parked</source>
        <translation>
            <numerusform>%n produce acks=all parked</numerusform>
            <numerusform>%n produce acks=all parked</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n fetch(es) wait for records</source>
        <translation>
            <numerusform>%n fetch waits for records</numerusform>
            <numerusform>%n fetches wait for records</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>+ %n more</source>
        <translation>
            <numerusform>+ %n more</numerusform>
            <numerusform>+ %n more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n produce(s)</source>
        <translation>
            <numerusform>%n produce</numerusform>
            <numerusform>%n produces</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n fetch(es)</source>
        <translation>
            <numerusform>%n fetch</numerusform>
            <numerusform>%n fetches</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::CheckLine</name>
    <message numerus="yes">
        <source>✓ %n segment(s) checked</source>
        <translation>
            <numerusform>✓ %n segment checked</numerusform>
            <numerusform>✓ %n segments checked</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::CleanerPage</name>
    <message numerus="yes">
        <source>%n log(s)</source>
        <translation>
            <numerusform>%n log</numerusform>
            <numerusform>%n logs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n being cleaned</source>
        <translation>
            <numerusform>%n being cleaned</numerusform>
            <numerusform>%n being cleaned</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n set aside</source>
        <translation>
            <numerusform>%n set aside</numerusform>
            <numerusform>%n set aside</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::ClusterPage</name>
    <message numerus="yes">
        <source>%1 acknowledged record(s) lost, first in %2: show where</source>
        <translation>
            <numerusform>%1 acknowledged record lost, in %2: show where</numerusform>
            <numerusform>%1 acknowledged records lost, first in %2: show where</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::ClusterTreeModel</name>
    <message numerus="yes">
        <source>%n offline</source>
        <translation>
            <numerusform>%n offline</numerusform>
            <numerusform>%n offline</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n member(s)</source>
        <translation>
            <numerusform>%n member</numerusform>
            <numerusform>%n members</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::ConsumeDialog</name>
    <message numerus="yes">
        <source>all %n</source>
        <translation>
            <numerusform>all %n</numerusform>
            <numerusform>all %n</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 record(s) read</source>
        <translation>
            <numerusform>%1 record read</numerusform>
            <numerusform>%1 records read</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::EventPanel</name>
    <message numerus="yes">
        <source>%n kinds ▾</source>
        <translation>
            <numerusform>%n kinds ▾</numerusform>
            <numerusform>%n kinds ▾</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 event(s) lost.</source>
        <translation>
            <numerusform>%1 event lost.</numerusform>
            <numerusform>%1 events lost.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 frequent left out</source>
        <translation>
            <numerusform>%1 frequent left out</numerusform>
            <numerusform>%1 frequent left out</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 frequent event(s) left out: appends, fetches, most watermarks. The menu of kinds can show every one from then on.</source>
        <translation>
            <numerusform>%1 frequent event left out: appends, fetches, most watermarks. The menu of kinds can show every one from then on.</numerusform>
            <numerusform>%1 frequent events left out: appends, fetches, most watermarks. The menu of kinds can show every one from then on.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 older gone</source>
        <translation>
            <numerusform>%1 older gone</numerusform>
            <numerusform>%1 older gone</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 older event(s) had to go for newer ones.</source>
        <translation>
            <numerusform>%1 older event had to go for newer ones.</numerusform>
            <numerusform>%1 older events had to go for newer ones.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n event(s) written to %1</source>
        <translation>
            <numerusform>%n event written to %1</numerusform>
            <numerusform>%n events written to %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::FaultActions</name>
    <message numerus="yes">
        <source>%n transfer(s) let through</source>
        <translation>
            <numerusform>%n transfer let through</numerusform>
            <numerusform>%n transfers let through</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 stay(s) down: start each from its menu</source>
        <translation>
            <numerusform>%1 stays down: start it from its menu</numerusform>
            <numerusform>%1 stay down: start each from its menu</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n fault(s) healed</source>
        <translation>
            <numerusform>%n fault healed</numerusform>
            <numerusform>%n faults healed</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::FolderPicker</name>
    <message numerus="yes">
        <source>%n partition(s)</source>
        <translation>
            <numerusform>%n partition</numerusform>
            <numerusform>%n partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n partition(s)</source>
        <translation>
            <numerusform>%1 of %n partition</numerusform>
            <numerusform>%1 of %n partitions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::GroupsPage</name>
    <message numerus="yes">
        <source>%n group(s)</source>
        <translation>
            <numerusform>%n group</numerusform>
            <numerusform>%n groups</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>What it has committed for %n partition(s) is forgotten.</source>
        <translation>
            <numerusform>What it has committed for %n partition is forgotten.</numerusform>
            <numerusform>What it has committed for %n partitions is forgotten.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>It has %n member(s), so that its coordinator will refuse: stop its clients first.</source>
        <translation>
            <numerusform>It has %n member, so that its coordinator will refuse: stop its clients first.</numerusform>
            <numerusform>It has %n members, so that its coordinator will refuse: stop its clients first.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::Inspector</name>
    <message numerus="yes">
        <source>%1 in %n segment(s)</source>
        <translation>
            <numerusform>%1 in %n segment</numerusform>
            <numerusform>%1 in %n segments</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n replica(s)</source>
        <translation>
            <numerusform>%1 of %n replica</numerusform>
            <numerusform>%1 of %n replicas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 record(s)</source>
        <translation>
            <numerusform>%1 record</numerusform>
            <numerusform>%1 records</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::LaunchPage</name>
    <message numerus="yes">
        <source>%n broker(s)</source>
        <translation>
            <numerusform>%n broker</numerusform>
            <numerusform>%n brokers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Start %n broker(s)</source>
        <translation>
            <numerusform>Start %n broker</numerusform>
            <numerusform>Start %n brokers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>partitions, %n replica(s) each</source>
        <translation>
            <numerusform>partitions, %n replica each</numerusform>
            <numerusform>partitions, %n replicas each</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n broker(s) up</source>
        <translation>
            <numerusform>%1 of %n broker up</numerusform>
            <numerusform>%1 of %n brokers up</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Kafka 4.4 defaults but for %n: shorter times, fewer threads, one copy of each topic:</source>
        <translation>
            <numerusform>Kafka 4.4 defaults but for %n: shorter times, fewer threads, one copy of each topic:</numerusform>
            <numerusform>Kafka 4.4 defaults but for %n: shorter times, fewer threads, one copy of each topic:</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Kafka 4.4 defaults but for %n: shorter times, fewer threads, copies of each topic:</source>
        <translation>
            <numerusform>Kafka 4.4 defaults but for %n: shorter times, fewer threads, copies of each topic:</numerusform>
            <numerusform>Kafka 4.4 defaults but for %n: shorter times, fewer threads, copies of each topic:</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>holds a cluster of %n broker(s): it goes on</source>
        <translation>
            <numerusform>holds a cluster of %n broker: it goes on</numerusform>
            <numerusform>holds a cluster of %n brokers: it goes on</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n controller(s) of their own</source>
        <translation>
            <numerusform>%n controller of its own</numerusform>
            <numerusform>%n controllers of their own</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n node(s) more, numbered behind the brokers, are the quorum’s controllers and nothing else: no client connects to them, and they hold no partition. Then a broker that is lost costs no vote, and a controller that is lost no copy.</source>
        <translation>
            <numerusform>%n node more, numbered behind the brokers, is the quorum’s controller and nothing else: no client connects to it, and it holds no partition. Then a broker that is lost costs no vote, and a controller that is lost no copy.</numerusform>
            <numerusform>%n nodes more, numbered behind the brokers, are the quorum’s controllers and nothing else: no client connects to them, and they hold no partition. Then a broker that is lost costs no vote, and a controller that is lost no copy.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::LaunchPicture</name>
    <message numerus="yes">
        <source>+ %n partition(s)</source>
        <translation>
            <numerusform>+ %n partition</numerusform>
            <numerusform>+ %n partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 record(s)/s, acks=all</source>
        <translation>
            <numerusform>%1 record/s, acks=all</numerusform>
            <numerusform>%1 records/s, acks=all</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::LookupPanel</name>
    <message numerus="yes">
        <source>%n probe(s) in two indexes</source>
        <translation>
            <numerusform>%n probe in two indexes</numerusform>
            <numerusform>%n probes in two indexes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n probe(s) of %1</source>
        <translation>
            <numerusform>%n probe of %1</numerusform>
            <numerusform>%n probes of %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n entries</source>
        <translation>
            <numerusform>%n entry</numerusform>
            <numerusform>%n entries</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n record(s)</source>
        <translation>
            <numerusform>%n record</numerusform>
            <numerusform>%n records</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::LookupResult</name>
    <message numerus="yes">
        <source>%1   (%n byte(s))</source>
        <translation>
            <numerusform>%1   (%n byte)</numerusform>
            <numerusform>%1   (%n bytes)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::MainWindow</name>
    <message numerus="yes">
        <source>The cluster lies in a temporary folder: its %1 record(s) are removed with it.</source>
        <translation>
            <numerusform>The cluster lies in a temporary folder: its %1 record is removed with it.</numerusform>
            <numerusform>The cluster lies in a temporary folder: its %1 records are removed with it.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::MapPage</name>
    <message numerus="yes">
        <source>%n broker(s)</source>
        <translation>
            <numerusform>%n broker</numerusform>
            <numerusform>%n brokers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n controller(s)</source>
        <translation>
            <numerusform>%n controller</numerusform>
            <numerusform>%n controllers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n broker(s), each also a controller</source>
        <translation>
            <numerusform>%n broker, each also a controller</numerusform>
            <numerusform>%n brokers, each also a controller</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n external client(s)</source>
        <translation>
            <numerusform>%n external client</numerusform>
            <numerusform>%n external clients</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n of them also controller(s)</source>
        <translation>
            <numerusform>%n of them also a controller</numerusform>
            <numerusform>%n of them also controllers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::MapView</name>
    <message numerus="yes">
        <source>%n client(s) more, in the table (T)</source>
        <translation>
            <numerusform>%n client more, in the table (T)</numerusform>
            <numerusform>%n clients more, in the table (T)</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n log dir(s) offline</source>
        <translation>
            <numerusform>%n log dir offline</numerusform>
            <numerusform>%n log dirs offline</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::OffsetsDialog</name>
    <message numerus="yes">
        <source>The group has %n member(s): stop its clients first.</source>
        <translation>
            <numerusform>The group has %n member: stop its clients first.</numerusform>
            <numerusform>The group has %n members: stop its clients first.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::PassCard</name>
    <message numerus="yes">
        <source>%n pass(es) since the broker started</source>
        <translation>
            <numerusform>%n pass since the broker started</numerusform>
            <numerusform>%n passes since the broker started</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::ProduceDialog</name>
    <message numerus="yes">
        <source>%n partition(s) with fewer than min.insync.replicas (%1) in sync: acks=all is refused there</source>
        <translation>
            <numerusform>%n partition with fewer than min.insync.replicas (%1) in sync: acks=all is refused there</numerusform>
            <numerusform>%n partitions with fewer than min.insync.replicas (%1) in sync: acks=all is refused there</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::SegmentsPage</name>
    <message numerus="yes">
        <source>%n day(s)</source>
        <translation>
            <numerusform>%n day</numerusform>
            <numerusform>%n days</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n entries</source>
        <translation>
            <numerusform>%n entry</numerusform>
            <numerusform>%n entries</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>of %n segment(s) are recorded</source>
        <translation>
            <numerusform>of %n segment are recorded</numerusform>
            <numerusform>of %n segments are recorded</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::SettingChips</name>
    <message numerus="yes">
        <source>%n more ▾</source>
        <translation>
            <numerusform>%n more ▾</numerusform>
            <numerusform>%n more ▾</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::StatusLine</name>
    <message numerus="yes">
        <source>%n controller(s)</source>
        <translation>
            <numerusform>%n controller</numerusform>
            <numerusform>%n controllers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n controller(s) up</source>
        <translation>
            <numerusform>%1 of %n controller up</numerusform>
            <numerusform>%1 of %n controllers up</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n broker(s)</source>
        <translation>
            <numerusform>%n broker</numerusform>
            <numerusform>%n brokers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s)</source>
        <translation>
            <numerusform>%n partition</numerusform>
            <numerusform>%n partitions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s) under-replicated</source>
        <translation>
            <numerusform>%n partition under-replicated</numerusform>
            <numerusform>%n partitions under-replicated</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s) without a leader</source>
        <translation>
            <numerusform>%n partition without a leader</numerusform>
            <numerusform>%n partitions without a leader</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 event(s) lost</source>
        <translation>
            <numerusform>%1 event lost</numerusform>
            <numerusform>%1 events lost</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n broker(s) up</source>
        <translation>
            <numerusform>%1 of %n broker up</numerusform>
            <numerusform>%1 of %n brokers up</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n partition(s) below min.insync</source>
        <translation>
            <numerusform>%n partition below min.insync</numerusform>
            <numerusform>%n partitions below min.insync</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::TimelinePage</name>
    <message numerus="yes">
        <source>%n change(s) remembered</source>
        <translation>
            <numerusform>%n change remembered</numerusform>
            <numerusform>%n changes remembered</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::TopBar</name>
    <message numerus="yes">
        <source>%n external client(s)</source>
        <translation>
            <numerusform>%n external client</numerusform>
            <numerusform>%n external clients</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::widgets::TransactionsPage</name>
    <message numerus="yes">
        <source>%n transactional id(s)</source>
        <translation>
            <numerusform>%n transactional id</numerusform>
            <numerusform>%n transactional ids</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n open</source>
        <translation>
            <numerusform>%n open</numerusform>
            <numerusform>%n open</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n refused write(s) of fenced producers</source>
        <translation>
            <numerusform>%n refused write of fenced producers</numerusform>
            <numerusform>%n refused writes of fenced producers</numerusform>
        </translation>
    </message>
</context>
</TS>
