# Stage 1: which videos are there, and what are they on the one clock?
# in   config key `sources`
# out  results/1_collect/candidates.jsonl            one Candidate a video that a source offers
#      results/1_collect/originals/{bucket}.jsonl    one Original each: the file as it came
#      results/1_collect/clips/{bucket}.jsonl        one Ingested each: the canonical clip, or why there is none
#      results/1_collect/shots/{bucket}.jsonl        its shots


localrules:
    discover_candidates,
    fetch_originals,


rule discover_candidates:
    output:
        candidates="results/1_collect/candidates.jsonl",
    log:
        "logs/discover_candidates.log",
    conda:
        "../envs/base.yaml"
    params:
        sources=config["sources"],
        offered=lambda w: plan.offered(config["sources"]),
    script:
        "../scripts/discover_candidates.py"


rule fetch_originals:
    input:
        candidates="results/1_collect/candidates.jsonl",
    output:
        originals="results/1_collect/originals/{bucket}.jsonl",
    log:
        "logs/fetch_originals/{bucket}.log",
    conda:
        "../envs/base.yaml"
    params:
        sources=config["sources"],
        this_try=this_try("fetch_originals"),
    script:
        "../scripts/fetch_originals.py"


rule ingest_originals:
    input:
        originals="results/1_collect/originals/{bucket}.jsonl",
    output:
        clips="results/1_collect/clips/{bucket}.jsonl",
    log:
        "logs/ingest_originals/{bucket}.log",
    benchmark:
        "benchmarks/ingest_originals/{bucket}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        **needs("ingest_originals"),
    params:
        settings=config["ingest"],
        code=digest("codecap.collect.ingest"),
        this_try=this_try("ingest_originals"),
    script:
        "../scripts/ingest_originals.py"


rule detect_shots:
    input:
        clips="results/1_collect/clips/{bucket}.jsonl",
    output:
        shots="results/1_collect/shots/{bucket}.jsonl",
    log:
        "logs/detect_shots/{bucket}.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("detect_shots"),
    params:
        choice=lambda w: vars(choice.shots(config)),
    script:
        "../scripts/detect_shots.py"
