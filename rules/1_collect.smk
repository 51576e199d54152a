# Stage 1: which videos are there, and what are they on the one clock?
# in   config key `sources`
# out  results/1_collect/candidates.jsonl            one Candidate a video that a source offers
#      results/1_collect/asked.jsonl                 one Asked a query: how much it offered, or why it was not answered
#      results/1_collect/originals/{bucket}.jsonl    one Original each: the file as it came
#      results/1_collect/surveys/{bucket}.jsonl      one Survey of each that is there: what it shows
#      results/1_collect/parts.jsonl                 one Part a stretch that becomes a clip
#      results/1_collect/passed_over.jsonl           one PassedOver an original without any
#      results/1_collect/duplicates.jsonl            one Duplicate an original that shows what another one shows
#      results/1_collect/ledger.jsonl, ledger.tsv    one LedgerEntry a candidate ever; and expected against actual, a query
#      results/1_collect/clips/{bucket}.jsonl        one Ingested a part: the canonical clip, or why there is none


localrules:
    discover_candidates,
    fetch_originals,
    write_ledger,


rule discover_candidates:
    output:
        candidates="results/1_collect/candidates.jsonl",
        asked="results/1_collect/asked.jsonl",
    log:
        "logs/discover_candidates.log",
    conda:
        "../envs/base.yaml"
    params:
        sources=plan.taking_part(config["sources"]),
        offered=lambda w: plan.offered(config["sources"]),
        this_try=this_try("discover_candidates"),
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
        sources=plan.taking_part(config["sources"]),
        this_try=this_try("fetch_originals"),
    script:
        "../scripts/fetch_originals.py"


rule survey_originals:
    input:
        originals="results/1_collect/originals/{bucket}.jsonl",
    output:
        surveys="results/1_collect/surveys/{bucket}.jsonl",
    log:
        "logs/survey_originals/{bucket}.log",
    benchmark:
        "benchmarks/survey_originals/{bucket}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        **needs("survey_originals"),
    params:
        shots=config["shots"],
        ingest=config["ingest"],
        code=lambda w: [digest_of("codecap.collect.survey"), choice.shots(config).code],
        this_try=this_try("survey_originals"),
    script:
        "../scripts/survey_originals.py"


rule choose_parts:
    input:
        originals=expand("results/1_collect/originals/{bucket}.jsonl", bucket=PLAN.all_buckets),
        surveys=expand("results/1_collect/surveys/{bucket}.jsonl", bucket=PLAN.all_buckets),
    output:
        parts="results/1_collect/parts.jsonl",
        passed_over="results/1_collect/passed_over.jsonl",
        duplicates="results/1_collect/duplicates.jsonl",
    log:
        "logs/choose_parts.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("choose_parts"),
    params:
        settings=config["parts"],
        content=config["filter"],
        code=digest("codecap.collect.parts"),
    script:
        "../scripts/choose_parts.py"


rule write_ledger:
    input:
        candidates="results/1_collect/candidates.jsonl",
        asked="results/1_collect/asked.jsonl",
        originals=expand("results/1_collect/originals/{bucket}.jsonl", bucket=PLAN.all_buckets),
        parts="results/1_collect/parts.jsonl",
        passed_over="results/1_collect/passed_over.jsonl",
        duplicates="results/1_collect/duplicates.jsonl",
    output:
        ledger="results/1_collect/ledger.jsonl",
        table="results/1_collect/ledger.tsv",
    log:
        "logs/write_ledger.log",
    conda:
        "../envs/base.yaml"
    script:
        "../scripts/write_ledger.py"


rule ingest_originals:
    input:
        originals="results/1_collect/originals/{bucket}.jsonl",
        parts="results/1_collect/parts.jsonl",
        passed_over="results/1_collect/passed_over.jsonl",
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
