# What every stage needs: the checked configuration, the clips and their buckets, the systems, the lanes, and digests of code.
import functools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))
from codecap import config as configuration
from codecap import plan
from codecap.fingerprint import code_digest
from codecap.score.engine import choice
from codecap.weights import PREPARED, needs, outputs

configuration.read_values(config, workflow.config_settings.config)
configuration.drop_removed(config)
plan.run_jobs_with(Path(workflow.basedir) / "scripts")
try:
    PLAN = plan.make(config, [Path(path) for path in workflow.configfiles])
except plan.PlanError as error:
    raise WorkflowError(str(error))

if workflow.is_main_process:
    for problem in PLAN.problems:
        print(f"codecap: left out: {problem}", file=sys.stderr)

CLIP_BUCKETS = list(PLAN.buckets)
HAS_OBJECTS = choice.OBJECTS_METRIC in config["metrics"]
digest = functools.cache(code_digest)


def contents(wildcards):
    """The shard's clips with their digests: a changed clip re-runs its shard, a touched table does not."""
    return PLAN.contents[wildcards.bucket]


def this_try(stage):
    """Number of the try of a shard that ended with failures of ours, see codecap/retries.py."""
    return lambda wildcards: PLAN.retries.next_try("/".join([stage, *wildcards]))


def report_when_possible(wildcards):
    """The report, when all that its stages need is there."""
    try:
        plan.require(config, PLAN)
    except plan.PlanError as error:
        raise WorkflowError(str(error))
    return "results/8_report/index.html"


def tracks_of_lane(wildcards):
    """Tracks are needed only in the lane that scores objects."""
    needed = HAS_OBJECTS and choice.OBJECTS_METRIC in PLAN.lanes[wildcards.lane]
    return "results/6_score/tracks/{system}/{bucket}.jsonl" if needed else []


def weights_ready(wildcards):
    """What the configured backends need, fetched and prepared."""
    names = list(needs.of(config))
    fetched = [f"results/0_weights/fetched/{name}.json" for name in names]
    return fetched + [f"results/0_weights/prepared/{name}.json" for name in needs.to_prepare(names)]


def code_of_weights(wildcards):
    """The code that an entry is prepared with."""
    return [f"results/0_weights/fetched/{name}.json" for name in needs.also_for_preparing(wildcards.weights)]


def sources_of_weights(wildcards):
    """Where an entry comes from: an edit of the table fetches it anew."""
    return needs.as_values(wildcards.weights)


def state_of_weights(wildcards):
    """Changes when an entry is no more in the folder of weights, or CODECAP_WEIGHTS names another one: it is fetched anew."""
    return outputs.state(Path(f"results/0_weights/fetched/{wildcards.weights}.json"), wildcards.weights)


def state_of_prepared_weights(wildcards):
    """The same of its form that loads faster."""
    return outputs.state(Path(f"results/0_weights/prepared/{wildcards.weights}.json"), wildcards.weights + PREPARED)


onstart:
    try:
        plan.hold()
    except plan.PlanError as error:
        raise WorkflowError(str(error))


wildcard_constraints:
    bucket=r"\d\d",
    lane="cpu|gpu|judge|answers",
    system=plan.either(PLAN.systems),
    annotations="approved|proposed",
