"""One run of an agent: folder, gateway, sandbox, deadline, and what is left of it."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap import exchange, stopping, store
from codecap.clock import FPS
from codecap.generate.agents import logs, salvage
from codecap.generate.agents.agent import STDERR, STDOUT, Agent, Command, Task
from codecap.generate.agents.reviewing import Reviewer
from codecap.generate.agents.settings import AgentSettings
from codecap.generate.agents.workspace import HOME, VIDEO, Workspace, environment, interpreters_folder, workspace, write_logins
from codecap.generate.gateway import Deadline, Gateway, Limits, Tally
from codecap.generate.harnesses import InfraError
from codecap.generate.sandbox import WORK, Box, Running, Sandbox, relay
from codecap.records import Clip
from codecap.render import RenderSettings
from codecap.showing.prompts import Prompt

LEFT, OTHER, LOGS = "html", "other.html", "logs.json.gz"  # suffixes of the files of a run
OUTPUT_MB = 1000  # of an agent's standard output: some repeat each picture several times
KEPT_WORDS = 2000  # characters of its last complaints, where nothing came of a run
LOOK_S = 0.5  # between looks at whether its deadline has come nearer
KILLED = 128 + signal.SIGKILL
OURS = ("usd", "calls", "rounds")  # limits of a run, as the gateway calls them


class Runs:
    """The runs under way of one system, which may all be broken off."""

    def __init__(self) -> None:
        self._under_way: set[Running] = set()
        self._lock = threading.Lock()
        self._ended = False

    @contextlib.contextmanager
    def holding(self, running: Running) -> Iterator[None]:
        with self._lock:
            self._under_way.add(running)
            ended = self._ended
        try:
            if ended:
                running.kill()
            yield
        finally:
            with self._lock:
                self._under_way.discard(running)

    def end(self) -> None:
        with self._lock:
            self._ended = True
            running = list(self._under_way)
        for one in running:
            one.kill()

    def check(self) -> None:
        """Raises stopping.Stopped where the runs were broken off."""
        if self._ended:
            raise stopping.Stopped(stopping.reason() or "broken off")


def run(
    agent: Agent, settings: AgentSettings, sandbox: Sandbox, prompt: Prompt, clip: Clip, draft: store.Draft, runs: Runs
) -> dict[str, Any]:
    """Have an agent caption a clip. Within an open `codecap.exchange.session`.

    Returns:
        The raw run: what ended it, the gateway's tally, what became of the page. Files of the draft: LEFT (as it was left), OTHER
        (the last complete page, where that is none), LOGS.

    Raises:
        InfraError: it failed by our fault, or the network's.
        UserError: the agent is not installed, or there is no sandbox.
        stopping.Stopped: it was broken off.
    """
    stopping.check()
    runs.check()
    version = agent.version()
    with workspace() as place:
        box, port = _box(settings, sandbox, place, store.at(clip.mp4))
        places = {told: sandbox.inside(box, told) for told in (WORK, *box.inputs)}
        deadline = Deadline(settings.deadline_s)
        reviewer = Reviewer(clip, RenderSettings.of(settings.render), deadline)
        gateway = Gateway(
            exchange.opened(),
            settings.endpoint,
            run=f"{draft.clip_id} {draft.key}",
            limits=Limits(usd=settings.most_usd, calls=settings.most_calls, rounds=settings.most_rounds),
            deadline=deadline,
            routes=reviewer.routes,
            port=port,
        )
        with gateway:
            task = _task(settings, prompt, clip, places, gateway.url_inside)
            write_logins(place.home, task.env["PATH"])
            agent.prepare(task, place.home)
            command = agent.command(task)
            ended = _watched(sandbox, _completed(box, gateway.socket, task, command), command, place, deadline, runs)
            taken_s = deadline.taken_s
            if ended["exit_status"] is not None:  # what it left was taken down after its end, which is not its time
                taken_s = min(taken_s, settings.deadline_s)
        runs.check()
        tally = gateway.tally
        _must_be_the_agents_own(agent, ended, tally, reviewer, place)
        left = _keep(agent, place, draft, reviewer.rendered)
    return {
        "agent": version,
        "ended_by": _ended_by(ended, tally),
        **ended,
        "wall_s": round(taken_s, 3),
        "renders": reviewer.renders,
        "tally": tally.model_dump(mode="json"),
        **left,
    }


def _box(settings: AgentSettings, sandbox: Sandbox, place: Workspace, video: Path) -> tuple[Box, int]:
    port = sandbox.port()
    box = Box(
        work=place.work,
        inputs=place.inputs(video),
        programs=interpreters_folder(),
        port=port,
        memory_mb=settings.memory_mb,
        processes=settings.processes,
        disk_mb=settings.disk_mb,
        output_mb=OUTPUT_MB,
    )
    return box, port


def _completed(box: Box, socket: Path, task: Task, command: Command) -> Box:
    return dataclasses.replace(box, socket=socket, env={**task.env, **command.env}, programs=(*box.programs, *command.programs))


def _task(settings: AgentSettings, prompt: Prompt, clip: Clip, places: Mapping[str, str], url: str) -> Task:
    work = places[WORK]
    words = prompt.say(
        "task",
        video=places[VIDEO],
        work=work,
        page=f"{work}/{salvage.PAGE}",
        seconds=f"{clip.frames / FPS:.3f}".rstrip("0").rstrip("."),
        frames=clip.frames,
        width=clip.width_px,
        height=clip.height_px,
        minutes=f"{settings.deadline_s / 60:g}",
    )
    env = environment(places, url)
    return Task(words, settings.endpoint.model, settings.endpoint.thinking, url, f"{work}/{HOME}", work, env)


def _watched(sandbox: Sandbox, box: Box, command: Command, place: Workspace, deadline: Deadline, runs: Runs) -> dict[str, Any]:
    """Start the agent and wait for its end, or end it at the deadline; what is known of how it ended."""
    with sandbox.start(box, command.argv, place.stdout, place.stderr) as running, runs.holding(running):
        status = _waited(running, deadline)
        if status is None:
            running.kill()
        if running.broken_off is not None:
            stopping.check()
            raise InfraError(f"the agent's run was broken off: {running.broken_off}")
        cut_off = status == KILLED and logs.last_line(place.stderr) == relay.CUT_OFF
        return {
            "exit_status": status,
            "outgrown": running.outgrown or (relay.CUT_OFF if cut_off else None),
            "curbed": list(running.curbed)[:20],
            "peak_mb": round(running.peak_mb),
        }


def _waited(running: Running, deadline: Deadline) -> int | None:
    """Its exit status; None where it has not ended by the deadline, which answers that are replayed meanwhile bring nearer."""
    while (left_s := deadline.moment - time.monotonic()) > LOOK_S:
        status = running.wait(time.monotonic() + LOOK_S)
        if status is not None:
            return status
    return running.wait(time.monotonic() + left_s)


def _ended_by(ended: Mapping[str, Any], tally: Tally) -> str:
    """What ended the run: "outgrown" (its sandbox, or what it ended there itself), "deadline", "limit" (of cost or rounds), "agent"
    (it was done, or gave up)."""
    if ended["outgrown"] is not None:
        return "outgrown"
    if ended["exit_status"] is None or tally.stopped_by == "deadline":
        return "deadline"
    return "limit" if tally.stopped_by in OURS else "agent"


def _must_be_the_agents_own(agent: Agent, ended: Mapping[str, Any], tally: Tally, reviewer: Reviewer, place: Workspace) -> None:
    """Whether what came of the run may be held against the model.

    Raises:
        InfraError: it may not.
    """
    if tally.infrastructure_failed is not None:
        raise InfraError(f"{agent.name}: {tally.infrastructure_failed}")
    if reviewer.failed is not None and reviewer.renders == 0:
        raise InfraError(f"{agent.name}: pages could not be drawn for it: {reviewer.failed}")
    if tally.rounds == 0 and tally.calls == 0:
        said = logs.kept(logs.lines_of(place.stderr), ()) + logs.kept(logs.lines_of(place.stdout), ())
        words = " ".join(said[-KEPT_WORDS:].split())
        refused = f"; refused: {', '.join(tally.refused)}" if tally.refused else ""
        raise InfraError(f"{agent.name}: it never asked its model, exit status {ended['exit_status']}{refused}: {words}")


def _keep(agent: Agent, place: Workspace, draft: store.Draft, rendered: str | None) -> dict[str, Any]:
    """Put the page and the logs into the run's item; what is known of the page."""
    left = salvage.left_in(place.work, rendered)
    for suffix, held in ((LEFT, left.page), (OTHER, left.other)):
        if held:
            draft.file(suffix).write_bytes(held)
    told = {
        STDOUT: logs.kept(logs.lines_of(place.stdout), agent.noise),
        STDERR: logs.kept(logs.lines_of(place.stderr), ()),
        **logs.left_at_home(place.work, HOME, agent.logs, agent.noise),
    }
    logs.write(draft.file(LOGS), told)
    return {"page": left.page is not None, "why_no_page": left.why_not, "other_page": left.whence}
