"""Answers each line on standard input with kafka-python's codec: a message with its bytes, bytes with their message.

tests/peers/src/bytes/message.rs describes the messages.
"""

import json
import sys

from kafka.coordinator.assignors.sticky.user_data import StickyAssignorUserData
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription


def main():
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if "write" in asked:
                answer = {"bytes": write(asked["write"]).hex()}
            else:
                asked = asked["read"]
                answer = {"message": {"kind": asked["kind"], **read(asked["kind"], bytes.fromhex(asked["bytes"]))}}
        except Exception as error:
            answer = {"cannot": repr(error)}
        print(json.dumps(answer), flush=True)


def write(message):
    kind, version = message["kind"], message["version"]
    if kind == "subscription":
        owned = [
            ConsumerProtocolSubscription.TopicPartition(topic=topic, partitions=partitions)
            for topic, partitions in message["partitions"]
        ]
        return ConsumerProtocolSubscription(
            topics=message["topics"],
            user_data=from_hex(message["user_data"]),
            owned_partitions=owned,
            generation_id=message["generation"],
            rack_id=message["rack"],
            version=version,
        ).encode()
    if kind == "assignment":
        return ConsumerProtocolAssignment(
            assigned_partitions=[tuple(listed) for listed in message["partitions"]],
            user_data=from_hex(message["user_data"]),
            version=version,
        ).encode()
    if kind == "sticky":
        partitions = [tuple(listed) for listed in message["partitions"]]
        return StickyAssignorUserData(partitions, message["generation"], version=version).encode()
    raise ValueError(f"it has no {kind}")


def read(kind, data):
    if kind == "subscription":
        wire = ConsumerProtocolSubscription.decode(data)
        return {
            "version": wire.version,
            "topics": wire.topics,
            "user_data": to_hex(wire.user_data),
            "partitions": [[owned.topic, owned.partitions] for owned in wire.owned_partitions or []],
            "generation": wire.generation_id,
            "rack": wire.rack_id,
        }
    if kind == "assignment":
        wire = ConsumerProtocolAssignment.decode(data)
        return {
            "version": wire.version,
            "user_data": to_hex(wire.user_data),
            "partitions": [[topic, partitions] for topic, partitions in wire.assigned_partitions],
        }
    if kind == "sticky":
        wire = StickyAssignorUserData.decode(data)
        return {
            "version": wire.version,
            "partitions": [[topic, partitions] for topic, partitions in wire.previous_assignment],
            "generation": wire.generation,
        }
    raise ValueError(f"it has no {kind}")


def from_hex(text):
    return None if text is None else bytes.fromhex(text)


def to_hex(data):
    return None if data is None else bytes(data).hex()


if __name__ == "__main__":
    main()
