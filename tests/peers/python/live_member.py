"""A consumer in a group. Its one argument says where it belongs, as JSON; what it sees goes to standard output, a JSON
value a line; "stop" on standard input makes it leave, and the end of standard input ends it at once.
"""

import json
import logging
import os
import signal
import sys
import threading

from kafka import KafkaConsumer
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

SPEAKING = threading.Lock()


def say(what):
    with SPEAKING:
        print(json.dumps(what), flush=True)


def listed(partitions):
    return sorted([topic, partition] for topic, partition in partitions)


class Sticky(StickyPartitionAssignor):
    """kafka-python's own, which also tells what it takes the members to have had."""

    leads = False

    def assign(self, cluster, members):
        Sticky.leads = True
        claims = {}
        for member in members:
            had = self.parse_member_metadata(member.metadata)
            claims[member.member_id] = {"generation": had.generation, "partitions": listed(had.partitions)}
        say({"Led": {"claims": claims}})
        return super().assign(cluster, members)


STRATEGIES = {"sticky": Sticky, "range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor}


class Watch(ConsumerRebalanceListener):
    """Reports what the callbacks are handed."""

    def __init__(self, consumer, topics):
        self.consumer = consumer
        self.topics = topics

    def on_partitions_assigned(self, assigned):
        # It shows its generation nowhere else.
        generation = self.consumer._coordinator._generation
        say({
            "Assigned": {
                "generation": generation.generation_id,
                "member_id": generation.member_id,
                "subscription": self.topics,
                "partitions": listed(self.consumer.assignment()),
                "leader": Sticky.leads,
            }
        })
        Sticky.leads = False

    def on_partitions_revoked(self, revoked):
        say({"Revoked": listed(revoked)})

    def on_partitions_lost(self, lost):
        say({"Lost": listed(lost)})


class Stop(Exception):
    pass


def stop(*_):
    raise Stop


def listen():
    for line in sys.stdin:
        if line.strip() == "stop":
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
    os._exit(1)


def main():
    place = json.loads(sys.argv[1])
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    signal.signal(signal.SIGUSR1, stop)
    threading.Thread(target=listen, daemon=True).start()
    consumer = KafkaConsumer(
        bootstrap_servers=place["bootstrap_servers"],
        group_id=place["group"],
        client_id=place["name"],
        group_instance_id=place["instance_id"],
        client_rack=place["rack"] or "",
        partition_assignment_strategy=[STRATEGIES[name] for name in place["strategies"]],
        session_timeout_ms=place["session_timeout_ms"],
        heartbeat_interval_ms=place["heartbeat_interval_ms"],
        metadata_max_age_ms=place["metadata_max_age_ms"],
        auto_commit_interval_ms=place["commit_interval_ms"],
        auto_offset_reset="earliest",
    )
    try:
        consumer.subscribe(place["topics"], listener=Watch(consumer, place["topics"]))
        while True:
            # Longer than any rebalance takes: where poll returns in the middle of one that a topic's growth began, the leader
            # forgets that it is joining, and never sends what it assigned.
            for records in consumer.poll(timeout_ms=30_000).values():
                for record in records:
                    generation = consumer._coordinator._generation.generation_id
                    say({
                        "Read": {
                            "topic": record.topic,
                            "partition": record.partition,
                            "offset": record.offset,
                            "generation": generation,
                        }
                    })
    except Stop:
        consumer.close()
    except Exception as error:
        say({"Failed": repr(error)})
        raise


main()
