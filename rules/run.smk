# Start and end of a run: one run at a time in a folder, nothing of an earlier one left in SLURM's queue, and at the end, in words, why
# what did not finish did not.
import os

from codecap.cluster import aftermath, leftovers, refusals, watch
from codecap.errors import UserError
from codecap.shards import this_run
from codecap.status import record

# Where the main process is a job itself; the executor takes it out of the environment.
OWN_JOB = os.environ.get("SLURM_JOB_ID")
WATCHES = []  # the one over SLURM's executor, where it is used


def say(words):
    print(f"codecap: {words}", file=sys.stderr, flush=True)


def note_refusal(job, message):
    """For those who look how far the run is: its end may be far away."""
    refusals.keep(PLAN.journals, this_run(), "/".join([job.rule.name, *job.wildcards]), refusals.in_words(message))


def tell_aftermath(log):
    """Why what did not finish did not; nothing where all did."""
    scheduler = workflow.scheduler
    stopped = any(held.cancelled for held in WATCHES)
    ended = set(scheduler.failed)
    if stopped or workflow.executor_plugin.name == "local":
        # at Ctrl-C, Snakemake does not look at how its jobs ended
        ended |= {*scheduler.running} - {*scheduler._tofinish}
    failed = [
        aftermath.Failed.of(
            job.rule.name,
            job.wildcards,
            workflow.dag.jobid(job),
            next(iter(job.log), ""),
            cancelled=stopped and job not in scheduler.failed and not job.is_local,
        )
        for job in sorted(ended, key=workflow.dag.jobid)
    ]
    run = aftermath.Run(
        name=this_run(),
        log=Path(log[0]) if log else None,  # Snakemake gives a list
        clips={bucket: [clip.clip_id for clip in clips] for bucket, clips in PLAN.buckets.items()},
        systems=list(PLAN.captioners),
        not_begun=len(scheduler.remaining_jobs) if failed or stopped else 0,
        stopped=stopped,
    )
    words = aftermath.told(run, failed, PLAN.journals)
    if words:
        say(words)


onstart:
    try:
        plan.hold()
        record(config)
        if workflow.executor_plugin.name == "slurm":
            leftovers.end(Path.cwd(), {rule.name for rule in workflow.rules}, OWN_JOB, say)
            first_s = workflow.executor_settings.init_seconds_before_status_checks
            held = watch.Watch(workflow.scheduler._executor, say, longest_s=3 * first_s, note_refusal=note_refusal)
            WATCHES.append(held)
    except UserError as error:
        raise WorkflowError(str(error))


onsuccess:
    tell_aftermath(log)


onerror:
    tell_aftermath(log)
