"""The groups to assign, as tests/peers/src/groups.rs writes them."""

import struct
from dataclasses import dataclass


@dataclass
class Member:
    id: str
    subscription: list
    claimed: int
    # (topic's index, partitions)
    claims: list


@dataclass
class Group:
    generation: int
    # (name, number of partitions)
    topics: list
    members: list


def groups(path):
    """Yields each group of the file."""
    with open(path, "rb") as file:
        reader = _Reader(file)
        if file.read(8) != b"KSGROUPS":
            raise ValueError(f"{path} is no file of groups")
        for _ in range(reader.int()):
            yield reader.group()


class _Reader:
    def __init__(self, file):
        self.file = file

    def group(self):
        generation = self.int()
        self.list(self.string)  # racks: kafka-python knows none
        topics = self.list(self.topic)
        subscriptions = self.list(self.ints)
        return Group(generation, topics, self.list(lambda: self.member(subscriptions)))

    def topic(self):
        name, partitions, replicas = self.string(), self.int(), self.int()
        self.file.read(partitions * replicas * 4)
        return name, partitions

    def member(self, subscriptions):
        member_id, subscription, _rack, claimed = self.string(), subscriptions[self.int()], self.int(), self.int()
        return Member(member_id, subscription, claimed, self.list(lambda: (self.int(), self.ints())))

    def int(self):
        return struct.unpack(">i", self.file.read(4))[0]

    def ints(self):
        count = self.int()
        return list(struct.unpack(f">{count}i", self.file.read(4 * count)))

    def string(self):
        (length,) = struct.unpack(">H", self.file.read(2))
        return self.file.read(length).decode()

    def list(self, item):
        return [item() for _ in range(self.int())]
