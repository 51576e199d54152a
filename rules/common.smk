# What every stage needs: the checked configuration, the clips and their buckets, the systems, the lanes, and digests of code.
import functools
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))
from codecap import config as configuration
from codecap import plan
from codecap.cluster import fates
from codecap.cluster.requests import Requests
from codecap.container import ContainerMissing, image
from codecap.deadline import TIMED
from codecap.fingerprint import code_digest
from codecap.score.engine import choice
from codecap.weights import PREPARED, outputs
from codecap.weights import needs as needed_weights

configuration.read_values(config, workflow.config_settings.config)
configuration.drop_removed(config)
plan.run_jobs_with(Path(workflow.basedir) / "scripts")


def killed_for_memory(slurm_job):
    """Whether a job of SLURM's was; nobody is asked where the plan is only shown."""
    return not workflow.dryrun and fates.of(slurm_job).cause is fates.Cause.OUT_OF_MEMORY


try:
    PLAN = plan.make(config, [Path(path) for path in workflow.configfiles])
    asks = killed_for_memory if workflow.is_main_process else None
    REQUESTS = Requests(config, PLAN.buckets, PLAN.captioners, PLAN.journals, asks)
except (plan.PlanError, configuration.ConfigError) as error:
    raise WorkflowError(str(error))

# A signal that comes to all processes of a job is for its script, which stops cleanly: shell and Snakemake around it wait for that.
shell.prefix("set -euo pipefail; trap : HUP TERM USR1; ")
if workflow.is_main_process:
    for problem in PLAN.problems:
        print(f"codecap: left out: {problem}", file=sys.stderr)
else:
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    os.environ[TIMED] = "1"

CLIP_BUCKETS = list(PLAN.buckets)
HAS_OBJECTS = choice.OBJECTS_METRIC in config["metrics"]
digest_of = functools.cache(code_digest)


def image_for_jobs():
    """The container of all jobs under `--sdm apptainer`, else none."""
    try:
        return image(Path(workflow.basedir), {str(method) for method in workflow.deployment_settings.deployment_method})
    except ContainerMissing as error:
        raise WorkflowError(str(error))


def contents(wildcards):
    """The shard's clips with their digests: a changed clip re-runs its shard, a touched table does not."""
    return PLAN.contents[wildcards.bucket]


def needs(rule):
    """Memory, minutes and nodes that a rule's jobs ask the cluster for, see codecap/cluster/requests.py."""
    return REQUESTS.of(rule)


def digest(*modules):
    """Digest of the code of these modules, see codecap/fingerprint.py; taken when a job needs it, so that another's start is short."""
    return lambda wildcards: digest_of(*modules)


def this_try(stage):
    """Number of the try of a shard that ended with failures of ours, or whose files are gone, see codecap/shards.py."""
    return lambda wildcards: PLAN.journals.next_try("/".join([stage, *wildcards]))


def report_when_possible(wildcards):
    """The report, when all that its stages need is there, and the captions that are texts."""
    try:
        plan.require(config, PLAN)
    except plan.PlanError as error:
        raise WorkflowError(str(error))
    return ["results/8_report/index.html", *TEXT_SHARDS]


def tracks_of_lane(wildcards):
    """Tracks are needed only in the lane that scores objects."""
    needed = HAS_OBJECTS and choice.OBJECTS_METRIC in PLAN.lanes[wildcards.lane]
    return "results/6_score/tracks/{system}/{bucket}.jsonl" if needed else []


@functools.cache
def metrics_of(lane):
    """The metrics of a lane with their settings, as plain values."""
    return [vars(choice.metric(config, name)) for name in PLAN.lanes[lane]]


@functools.cache
def matching_of(lane):
    """The encoder that matches shots to videos of another length, where a metric of the lane goes by shots."""
    matching = choice.matching(config, PLAN.lanes[lane])
    return matching and vars(matching)


@functools.cache
def shots():
    """The detector of shots."""
    return vars(choice.shots(config))


@functools.cache
def backend(family):
    """The prompter or the segmenter of objects; none where no metric asks for objects."""
    return vars(choice.backend(config, family)) if HAS_OBJECTS else None


def weights_ready(wildcards):
    """What the configured backends need, fetched and prepared."""
    names = list(needed_weights.of(config))
    fetched = [f"results/0_weights/fetched/{name}.json" for name in names]
    return fetched + [f"results/0_weights/prepared/{name}.json" for name in needed_weights.to_prepare(names)]


def code_of_weights(wildcards):
    """The code that an entry is prepared with."""
    return [f"results/0_weights/fetched/{name}.json" for name in needed_weights.also_for_preparing(wildcards.weights)]


def sources_of_weights(wildcards):
    """Where an entry comes from: an edit of the table fetches it anew."""
    return needed_weights.as_values(wildcards.weights)


def state_of_weights(wildcards):
    """Changes when an entry is no more in the folder of weights, or CODECAP_WEIGHTS names another one: it is fetched anew."""
    return outputs.state(Path(f"results/0_weights/fetched/{wildcards.weights}.json"), wildcards.weights)


def state_of_prepared_weights(wildcards):
    """The same of its form that loads faster."""
    return outputs.state(Path(f"results/0_weights/prepared/{wildcards.weights}.json"), wildcards.weights + PREPARED)


wildcard_constraints:
    bucket=r"\d\d",
    lane="cpu|gpu|judge",
    system=plan.either(PLAN.captioners),
    annotations="approved|proposed",
