# Stage 8: what does a reader need to see to believe it?
# in   results/7_compare/, tracks and annotations of stages 3 and 6
# out  results/8_report/index.html, and beside it one page a clip, the videos, tables and styles: one folder to publish


rule build_report:
    input:
        comparison="results/7_compare/comparison.json",
        tables="results/7_compare/tables",
        tracks=expand("results/6_score/tracks/{system}/{bucket}.jsonl", **SYSTEM_SHARDS) if HAS_OBJECTS else [],
        annotations=expand(ANNOTATIONS, bucket=CLIP_BUCKETS),
    output:
        index="results/8_report/index.html",
    log:
        "logs/build_report.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("build_report"),
    params:
        code=digest("codecap.report.site"),
        templates=plan.folder_digest(f"{workflow.basedir}/resources/report"),
    script:
        "../scripts/build_report.py"
