# Stage 7: which system is better, and how sure is that?
# in   all rows of stages 3 to 6, and what people gave (config key humans)
# out  results/7_compare/comparison.json             all that the report says
#      results/7_compare/artefacts.json              what its numbers are made of, for `codecap reproduce`
#      results/7_compare/tables/*.csv                the same as tables, the chief of them as *.tex and *.md too
#      results/7_compare/figures/*.svg, *.pdf        the same as figures on paper

SYSTEM_SHARDS = {"system": list(PLAN.systems), "bucket": CLIP_BUCKETS}


rule compare_systems:
    input:
        captions=expand("results/4_generate/{system}/{bucket}.jsonl", **SYSTEM_SHARDS),
        renders=expand("results/5_render/{system}/{bucket}.jsonl", **SYSTEM_SHARDS),
        scores=expand("results/6_score/{lane}/{system}/{bucket}.jsonl", lane=PLAN.lanes, **SYSTEM_SHARDS),
        annotations=expand(ANNOTATIONS, bucket=CLIP_BUCKETS),
        problems=expand(ANNOTATION_PROBLEMS, bucket=CLIP_BUCKETS),
        tracks=expand("results/6_score/tracks/{system}/{bucket}.jsonl", **SYSTEM_SHARDS) if HAS_OBJECTS else [],
        humans=PLAN.humans,
        answers=PLAN.questions.outputs(PLAN.buckets),
    output:
        comparison="results/7_compare/comparison.json",
        artefacts="results/7_compare/artefacts.json",
        tables=report(
            directory("results/7_compare/tables"),
            patterns=["{table}.csv"],
            caption="../resources/captions/tables.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        figures=report(
            directory("results/7_compare/figures"),
            patterns=["{figure}.svg"],
            caption="../resources/captions/figures.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
    log:
        "logs/compare_systems.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("compare_systems"),
    params:
        models=PLAN.systems,
        texts=PLAN.texts,
        problems=PLAN.problems,
        paper=plan.folder_digest(f"{workflow.basedir}/resources/paper"),
        code=digest("codecap.compare.tables", "codecap.report.figures", "codecap.reproducing.sealing"),
    script:
        "../scripts/compare_systems.py"
