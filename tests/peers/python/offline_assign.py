"""Assigns each group of a file with kafka-python: GROUPS ANSWERS WARM_MS MEASURE_MS sticky|cooperative-sticky.

What is timed is the assignor's call, from subscriptions as its client reads them off the wire to assignments.
"""

import json
import logging
import struct
import sys
import time

from kafka.cluster import ClusterMetadata
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.protocol.consumer.group import JoinGroupResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription

from offline_groups import groups

ASSIGNORS = {"sticky": StickyPartitionAssignor, "cooperative-sticky": CooperativeStickyAssignor}
MOST_CALLS = 1000


def main():
    groups_path, answers_path, warm_ms, measure_ms, strategy = sys.argv[1:]
    # It warns of each claim that two members make.
    logging.disable(logging.WARNING)
    with open(answers_path, "wb") as answers:
        for group in groups(groups_path):
            assign(group, ASSIGNORS[strategy], float(warm_ms), float(measure_ms), answers)


def assign(group, assignor_class, warm_ms, measure_ms, answers):
    cluster = ClusterMetadata()
    # By topic and number; its assignors look at nothing else.
    cluster._partitions = {name: dict.fromkeys(range(partitions)) for name, partitions in group.topics}
    members = [join_member(group, member, assignor_class) for member in group.members]
    assignor = assignor_class()
    say(loaded=True)

    start = time.perf_counter()
    try:
        assignment = assignor.assign(cluster, members)
    except Exception as error:
        answers.write(struct.pack(">i", -1))
        answers.flush()
        say(error=repr(error))
        return
    first = since(start)
    answer(group, assignment, answers)
    say(first_ms=first)
    times, cpu = warm_times(start, lambda: assignor.assign(cluster, members), warm_ms, measure_ms)
    say(warm_ms=times, cpu_ms=cpu, peak_kib=peak_kib())


def join_member(group, member, assignor_class):
    """The member as its leader's client decodes it from the bytes that the member's own would write."""
    assignor = assignor_class()
    if member.claimed >= 0:
        given = [(group.topics[topic][0], partitions) for topic, partitions in member.claims]
        assignor.on_assignment(ConsumerProtocolAssignment(0, given, b""), member.claimed)
    said = assignor.metadata([group.topics[topic][0] for topic in member.subscription])
    metadata = ConsumerProtocolSubscription.decode(said.encode())
    return JoinGroupResponse.JoinGroupResponseMember(
        member_id=member.id, group_instance_id=None, metadata=metadata, version=5
    )


def answer(group, assignment, answers):
    index = {name: at for at, (name, _) in enumerate(group.topics)}
    answers.write(struct.pack(">i", len(group.members)))
    for member in group.members:
        topics = assignment[member.id].assigned_partitions
        answers.write(struct.pack(">i", len(topics)))
        for topic, partitions in topics:
            answers.write(struct.pack(f">ii{len(partitions)}i", index[topic], len(partitions), *partitions))
    answers.flush()


def warm_times(start, call, warm_ms, measure_ms):
    """Times of calls after the first: until warm_ms have passed since that began they are not timed; then for
    measure_ms they are, and at least three times unless these take five seconds. No calls if measure_ms is 0.
    And the mean CPU time meanwhile."""
    times = []
    if measure_ms == 0:
        return times, 0
    while since(start) < warm_ms:
        call()
    measuring, cpu = time.perf_counter(), time.process_time()
    while len(times) < MOST_CALLS and (
        since(measuring) < measure_ms or (len(times) < 3 and since(measuring) < 5_000)
    ):
        began = time.perf_counter()
        call()
        times.append(since(began))
    return times, (time.process_time() - cpu) * 1e3 / len(times)


def since(start):
    return (time.perf_counter() - start) * 1e3


def peak_kib():
    """The most memory that this process had."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def say(**line):
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
