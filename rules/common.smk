# What every stage needs: the checked configuration, the clips and their buckets, the systems, the lanes, and digests of code.
import functools
import os
import sys
from pathlib import Path

LIBRARY = str(Path(workflow.basedir) / "scripts")
sys.path.insert(0, LIBRARY)
os.environ["PYTHONPATH"] = os.pathsep.join(
    [LIBRARY, os.environ.get("PYTHONPATH", "")]
)  # jobs run the code beside this Snakefile

from codecap import config as configuration
from codecap import plan
from codecap.fingerprint import code_digest
from codecap.score.engine import choice

try:
    PLAN = plan.make(config, [Path(path) for path in workflow.configfiles])
except plan.PlanError as error:
    raise WorkflowError(str(error))

if workflow.is_main_process:
    for problem in PLAN.problems:
        print(f"codecap: left out: {problem}", file=sys.stderr)

CLIP_BUCKETS = list(PLAN.buckets)

digest = functools.cache(code_digest)


def contents(wildcards):
    """The shard's clips with their digests: a changed clip re-runs its shard, a touched table does not."""
    return PLAN.contents[wildcards.bucket]


def this_try(stage):
    """Number of the try of a shard that ended with failures of ours, see codecap/retries.py."""
    return lambda wildcards: PLAN.retries.next_try("/".join([stage, *wildcards]))


def benchmark(wildcards):
    """The report, when all that its stages need is there."""
    try:
        plan.require(config, PLAN)
    except plan.PlanError as error:
        raise WorkflowError(str(error))
    return "results/8_report/index.html"


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
