"""A comparison of the nodes' copies of each stream. Only the streams' leaders answer all other requests.

Intact copies with the same last sequence are equal. While servers write, copies are compared over several samples. The
advice to the operator never destroys data that another node may lack.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from tictactoe_server.features.jetstream.link import Link, Message
from tictactoe_server.features.jetstream.stream import COPIES, Stream, StreamInfo
from tictactoe_server.operator.words import show_count
from tictactoe_server.scheduler import wait_until

_QUESTION: Final = b'{"accounts": true, "streams": true}'
_ANSWER_SECONDS: Final = 1.0
_SAMPLES: Final = 4
_PAUSE_SECONDS: Final = 0.25
_REPAIR: Final = " Stop it, move its store_dir aside, and start it: it copies everything from the other nodes."
_SAVE: Final = (
    " More than one node has a fault. Before anything else, stop the servers and copy the store_dir of each node."
)


class Copy(Struct, frozen=True):
    """The state of a stream's copy on a node."""

    messages: int = 0
    first_seq: int = 0
    last_seq: int = 0


class _Detail(Struct, frozen=True):
    name: str
    created: str
    state: Copy = Copy()


class _Account(Struct, frozen=True):
    stream_detail: Sequence[_Detail] = ()


class _Config(Struct, frozen=True):
    sync_always: bool = False


class _Data(Struct, frozen=True):
    disabled: bool = False
    config: _Config = _Config()
    account_details: Sequence[_Account] = ()


class _Server(Struct, frozen=True):
    name: str


class Report(Struct, frozen=True):
    """A node's report about itself and its copies of streams."""

    server: _Server
    data: _Data = _Data()

    def copy(self, stream: str, created: str) -> Copy:
        """Return the node's copy of the stream with this name and time of creation, or an empty copy if it has none."""
        found = chain.from_iterable(account.stream_detail for account in self.data.account_details)
        return next((one.state for one in found if (one.name, one.created) == (stream, created)), Copy())


Sample = Mapping[str, Report]
"""Reports by the names of their nodes, all requested at the same time."""


class Copies:
    """Requests reports from all nodes and compares them. Call `open` first."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._inbox = f"_INBOX.{secrets.token_hex(11)}"
        self._reports: dict[str, Report] = {}

    async def open(self) -> None:
        await self._link.subscribe(self._inbox, self._on_reply)

    async def find_faults(self, streams: Sequence[Stream]) -> dict[str, list[str]]:
        """Return sentences about faults by the node's name, or by "" for faults that concern several nodes.

        May raise `StoreUnavailable`.
        """
        infos = await asyncio.gather(*(stream.info() for stream in streams))
        names = {peer.name or "" for info in infos for peer in info.cluster.replicas or ()}
        if not names:
            return {}  # there is only one node
        compared = [Compared(stream.name, info) for stream, info in zip(streams, infos, strict=True)]
        names |= {comparison.leader for comparison in compared if comparison.leader}
        samples = [await self._sample(names)]
        if not samples[0]:
            return {"": ["The nodes do not describe their copies: see nats.conf in docs/how-to/run-a-cluster.md."]}
        while len(samples) < _SAMPLES and not all(comparison.is_equal(names, samples[-1]) for comparison in compared):
            await asyncio.sleep(_PAUSE_SECONDS)
            samples.append(await self._sample(names))
        samples = [{name: sample[name] for name in names & sample.keys()} for sample in samples]
        faults = Faults()
        faults.look_at_nodes(names, samples[-1])
        for comparison in compared:
            comparison.compare(samples, faults)
        return faults.sentences()

    async def _sample(self, names: set[str]) -> Sample:
        self._reports = {}
        self._link.publish(COPIES, _QUESTION, reply=self._inbox)
        await wait_until(lambda: names <= self._reports.keys(), _ANSWER_SECONDS)
        return self._reports

    def _on_reply(self, message: Message) -> None:
        with contextlib.suppress(ValueError):  # also raised for "no responders"
            report = msgspec.json.decode(message.data, type=Report)
            self._reports[report.server.name] = report


class Faults:
    """The faults found so far.

    Attributes:
        behind: The number of writes that a node lacks, by node.
        ahead: The number of writes that a node has and the stream's leader lacks, by node.
        damaged: By node and stream, how many messages a copy has more or fewer than the majority of copies.
        split: The streams without a majority of equal copies.
        unplaced: The streams that have copies on fewer nodes than configured.
    """

    def __init__(self) -> None:
        self.behind, self.ahead = Counter[str](), Counter[str]()
        self.damaged = defaultdict[str, dict[str, int]](dict)
        self.split: list[str] = []
        self.unplaced: list[str] = []
        self._found: list[tuple[str, str, bool]] = []  # the node, a sentence, and whether the node's files are damaged

    def look_at_nodes(self, names: set[str], sample: Sample) -> None:
        for node in sorted(names):
            report = sample.get(node)
            if report is None:
                why = "is down, or it hangs. Read its log and restart it. If that does not help, its files are damaged."
                self._found.append((node, f"Node {node} does not answer: it {why}", True))
            elif report.data.disabled:
                why = "its disk is full, or its max_file_store is reached. Make room, then restart it."
                self._found.append((node, f"Node {node} has stopped storing: {why}", False))
            elif not report.data.config.sync_always:
                why = "set sync_interval: always."
                self._found.append((node, f"Node {node} confirms writes before they are on its disk: {why}", False))

    def sentences(self) -> dict[str, list[str]]:
        """Return sentences by the node's name, with advice that takes all faults into account."""
        found = list(self._found)
        for node, count in self.ahead.items():
            why = (
                "that the others have lost, perhaps the only copy. Stop it and copy its store_dir before anything else."
            )
            found.append((node, f"Node {node} has {show_count(count, 'write')} {why}", False))
        for node, count in self.behind.items():
            why = "If that lasts and its disk is not full, its files are damaged."
            found.append((node, f"Node {node} is {show_count(count, 'write')} behind. {why}", True))
        for node, streams in self.damaged.items():
            fault = f"its copies of {', '.join(streams)} differ from those of the others"
            by = f"by {show_count(sum(streams.values()), 'message')}."
            found.append((node, f"Node {node} has damaged files: {fault} {by}", True))
        if self.unplaced:
            why = "Start a node that can take them, under the name of the old one or under another."
            found.append(("", f"Too few nodes have copies of {', '.join(self.unplaced)}. {why}", False))
        if self.split:
            found.append(("", f"The nodes have different copies of {', '.join(self.split)}.", True))
        advice = _REPAIR if len({node for node, _, _ in found}) == 1 and not self.split else _SAVE
        by_node = defaultdict[str, list[str]](list)
        for node, sentence, is_damaged in found:
            by_node[node].append(sentence + advice * is_damaged)
        return by_node


class Compared(NamedTuple):
    """A stream whose copies are compared, with its leader's description."""

    stream: str
    info: StreamInfo

    @property
    def leader(self) -> str:
        return self.info.cluster.leader or ""

    def is_equal(self, names: set[str], sample: Sample) -> bool:
        copies = self._copies(sample)
        return names <= copies.keys() and len({copies[name] for name in names}) == 1

    def compare(self, samples: Sequence[Sample], faults: Faults) -> None:
        """Add the nodes with copies that are behind, ahead, or different at the same last sequence to `faults`."""
        if 1 + len(self.info.cluster.replicas or ()) < self.info.config.get("num_replicas", 1):
            faults.unplaced.append(self.stream)
        first, *_, last = [self._copies(sample) for sample in (samples[0], *samples)]
        if self.leader not in first or self.leader not in last:
            return
        states = defaultdict[int, dict[str, Copy]](dict)
        for node, copy in (found for sample in samples for found in self._copies(sample).items()):
            states[copy.last_seq][node] = copy
        for node, copy in last.items():
            if node in first and (ahead := first[node].last_seq - last[self.leader].last_seq) > 0:
                faults.ahead[node] += ahead
            elif copy.last_seq < first[self.leader].last_seq:
                faults.behind[node] += last[self.leader].last_seq - copy.last_seq
        shared = max(states, key=lambda sequence: (len(states[sequence]), sequence))
        (usual, count), *others = Counter(states[shared].values()).most_common()
        if others and count * 2 <= len(states[shared]):
            faults.split.append(self.stream)
        for node, copy in states[shared].items() if count * 2 > len(states[shared]) else ():
            if copy != usual:
                faults.damaged[node][self.stream] = abs(usual.messages - copy.messages)

    def _copies(self, sample: Sample) -> dict[str, Copy]:
        living = {node: report for node, report in sample.items() if not report.data.disabled}
        return {node: report.copy(self.stream, self.info.created) for node, report in living.items()}
