"""Moves a second, and the processor time of a move, compared with a bare relay in the same run.

Rooms of two play drawn games of nine moves, and both players await every state. Our server is measured as installed:
requests with ids, answers awaited, and a rematch after each game, counted with the moves; in memory, and with every
move on disk before it is shown. The relay only gets the moves. The active server has a core of its own, which the load
keeps busy. In each round all servers take turns of half a second; ratios are to the relay of the same round.
Usage: python -m tools.bench.moves [--rooms 100] [--seconds 5] [--rounds 5] [--only memory,disk,relay]
       python -m tools.bench.moves --rooms-list 1,10,100,1000,4000
       python -m tools.bench.moves --peers
       python -m tools.bench.moves --beside COMMIT
       python -m tools.bench.moves --only disk --store nats --servers 3

With --beside an older version takes turns with this one.
With --store nats: clusters on three NATS nodes: a single server, the same with an idle server, two servers and so on,
whose players connect to different servers and go to the room's. The processor time is that of all busy servers, and
the ratio is to disk; then follow the times of the nodes and of the idle server with the bytes it received. At the end,
for disk and clusters, the time of a move at a rate of 900 a second, independent of earlier moves.
"""

import argparse
import contextlib
from collections.abc import AsyncIterator
from statistics import median

from tools.bench.clusters import clusters
from tools.bench.contestants import OURS, Contestant, older
from tools.bench.load import run
from tools.bench.peers import CannotInstall, installed
from tools.bench.peers.contestants import peers_in
from tools.bench.processes import allow_many_connections, wait_for_quiet
from tools.bench.tables import DRAWN, STEPS_A_GAME, Figures, Hall

YARDSTICK, CLUSTERS_YARDSTICK = "relay", "disk"
SLICE_SECONDS = 0.5
PATIENCE_SECONDS = 5.0
"""How long a round waits for a quiet machine; a server waits longer for pending pongs."""

SPARE_DESCRIPTORS = 100
MOVES_A_SECOND = 900
SATURATED = 0.95

NAME_WIDTH = 28
HEADER = (
    f"{'':<{NAME_WIDTH}} {'µs/move':>8} {'moves/s':>9} {'p50 ms':>8} {'p99 ms':>8}  durable {'busy':>6} {'load':>6}"
)


def row(contestant: Contestant, figures: list[Figures]) -> str:
    """Return the medians over some rounds as a line below `HEADER`."""
    return (
        f"{contestant.name:<{NAME_WIDTH}} {median(one.cpu_us for one in figures):>8.2f}"
        f" {median(one.moves_a_second for one in figures):>9,.0f}"
        f" {median(one.percentile_ms(50) for one in figures):>8.2f}"
        f" {median(one.percentile_ms(99) for one in figures):>8.2f}  {'yes' if contestant.is_durable else 'no':<7}"
        f" {median(one.busy for one in figures):>6.0%} {median(one.load for one in figures):>6.0%}"
        + "".join(f"   {name} {median(one.beside_us[name] for one in figures):.1f} µs" for name in figures[0].beside_us)
        + (f", {heard:,.0f} B/s" if (heard := median(one.idle_bytes / one.seconds for one in figures)) else "")
    )


def doubts(figures: Figures) -> str:
    """Return why figures may mislead, or ""."""
    said = []
    if figures.others > 1 - SATURATED:
        said.append(f"somebody else had {figures.others:.0%} of the server's core")
    elif figures.busy < SATURATED:
        said.append("the server waited: for the load, or for the disk")
    if figures.load > SATURATED:
        said.append("the load was the limit")
    return "".join(f"   ! {one}" for one in said)


def ratio(figures: list[Figures], yardstick: list[Figures]) -> str:
    """Return the cost of a move relative to the yardstick's: the median of the rounds, the least and the most."""
    ratios = [one.cpu_us / other.cpu_us for one, other in zip(figures, yardstick, strict=True)]
    return f"   {median(ratios):.2f}x ({min(ratios):.2f}-{max(ratios):.2f})"


async def play_rounds(
    contestants: list[Contestant], rooms: int, *, seconds: float, rounds: int
) -> AsyncIterator[list[Figures]]:
    """Yield the figures of all contestants, round by round.

    The servers take turns in short slices while the others are stopped, so that a slow core is slow for all of them. If
    their connections are too many to be held at once, each server is restarted in each round.
    """
    if 2 * rooms * len(contestants) + SPARE_DESCRIPTORS > allow_many_connections():
        for _ in range(rounds):
            yield [await play_alone(contestant, rooms, seconds) for contestant in contestants]
        return
    async with contextlib.AsyncExitStack() as servers:
        halls = []
        for contestant in contestants:
            server = await servers.enter_async_context(contestant.started())
            halls.append(await Hall.open(server, contestant.seating, rooms))
        for hall in halls:
            hall.server.pause()
        for _ in range(rounds):
            wait_for_quiet(PATIENCE_SECONDS)
            found = [Figures() for _ in halls]
            while found[-1].seconds < seconds:
                for hall, figures in zip(halls, found, strict=True):
                    hall.server.resume()
                    figures.add(await hall.play(SLICE_SECONDS))
                    hall.server.pause()
            yield found


async def play_alone(contestant: Contestant, rooms: int, seconds: float) -> Figures:
    wait_for_quiet(PATIENCE_SECONDS)
    async with contestant.started() as server:
        hall = await Hall.open(server, contestant.seating, rooms)
        figures = await hall.play(seconds)
        await hall.close()
        return figures


async def compare_paced(contestants: list[Contestant], rooms: int, *, seconds: float, rounds: int) -> None:
    """Print how long a move takes each contestant at `MOVES_A_SECOND`, one after the other."""
    pace = rooms / MOVES_A_SECOND * len(DRAWN) / STEPS_A_GAME
    print(f"{rooms} rooms, {MOVES_A_SECOND} moves a second, however late", flush=True)
    found: dict[str, Figures] = {contestant.name: Figures() for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            wait_for_quiet(PATIENCE_SECONDS)
            async with contestant.started() as server:
                hall = await Hall.open(server, contestant.seating, rooms, pace_seconds=pace, is_open=True)
                found[contestant.name].add(await hall.play(seconds))
                await hall.close()
    for name, figures in found.items():
        p50, p99 = figures.percentile_ms(50), figures.percentile_ms(99)
        latency = f"p50 {p50:.2f} ms   p99 {p99:.2f} ms"
        print(
            f"{name:<{NAME_WIDTH}} {figures.cpu_us:>6.1f} µs/move   {figures.moves_a_second:>5,.0f} moves/s   {latency}"
        )


async def compare(
    contestants: list[Contestant], rooms: int, *, yardstick: str = YARDSTICK, seconds: float, rounds: int
) -> None:
    """Measure all in turn, `rounds` times; print each round, then the medians."""
    found: dict[str, list[Figures]] = {contestant.name: [] for contestant in contestants}
    print(f"{rooms} rooms\n{HEADER}", flush=True)
    async for of_all in play_rounds(contestants, rooms, seconds=seconds, rounds=rounds):
        for contestant, figures in zip(contestants, of_all, strict=True):
            found[contestant.name].append(figures)
            print(row(contestant, [figures]) + doubts(figures), flush=True)
    print(f"median of {rounds}")
    for contestant in contestants:
        figures_of_all = found[contestant.name]
        beside = ratio(figures_of_all, found[yardstick]) if yardstick in found else ""
        print(row(contestant, figures_of_all) + beside, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", type=int, default=100)
    parser.add_argument("--rooms-list", type=lambda text: [int(one) for one in text.split(",")])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[one.name for one in OURS])
    parser.add_argument("--peers", action="store_true", help="Colyseus and boardgame.io too, by npm")
    parser.add_argument("--beside", metavar="COMMIT", help="our own server as it was there, too")
    parser.add_argument("--store", choices=["nats"], help="clusters on three nodes of NATS, too")
    parser.add_argument("--servers", type=int, default=2, help="of the largest cluster (default 2)")
    parser.add_argument("--streams", type=lambda text: [int(one) for one in text.split(",")], default=[4])
    parser.add_argument("--no-paced", action="store_true", help="leave out how long moves take at 900 a second")
    options = parser.parse_args()
    allow_many_connections()
    with contextlib.ExitStack() as stack:
        contestants = [one for one in OURS if one.name in options.only]
        if options.beside:
            before = stack.enter_context(older(options.beside))
            contestants += [one for one in before if one.name.partition(" ")[0] in options.only]
        if options.peers:
            try:
                contestants += peers_in(stack.enter_context(installed()))
            except CannotInstall as reason:
                print(f"Colyseus and boardgame.io are left out: {reason}")
        several = clusters(options.servers, options.streams) if options.store else []
        for rooms in options.rooms_list or [options.rooms]:
            yardstick = CLUSTERS_YARDSTICK if several else YARDSTICK
            everybody = contestants + several
            run(compare(everybody, rooms, yardstick=yardstick, seconds=options.seconds, rounds=options.rounds))
        if several and not options.no_paced:
            paced = [*(one for one in contestants if one.is_durable), *several]
            run(compare_paced(paced, options.rooms, seconds=options.seconds, rounds=options.rounds))


if __name__ == "__main__":
    main()
