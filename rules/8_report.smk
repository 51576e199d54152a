# Stage 8: what does a reader need to see to believe it?
# in   results/7_compare/, tracks and annotations of stages 3 and 6, and results/9_validity where it was made
# out  results/8_report/index.html, and beside it one page a clip, the videos, tables and styles: one folder to publish

from codecap.validity import placing


report: "../resources/captions/workflow.rst"


rule build_report:
    input:
        comparison="results/7_compare/comparison.json",
        tables="results/7_compare/tables",
        figures="results/7_compare/figures",
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
        validity=placing.digest(),
    script:
        "../scripts/build_report.py"
