# Stage 7: which system is better, and how sure is that?
# in   all rows of stages 3 to 6, and what people gave (config key humans)
# out  results/7_compare/comparison.json             all that the report says
#      results/7_compare/tables/*.csv                the same as tables

SYSTEM_SHARDS = {"system": list(PLAN.systems), "bucket": CLIP_BUCKETS}


rule compare_systems:
    input:
        captions=expand("results/4_generate/{system}/{bucket}.jsonl", **SYSTEM_SHARDS),
        renders=expand("results/5_render/{system}/{bucket}.jsonl", **SYSTEM_SHARDS),
        scores=expand("results/6_score/{lane}/{system}/{bucket}.jsonl", lane=PLAN.lanes, **SYSTEM_SHARDS),
        annotations=expand(ANNOTATIONS, bucket=CLIP_BUCKETS),
        problems=expand(ANNOTATION_PROBLEMS, bucket=CLIP_BUCKETS),
        humans=PLAN.humans,
    output:
        comparison="results/7_compare/comparison.json",
        tables=directory("results/7_compare/tables"),
    log:
        "logs/compare_systems.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("compare_systems"),
    params:
        models=PLAN.systems,
        problems=PLAN.problems,
        code=digest("codecap.compare.tables"),
    script:
        "../scripts/compare_systems.py"
