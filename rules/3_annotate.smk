# Stage 3: what is in each clip, and where?
# in   results/1_collect/clips/{bucket}.jsonl, results/2_filter/{bucket}.jsonl, config key `decisions`; for the benchmark the clips table
# out  results/3_annotate/asked/{drafted}/{bucket}.jsonl   one Proposal a clip, where the proposer asks a hosted model (network, no GPU)
#      results/3_annotate/drafts/{bucket}.jsonl      one Annotation a kept clip, for people to review
#      results/3_annotate/clips.tsv, annotations/    the data set: a table and one draft a clip, for a person to commit
#      results/3_annotate/proposed/{bucket}.jsonl    one Annotation a clip of the benchmark's table, as drafted
#      results/3_annotate/approved/{bucket}.jsonl    the same from the files that people approved

from codecap.annotate import proposers
from codecap.filtering import decisions

ASKS = proposers.asks(config)  # a hosted model proposes; else what is drafted is measured, and nobody is asked
KEPT = {"clips": "results/1_collect/clips/{bucket}.jsonl", "verdicts": "results/2_filter/{bucket}.jsonl"}


rule ask_proposer:
    input:
        lambda w: KEPT.values() if w.drafted == "drafts" else [],
    output:
        proposals="results/3_annotate/asked/{drafted}/{bucket}.jsonl",
    log:
        "logs/ask_proposer/{drafted}/{bucket}.log",
    wildcard_constraints:
        drafted="drafts|proposed",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("ask_proposer"),
    params:
        clips=lambda w: contents(w) if w.drafted == "proposed" else None,
        this_try=this_try("ask_proposer"),
        proposer=config["proposer"],
        settings=config["proposers"].get(config["proposer"], {}),
        code=digest(f"codecap.annotate.proposers.{config['proposer']}"),
        decisions=lambda w: decisions.digest_of(config),
    script:
        "../scripts/ask_proposer.py"


rule draft_annotations:
    input:
        **KEPT,
        proposals="results/3_annotate/asked/drafts/{bucket}.jsonl" if ASKS else [],
    output:
        drafts="results/3_annotate/drafts/{bucket}.jsonl",
    log:
        "logs/draft_annotations/{bucket}.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("draft_annotations"),
    params:
        this_try=this_try("draft_annotations"),
        drafted_by=lambda w: proposers.drafted_by(config, backend("segmenter"), digest_of),
        decisions=lambda w: decisions.digest_of(config),
    script:
        "../scripts/draft_annotations.py"


rule tabulate_dataset:
    input:
        clips=expand("results/1_collect/clips/{bucket}.jsonl", bucket=PLAN.all_buckets),
        verdicts=expand("results/2_filter/{bucket}.jsonl", bucket=PLAN.all_buckets),
        drafts=expand("results/3_annotate/drafts/{bucket}.jsonl", bucket=PLAN.all_buckets),
    output:
        clips="results/3_annotate/clips.tsv",
        verdicts="results/3_annotate/verdicts.tsv",
        annotations=directory("results/3_annotate/annotations"),
    log:
        "logs/tabulate_dataset.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("tabulate_dataset"),
    params:
        decisions=lambda w: decisions.digest_of(config),
        code=digest("codecap.collect.dataset"),
    script:
        "../scripts/tabulate_dataset.py"


rule propose_annotations:
    input:
        proposals="results/3_annotate/asked/proposed/{bucket}.jsonl" if ASKS else [],
    output:
        annotations="results/3_annotate/proposed/{bucket}.jsonl",
    log:
        "logs/propose_annotations/{bucket}.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("propose_annotations"),
    params:
        clips=contents,
        this_try=this_try("propose_annotations"),
        drafted_by=lambda w: proposers.drafted_by(config, backend("segmenter"), digest_of),
    script:
        "../scripts/propose_annotations.py"


rule gather_annotations:
    output:
        annotations="results/3_annotate/approved/{bucket}.jsonl",
        problems="results/3_annotate/approved/{bucket}.problems.jsonl",
    log:
        "logs/gather_annotations/{bucket}.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("gather_annotations"),
    params:
        clips=contents,
        files=lambda w: PLAN.annotation_digests(w.bucket),
        code=digest("codecap.annotate.approved"),
    script:
        "../scripts/gather_annotations.py"
