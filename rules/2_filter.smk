# Stage 2: which clips are structured 2D content?
# in   results/1_collect/clips/{bucket}.jsonl
# out  results/2_filter/{bucket}.jsonl               one Verdict a clip: keep or drop, with features and reasons


rule filter_clips:
    input:
        clips="results/1_collect/clips/{bucket}.jsonl",
    output:
        verdicts="results/2_filter/{bucket}.jsonl",
    log:
        "logs/filter_clips/{bucket}.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("filter_clips"),
    params:
        settings=config["filter"],
        code=digest("codecap.filtering.features"),  # what is stored of a clip: its features
        verdict=digest("codecap.filtering.verdict"),
        this_try=this_try("filter_clips"),
    script:
        "../scripts/filter_clips.py"
