"""Minimum-cost perfect matching in a graph.

This is Edmonds' blossom algorithm with dual variables (Galil, "Efficient Algorithms for Finding Maximum Matching in
Graphs", 1986). Each vertex has a price. An edge is tight if its cost is the mean of the prices at its ends, and only
tight edges are used. Alternating trees grow from all vertices without a partner:

- If two trees meet, the path between their roots is augmented, which adds a pair.
- If a tree meets itself, the odd cycle is contracted into one node, a blossom.
- If no tree can grow, the prices change until another edge is tight.

The final prices also prove which edges cannot improve the matching. The search therefore begins with the cheapest few
edges at each vertex, and repeats only if an omitted edge could help.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

FEW: Final = 12  # edges at each vertex in the first search

_Edge = tuple[int, ...]


class _Node:
    """A vertex, or a blossom, which is a contracted odd cycle.

    Attributes:
        vertices: All vertices in the node.
        parts: The nodes of a blossom's cycle, in order; empty for a vertex.
        links: The edges of the cycle, from each part to the next.
        used: The edge to the node's partner, starting in this node, or empty. It determines the pairs in a blossom.
        label: ``outer`` at an even distance from the root of a tree, ``inner`` at an odd one, or "" outside all trees.
        up: The edge from the parent in the tree, ending in this node; empty for a root.
        value: The dual variable of a blossom.
    """

    __slots__ = ("label", "links", "parts", "up", "used", "value", "vertices")

    def __init__(self, vertices: list[int], parts: list[_Node], links: list[_Edge]) -> None:
        self.vertices, self.parts, self.links = vertices, parts, links
        self.label: Literal["", "outer", "inner"] = ""
        self.up: _Edge = ()
        self.used: _Edge = ()
        self.value = 0

    def place_of(self, vertex: int) -> int:
        """Return the index of the part that contains a vertex."""
        return next(place for place, part in enumerate(self.parts) if vertex in part.vertices)

    def pair_parts(self) -> None:
        """Rotate a blossom until its first part has the edge to the partner, and pair the other parts in turn."""
        first = self.place_of(self.used[0])
        self.parts = self.parts[first:] + self.parts[:first]
        self.links = self.links[first:] + self.links[:first]
        self.parts[0].used = self.used
        for place in range(1, len(self.parts), 2):
            one, other = self.links[place]
            self.parts[place].used, self.parts[place + 1].used = (one, other), (other, one)


def match_all(costs: Mapping[int, Mapping[int, int]]) -> dict[int, int] | None:
    """Return each vertex's partner in a perfect matching of minimum cost, or None if there is no perfect matching.

    Args:
        costs: The nonnegative cost of every edge, in both directions, by vertex. Vertices are numbered from 0.

    >>> costs = {0: {1: 1, 2: 5, 3: 9}, 1: {0: 1, 2: 9, 3: 5}, 2: {0: 5, 1: 9, 3: 40}, 3: {0: 9, 1: 5, 2: 40}}
    >>> match_all(costs) == {0: 2, 1: 3, 2: 0, 3: 1}
    True
    """
    if len(costs) % 2:
        return None
    used: dict[int, dict[int, int]] = {vertex: {} for vertex in costs}
    for vertex, edges in costs.items():
        for other in sorted(edges, key=edges.__getitem__)[:FEW]:
            used[vertex][other] = used[other][vertex] = edges[other]
    while True:
        search = _Search(used)
        partners = search.run()
        helpful = [
            (one, other, cost)
            for one, edges in costs.items()
            for other, cost in edges.items()
            if one < other and other not in used[one] and (partners is None or search.slack(one, other, cost) < 0)
        ]
        if not helpful:
            return partners
        for one, other, cost in helpful:
            used[one][other] = used[other][one] = cost


class _Search:
    def __init__(self, costs: Mapping[int, Mapping[int, int]]) -> None:
        self._edges = {vertex: list(edges.items()) for vertex, edges in costs.items()}
        self._top = {vertex: _Node([vertex], [], []) for vertex in costs}
        # The prices of vertices without a partner stay even, so that half of a slack is an integer.
        self._price = {vertex: min(edges.values(), default=0) // 2 * 2 for vertex, edges in costs.items()}

    def slack(self, one: int, other: int, cost: int) -> int:
        """Return twice an edge's cost less the prices at its ends: 0 if it is tight, negative if it could help."""
        return 2 * cost - self._price[one] - self._price[other]

    def run(self) -> dict[int, int] | None:
        self._take_tight_edges()
        while not all(node.used for node in self._top.values()):
            if not self._find_pair():
                return None
        nodes = [*dict.fromkeys(self._top.values())]
        for node in nodes:
            if node.parts:
                node.pair_parts()
                nodes += node.parts
        return {node.vertices[0]: node.used[1] for node in nodes if not node.parts}

    def _take_tight_edges(self) -> None:
        for vertex, edges in self._edges.items():
            if edges:
                self._price[vertex] += min(self.slack(vertex, other, cost) for other, cost in edges) // 2 * 2
            for other, cost in edges:
                one, two = self._top[vertex], self._top[other]
                if not one.used and not two.used and self.slack(vertex, other, cost) == 0:
                    one.used, two.used = (vertex, other), (other, vertex)

    def _find_pair(self) -> bool:
        """Grow trees from all vertices without a partner until a pair is added; return False if this is impossible."""
        for node in self._top.values():
            node.label, node.up = "" if node.used else "outer", ()
        while (found := self._grow()) is None:
            if not self._move_prices():
                return False
        self._exchange(*found)
        self._exchange(*reversed(found))
        return True

    def _grow(self) -> tuple[int, int] | None:
        """Grow along tight edges until none is left; return an edge between two trees, or None."""
        top, price, edges = self._top, self._price, self._edges
        waiting = [vertex for vertex, node in top.items() if node.label == "outer"]
        while waiting:
            vertex = waiting.pop()
            node, own = top[vertex], price[vertex]
            for other, cost in edges[vertex]:
                met = top[other]
                if own + price[other] != 2 * cost or met is node or met.label == "inner":
                    continue
                if met.label == "":
                    met.label, met.up = "inner", (vertex, other)
                    after = top[met.used[1]]
                    after.label, after.up = "outer", met.used
                    waiting += after.vertices
                    continue
                circle = self._shrink(vertex, other)
                if circle is None:
                    return vertex, other
                waiting += circle
                node = top[vertex]
        return None

    def _way_up(self, vertex: int) -> Iterator[_Node]:
        yield (node := self._top[vertex])
        while node.up:
            yield (node := self._top[node.up[0]])

    def _shrink(self, one: int, other: int) -> list[int] | None:
        """Contract the cycle that an edge between two outer vertices closes, and return its former inner vertices.

        Return None if the edge joins two trees instead.
        """
        left, right = list(self._way_up(one)), list(self._way_up(other))
        if left[-1] is not right[-1]:
            return None
        while len(left) > 1 and len(right) > 1 and left[-2] is right[-2]:
            left.pop()
            right.pop()
        root = left.pop()
        right.pop()
        left.reverse()
        parts = [root, *left, *right]
        links = [*(node.up for node in left), (one, other), *(node.up[::-1] for node in right)]
        blossom = _Node([vertex for part in parts for vertex in part.vertices], parts, links)
        blossom.label, blossom.up, blossom.used = "outer", root.up, root.used
        self._top.update(dict.fromkeys(blossom.vertices, blossom))
        return [vertex for part in blossom.parts if part.label == "inner" for vertex in part.vertices]

    def _exchange(self, vertex: int, partner: int) -> None:
        """Pair an outer vertex with `partner`, and exchange used and unused edges on the path to its root."""
        while True:
            node = self._top[vertex]
            node.used = vertex, partner
            if not node.up:
                return
            inner = self._top[node.up[0]]
            vertex, partner = inner.up
            inner.used = partner, vertex

    def _move_prices(self) -> bool:
        """Change prices until another edge is tight or an inner blossom has value 0; return False if impossible."""
        nodes, top, price = [*dict.fromkeys(self._top.values())], self._top, self._price
        steps = [node.value // 2 for node in nodes if node.label == "inner" and node.parts]
        for vertex, node in top.items():
            if node.label != "outer":
                continue
            own = price[vertex]
            for other, cost in self._edges[vertex]:
                met = top[other]
                if met.label == "":
                    steps.append(2 * cost - own - price[other])
                elif met.label == "outer" and met is not node:
                    steps.append((2 * cost - own - price[other]) // 2)
        if not steps:
            return False
        step = min(steps)
        for node in nodes:
            if node.label:
                sign = 1 if node.label == "outer" else -1
                node.value += 2 * step * sign
                for vertex in node.vertices:
                    price[vertex] += step * sign
        for node in nodes:
            if node.label == "inner" and node.parts and node.value == 0:
                self._open(node)
        return True

    def _open(self, node: _Node) -> None:
        """Replace an inner blossom by its parts.

        The parts on the even path from the tree's edge into the blossom to its used edge stay in the tree.
        """
        node.pair_parts()
        first, count = node.place_of(node.up[1]), len(node.parts)
        for part in node.parts:
            part.label, part.up = "", ()
            self._top.update(dict.fromkeys(part.vertices, part))
        part = node.parts[first]
        part.label, part.up = "inner", node.up
        step = 1 if first % 2 else -1
        while first % count:
            for label in ("outer", "inner"):
                up = node.links[first % count] if step > 0 else node.links[first - 1][::-1]
                first += step
                part = node.parts[first % count]
                part.label, part.up = label, up
