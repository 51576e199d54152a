"""What lies on what, from what is seen where things overlap."""

from __future__ import annotations

import heapq
from collections import Counter


def stacked(numbers: list[int], above: Counter[tuple[int, int]]) -> list[int]:
    """Order from the lowest up: each after all that lie below it; in doubt, and in circles, by number.

    >>> stacked([1, 2, 3], Counter({(1, 3): 50, (3, 1): 4}))
    [2, 3, 1]
    """
    under: dict[int, set[int]] = {number: set() for number in numbers}
    over: dict[int, list[int]] = {number: [] for number in numbers}
    for (upper, lower), pixels in above.items():
        if pixels > above.get((lower, upper), 0) and upper in under and lower in under:
            under[upper].add(lower)
            over[lower].append(upper)
    order: dict[int, None] = {}
    free = [number for number in numbers if not under[number]]
    heapq.heapify(free)
    blocked = sorted(numbers)
    while len(order) < len(numbers):
        if not free:
            blocked = [number for number in blocked if number not in order]
            free = [blocked[0]]
        chosen = heapq.heappop(free)
        if chosen in order:
            continue
        order[chosen] = None
        for upper in over[chosen]:
            under[upper].discard(chosen)
            if not under[upper] and upper not in order:
                heapq.heappush(free, upper)
    return list(order)
