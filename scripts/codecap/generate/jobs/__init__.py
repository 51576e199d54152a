"""Jobs of hosted models that take minutes: submitted, asked about until they are done, and their file downloaded.

What was submitted is recorded with the exchanges before and after, so that a job that is paid for is never submitted twice: a run
that was killed goes on with the job that it has begun. `api` says how a service speaks, `log` what is known of a job, `running`
takes a job from its order to its file.
"""
