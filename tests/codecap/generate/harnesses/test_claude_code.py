"""Claude Code: its command line, and what its logs tell."""

import pytest
from agent_logs import cut_anywhere, recorded, spoilt

from codecap.generate.harnesses import claude_code

ENDPOINT = {"api": "anthropic", "model": "m-1", "thinking": "high"}


def agent(**told) -> claude_code.ClaudeCode:
    return claude_code.load({"endpoint": ENDPOINT, "version": "2.1.296", **told}).agent


def test_a_run_is_read_from_its_events():
    trace = agent().parse(recorded("claude_code", "done"))
    assert [call.tool for call in trace.calls] == ["Bash", "Bash", "Read", "Write", "Edit", "Write", "Bash", "Bash", "Read"]
    assert trace.by_class == {"view_reference": 1, "analyse_frames": 3, "write_code": 2, "render_compare": 2, "other": 1}
    assert (trace.rounds, trace.said, trace.stop, trace.errors) == (10, "The page is done.", "end_turn", ())


def test_a_run_that_was_killed_tells_what_it_did_before():
    trace = agent().parse(recorded("claude_code", "late"))
    assert [call.told for call in trace.calls] == ["frames --at 0 -o shots", "sleep 500"]
    assert (trace.rounds, trace.stop) == (2, "")


def test_a_run_whose_model_failed_says_so():
    trace = agent().parse(recorded("claude_code", "failed"))
    assert (trace.rounds, trace.stop) == (1, "error") and "as the script says" in trace.errors[-1]


def test_logs_may_be_cut_anywhere_and_hold_anything():
    whole = recorded("claude_code", "done")
    counts = [len(agent().parse(logs).calls) for logs in cut_anywhere(whole)]
    assert counts == sorted(counts) and counts[0] == 0
    for logs in spoilt(whole):
        agent().parse(logs)


@pytest.mark.parametrize("level", ["off", "4096", "minimal"])
def test_a_level_that_would_not_reach_the_model_is_refused(level):
    with pytest.raises(ValueError, match="its levels are low, medium, high, xhigh, max"):
        agent(endpoint=ENDPOINT | {"thinking": level})
