"""Stage 1: which videos there are, brought to the one clock that all later stages read."""

from codecap.collect.candidates import CandidateError, collect_candidates, fetch_shard

__all__ = ["CandidateError", "collect_candidates", "fetch_shard"]
