"""What a run is about: the clips, the systems and the shards of the benchmark, checked before any job is planned."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codecap import config as configuration
from codecap import registry, single_run, store
from codecap.annotate import proposers
from codecap.clips_table import read_clips
from codecap.errors import UserError
from codecap.generate import entries
from codecap.questions import planned as asking
from codecap.questions.planned import Questions
from codecap.records import Clip, RecordError
from codecap.score.engine import choice
from codecap.shards import LOCK, RESULTS, SHARDS, Journals

COLLECTED = RESULTS / "3_annotate" / "clips.tsv"  # the table of the clips that a run has collected


class PlanError(UserError):
    """Nothing can be planned; the message says what is wrong, where, and what to do."""


@dataclass(frozen=True)
class Plan:
    """A checked run.

    Attributes:
        buckets: the shards that hold a clip, by number, with their clips.
        contents: for each such shard, its clips with their digests, as plain values for a rule's params.
        systems: entries of `models` that take part and make something to be seen: pages and videos.
        texts: those that make texts, which are not rendered.
        lanes: metrics of each scoring lane.
        problems: clips and systems that are left out, each with the reason and the way out.
        journals: what jobs have said of their shards.
        humans: files of scores that people gave.
        questions: what is asked about the clips.
    """

    buckets: dict[str, list[Clip]]
    contents: dict[str, list[str]]
    systems: dict[str, dict[str, Any]]
    lanes: dict[str, list[str]]
    problems: list[str]
    journals: Journals
    all_buckets: list[str]
    annotations_folder: Path
    humans: list[str]
    texts: dict[str, dict[str, Any]] = field(default_factory=dict)
    questions: Questions = field(default_factory=Questions)

    @property
    def captioners(self) -> dict[str, dict[str, Any]]:
        """All entries of `models` that take part."""
        return {**self.systems, **self.texts}

    def sources_of(self, system: str) -> list[str]:
        """The system whose captions another one starts from, if it does."""
        return entries.sources_of(self.captioners[system])

    def annotation_digests(self, bucket: str) -> list[str]:
        """For each clip of a shard, the digest of its approved annotation file ("none" without one), and the one in the table."""
        told = []
        for clip in self.buckets[bucket]:
            path = self.annotations_folder / f"{clip.clip_id}.json"
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else "none"
            told.append(f"{digest}:{clip.annotation_sha256[:16]}" if clip.annotation_sha256 else digest)
        return told


def make(config: Mapping[str, Any], files: Sequence[Path] = configuration.FILES, to_work: bool = True) -> Plan:
    """Check a configuration and read its clips.

    Args:
        files: where the configuration came from.
        to_work: results and store must be writable; not so for whoever only looks.

    Raises:
        PlanError: the configuration is wrong, there is no clips table, or results and store cannot be written.
    """
    try:
        configuration.check(config, files)
        problems: list[str] = []
        clips = _clips(config, problems)
        systems = _systems(config, problems)
    except (configuration.ConfigError, registry.Unavailable, RecordError) as error:
        raise PlanError(str(error)) from error
    for folder in (RESULTS, Path(config["store"]["durable"]), Path(config["store"]["bulk"])) if to_work else ():
        _must_be_writable(folder)
    buckets = in_buckets(clips, config["buckets"])
    seen = {name: entry for name, entry in systems.items() if not entries.makes_texts(entry)}
    texts = {name: entry for name, entry in systems.items() if name not in seen}
    return Plan(
        buckets=buckets,
        contents={bucket: [f"{clip.clip_id}:{clip.sha256[:16]}" for clip in held] for bucket, held in buckets.items()},
        systems=seen,
        lanes=choice.lanes(config),
        problems=problems,
        journals=Journals(SHARDS, Path(config["store"]["bulk"]), store.there),
        all_buckets=[f"{number:02d}" for number in range(config["buckets"])],
        annotations_folder=configuration.find(config["annotations_folder"]),
        humans=human_files(config["humans"]),
        texts=texts,
        questions=_questions(config, clips, seen, texts, problems),
    )


def require(config: Mapping[str, Any], plan: Plan) -> None:
    """All that the benchmark's stages name is there.

    Raises:
        PlanError: no clip or no system takes part, or a backend is not there (the message says which there are).
    """
    if not plan.buckets:
        raise PlanError(f"{config['clips']}: no clips to work on" + "".join(f"\n  {problem}" for problem in plan.problems))
    if not plan.systems:
        raise PlanError("models: no system to work with" + "".join(f"\n  {problem}" for problem in plan.problems))
    try:
        choice.check(config)
        _proposer_must_be_right(config)
        _must_be_there("render.engines", config["render"]["engine"], "render.engine")
    except registry.Unavailable as error:
        raise PlanError(str(error)) from error
    _systems_must_be_right(config, plan)
    _keys_must_be_there(plan)
    _answerer_must_have_its_key(plan)


def run_jobs_with(library: Path) -> None:
    """Have the jobs import the package from this folder, the one beside the Snakefile, whatever is installed."""
    there = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(library) if not there else os.pathsep.join([str(library), there])


def hold(folder: Path = RESULTS) -> None:
    """Let no second run work in this folder, until this process ends, however it ends.

    Raises:
        AlreadyRunning: another run is at work here.
    """
    doubt = single_run.hold(folder / LOCK.name)
    if doubt is not None:
        print(f"codecap: {doubt}", file=sys.stderr)


def bucket_of(name: str, buckets: int) -> str:
    """The shard of a clip or a candidate: a hash of its id, so that a new one changes no other's place.

    >>> bucket_of("A_001", 1)
    '00'
    """
    return f"{int(hashlib.sha256(name.encode()).hexdigest(), 16) % buckets:02d}"


def clips_folder(config: Mapping[str, Any], table: Path) -> Path | None:
    """Where relative paths of a clips table begin; None: in the table's own folder.

    The table of the run in the working folder names the videos that the run has made; for its own table the configuration says it.
    """
    if table.absolute() == COLLECTED.absolute():
        return Path(config["store"]["bulk"]) / "clips"
    own = {Path(config["clips"]).absolute(), configuration.find(config["clips"]).absolute()}
    told = config["clips_folder"] if table.absolute() in own else None
    return None if told is None else configuration.find(told)


def in_buckets(clips: Iterable[Clip], buckets: int) -> dict[str, list[Clip]]:
    held: dict[str, list[Clip]] = {}
    for clip in sorted(clips, key=lambda clip: clip.clip_id):
        held.setdefault(bucket_of(clip.clip_id, buckets), []).append(clip)
    return dict(sorted(held.items()))


def all_clips(config: Mapping[str, Any]) -> list[Clip]:
    """The clips of the benchmark's table that can be worked on."""
    return _clips(config, [])


def shard_clips(config: Mapping[str, Any], bucket: str) -> list[Clip]:
    """The clips of one shard, as a job reads them from the table."""
    return in_buckets(_clips(config, []), config["buckets"]).get(bucket, [])


def taking_part(sources: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The entries of `sources` that are not `enabled: false`, without that word.

    >>> taking_part({"a": {"plugin": "local"}, "b": {"plugin": "youtube", "enabled": False}})
    {'a': {'plugin': 'local'}}
    """
    return {
        name: {key: value for key, value in entry.items() if key != "enabled"}
        for name, entry in sources.items()
        if entry.get("enabled", True)
    }


def offered(sources: Mapping[str, Any]) -> dict[str, list[str]]:
    """What sources of this machine offer now, so that a new file is discovered; `-R discover_candidates` asks the others again."""
    found = {}
    for name, entry in taking_part(sources).items():
        if entry["plugin"] in ("local", "page"):
            settings = {key: value for key, value in entry.items() if key != "plugin"}
            try:
                source = registry.make("collect.sources", entry["plugin"], settings)
                found[name] = [candidate.locator for candidate in source.discover()]
            except (FileNotFoundError, registry.Unavailable):
                found[name] = []  # the job says what is wrong
    return found


def human_files(folder: str | None) -> list[str]:
    """Files of scores that people gave, in order; none where no folder is named.

    Raises:
        PlanError: there is no such folder.
    """
    if folder is None:
        return []
    found = configuration.find(folder)
    if not found.is_dir():
        raise PlanError(
            f"humans: there is no folder {folder}; `codecap humans import` makes it, null means that there are no scores of people"
        )
    return sorted(str(path) for path in found.glob("*.jsonl"))


def folder_digest(folder: str | Path) -> str:
    """Digest of the names and contents of all files under a folder: templates, prompts."""
    digest = hashlib.sha256()
    for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def either(names: Iterable[str]) -> str:
    """A regular expression for one of some names; one that nothing matches for none."""
    return "|".join(re.escape(name) for name in names) or r"(?!)"


def _clips(config: Mapping[str, Any], problems: list[str]) -> list[Clip]:
    table = configuration.find(config["clips"])
    if not table.is_file():
        raise PlanError(
            f"{config['clips']}: no clips table there; name one with `--config clips=FILE`, or make one: "
            "`codecap ingest FILES --out DIR` writes DIR/clips.tsv, `snakemake dataset` writes results/3_annotate/clips.tsv"
        )
    return read_clips(table, clips_folder(config, table), problems)


def _systems(config: Mapping[str, Any], problems: list[str]) -> dict[str, dict[str, Any]]:
    """The systems that take part.

    Raises:
        PlanError: one that `systems` names cannot; of `all`, such a one is left out and told in `problems`.
    """
    known, wrong = registry.available(entries.FAMILY), []
    systems = configuration.systems(config)
    for name in [name for name, entry in systems.items() if entry["harness"] not in known]:
        harness = systems.pop(name)["harness"]
        wrong.append(f"models.{name}.harness: no harness called {harness!r}; this version has: {', '.join(known)}")
    for name, problem in entries.without_source(systems):
        del systems[name]
        wrong.append(problem)
    if wrong and config["systems"] != "all":
        raise PlanError("systems names what cannot take part:\n  " + "\n  ".join(wrong))
    problems.extend(wrong)
    return systems


def _questions(
    config: Mapping[str, Any], clips: Sequence[Clip], seen: Iterable[str], texts: Iterable[str], problems: list[str]
) -> Questions:
    try:
        return asking.plan(config, [clip.clip_id for clip in clips], seen, texts, problems)
    except UserError as error:
        raise PlanError(str(error)) from error


def _systems_must_be_right(config: Mapping[str, Any], plan: Plan) -> None:
    """The settings of all that make captions, before any of them is paid for.

    Their modules need little that the metrics' have not imported before; networks and programs are opened by whoever uses them.
    """
    from codecap.generate import sandbox, serve  # here, since most who import this module plan nothing

    wrong = []
    for name, entry in plan.captioners.items():
        try:
            settings = entries.settings_of(config, entry)
            settings = serve.described(settings) if entries.asks_its_endpoint(entry) else settings
            registry.make(entries.FAMILY, entry["harness"], settings)
            if isinstance(settings.get("sandbox"), Mapping):
                sandbox.load(settings["sandbox"])
        except (UserError, ValueError) as error:
            wrong.append(f"models.{name}: {error}")
    if wrong:
        raise PlanError("\n  ".join(wrong))


def _keys_must_be_there(plan: Plan) -> None:
    """Of the systems that have captions to make. A shard that has ended is not asked about: its captions are there."""
    to_do = [
        name
        for name in plan.captioners
        if any(not (RESULTS / "4_generate" / name / f"{bucket}.jsonl").exists() for bucket in plan.buckets)
    ]
    missing = entries.without_key(plan.captioners, to_do)
    if missing:
        lines = [f"{key} is not set; its key is for {', '.join(names)}" for key, names in missing.items()]
        raise PlanError(
            "models: the environment lacks keys of hosted models:\n  "
            + "\n  ".join(lines)
            + "\nset them (`export NAME=...`, nothing writes them down), or leave these systems out with the config key `systems`; "
            "where all of their captions are in the store, any value will do"
        )


def _answerer_must_have_its_key(plan: Plan) -> None:
    """Where questions are still to be answered."""
    if all(Path(path).exists() for path in plan.questions.outputs(plan.buckets)):
        return
    key = plan.questions.settings.answerer.endpoint.key_env
    if key is not None and not os.environ.get(key, "").strip():
        raise PlanError(
            f"questions.answerer: {key} is not set; set it to your key (`export {key}=...`, nothing writes it down), or set "
            "`questions: null`; where all answers are in the store, any value will do"
        )


def _proposer_must_be_right(config: Mapping[str, Any]) -> None:
    """The proposer is there, and so are the settings of one that asks a hosted model, before anything is paid for.

    Raises:
        registry.Unavailable: it is not, or one of them is wrong.
    """
    name = config["proposer"]
    _must_be_there(proposers.FAMILY, name, "proposer")
    if config["annotations"] == "proposed" and proposers.asks(config):
        registry.make(proposers.FAMILY, name, config["proposers"].get(name, {}))


def _must_be_there(family: str, name: str, key: str) -> None:
    known = registry.available(family)
    if name not in known:
        raise registry.Unavailable(f"{key}: no plugin called {name!r}; this version has: {', '.join(known) or 'none'}")


def _must_be_writable(folder: Path) -> None:
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    if not os.access(there, os.W_OK):
        raise PlanError(
            f"{folder}: cannot be written ({there} is read-only or not yours); run in another folder with `--directory DIR`, "
            "or move the store with the config keys store.durable and store.bulk"
        )
