"""Stage 1: which videos there are, brought to the one clock that all later stages read."""

from codecap.collect.candidates import CandidateError, Collected, collect_candidates
from codecap.collect.fetching import Fetcher, fetch_shard

__all__ = ["CandidateError", "Collected", "Fetcher", "collect_candidates", "fetch_shard"]
