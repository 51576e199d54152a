# Beside the stages: which metric sees what? `snakemake validity` damages the demo's clips in grades and scores them against themselves,
# by the backends of the run.
# in   resources/demo: clips, annotations, pages
# out  results/9_validity/renders/{clip}.jsonl             one Render a kind and grade of damage
#      results/9_validity/prompts/{clip}.jsonl             one ObjectPrompts each (network, no GPU)
#      results/9_validity/tracks/{clip}.jsonl              one ObjectTracks each (GPU, offline)
#      results/9_validity/scores/{lane}/{clip}.jsonl       Scores of all metrics of the lane
#      results/9_validity/index.html, curves.csv, demands.csv, curves.svg, curves.pdf, protocols.json

from codecap.validity import demo as validity_demo

VALIDITY_CLIPS = {clip.clip_id: clip.sha256 for clip in validity_demo.clips()}
VALIDITY_LANES = PLAN.lanes


localrules:
    validity,


wildcard_constraints:
    clip=plan.either(VALIDITY_CLIPS),


rule damage_clips:
    output:
        renders="results/9_validity/renders/{clip}.jsonl",
    log:
        "logs/damage_clips/{clip}.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("render_captions"),
    params:
        demo=[plan.folder_digest(f"{validity_demo.DEMO}/{part}") for part in ("annotations", "pages")],
        clip=lambda w: VALIDITY_CLIPS[w.clip],
        code=digest("codecap.validity.candidates"),
        this_try=this_try("damage_clips"),
    script:
        "../scripts/damage_clips.py"


rule prompt_damages:
    input:
        renders="results/9_validity/renders/{clip}.jsonl",
    output:
        prompts="results/9_validity/prompts/{clip}.jsonl",
    log:
        "logs/prompt_damages/{clip}.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("prompt_objects"),
    params:
        prompter=lambda w: backend("prompter"),
        this_try=this_try("prompt_damages"),
    script:
        "../scripts/prompt_damages.py"


rule segment_damages:
    input:
        renders="results/9_validity/renders/{clip}.jsonl",
        prompts="results/9_validity/prompts/{clip}.jsonl",
    output:
        tracks="results/9_validity/tracks/{clip}.jsonl",
    log:
        "logs/segment_damages/{clip}.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("segment_objects"),
    params:
        segmenter=lambda w: backend("segmenter"),
        this_try=this_try("segment_damages"),
    script:
        "../scripts/segment_damages.py"


rule score_damages:
    input:
        renders="results/9_validity/renders/{clip}.jsonl",
        tracks=lambda w: (f"results/9_validity/tracks/{w.clip}.jsonl" if tracks_of_lane(w) else []),
    output:
        scores="results/9_validity/scores/{lane}/{clip}.jsonl",
    log:
        "logs/score_damages/{lane}/{clip}.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("score_renders"),
    params:
        metrics=lambda w: metrics_of(w.lane),
        shots=lambda w: shots(),
        this_try=this_try("score_damages"),
    script:
        "../scripts/score_damages.py"


rule draw_validity:
    input:
        scores=expand("results/9_validity/scores/{lane}/{clip}.jsonl", lane=VALIDITY_LANES, clip=VALIDITY_CLIPS),
    output:
        index="results/9_validity/index.html",
        curves=report(
            "results/9_validity/curves.csv",
            caption="../resources/captions/validity.rst",
            category="Validity",
            labels={"validity": "values at every grade"},
        ),
        demands=report(
            "results/9_validity/demands.csv",
            caption="../resources/captions/validity.rst",
            category="Validity",
            labels={"validity": "what must hold"},
        ),
        figure=report(
            "results/9_validity/curves.svg",
            caption="../resources/captions/validity.rst",
            category="Validity",
            labels={"validity": "response curves"},
        ),
        printed="results/9_validity/curves.pdf",
        protocols="results/9_validity/protocols.json",
    log:
        "logs/draw_validity.log",
    conda:
        "../envs/base.yaml"
    resources:
        **needs("compare_systems"),
    params:
        code=digest("codecap.validity.page"),
        templates=plan.folder_digest(f"{workflow.basedir}/resources/report"),
    script:
        "../scripts/draw_validity.py"
