# Stage 6: how close is each render to its reference?
# in   results/5_render/{system}/{bucket}.jsonl, results/3_annotate/{approved,proposed}/{bucket}.jsonl, the clips table
# out  results/6_score/references/{lane}/{bucket}.jsonl   one Reference a clip: its side of the lane's metrics, made once
#      results/6_score/prompts/{system}/{bucket}.jsonl    one ObjectPrompts a clip (network, no GPU)
#      results/6_score/tracks/{system}/{bucket}.jsonl     one ObjectTracks a clip (GPU, offline)
#      results/6_score/{lane}/{system}/{bucket}.jsonl     Scores of all metrics of the lane: one decoding for all
#      results/6_score/answers/{answered}/{bucket}.jsonl  Answers to the questions about each clip, from what a system has made of it
#                                                         or (_original) from the clip itself; where the config names sets of questions

ANNOTATIONS = f"results/3_annotate/{config['annotations']}/{{bucket}}.jsonl"
ANNOTATION_PROBLEMS = [ANNOTATIONS.replace(".jsonl", ".problems.jsonl")] if config["annotations"] == "approved" else []


rule describe_references:
    output:
        references="results/6_score/references/{lane}/{bucket}.jsonl",
    log:
        "logs/describe_references/{lane}/{bucket}.log",
    benchmark:
        "benchmarks/describe_references/{lane}/{bucket}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        **needs("describe_references"),
    params:
        clips=contents,
        metrics=lambda w: metrics_of(w.lane),
        shots=lambda w: shots(),
        this_try=this_try("describe_references"),
    script:
        "../scripts/describe_references.py"


rule prompt_objects:
    input:
        renders="results/5_render/{system}/{bucket}.jsonl",
        annotations=ANNOTATIONS,
    output:
        prompts="results/6_score/prompts/{system}/{bucket}.jsonl",
    log:
        "logs/prompt_objects/{system}/{bucket}.log",
    benchmark:
        "benchmarks/prompt_objects/{system}/{bucket}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        **needs("prompt_objects"),
    params:
        clips=contents,
        prompter=lambda w: backend("prompter"),
        this_try=this_try("prompt_objects"),
    script:
        "../scripts/prompt_objects.py"


rule segment_objects:
    input:
        renders="results/5_render/{system}/{bucket}.jsonl",
        prompts="results/6_score/prompts/{system}/{bucket}.jsonl",
    output:
        tracks="results/6_score/tracks/{system}/{bucket}.jsonl",
    log:
        "logs/segment_objects/{system}/{bucket}.log",
    benchmark:
        "benchmarks/segment_objects/{system}/{bucket}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        **needs("segment_objects"),
    params:
        clips=contents,
        segmenter=lambda w: backend("segmenter"),
        this_try=this_try("segment_objects"),
    script:
        "../scripts/segment_objects.py"


rule score_renders:
    input:
        captions="results/4_generate/{system}/{bucket}.jsonl",
        renders="results/5_render/{system}/{bucket}.jsonl",
        annotations=ANNOTATIONS,
        references="results/6_score/references/{lane}/{bucket}.jsonl",
        tracks=tracks_of_lane,
    output:
        scores="results/6_score/{lane}/{system}/{bucket}.jsonl",
    log:
        "logs/score_renders/{lane}/{system}/{bucket}.log",
    benchmark:
        "benchmarks/score_renders/{lane}/{system}/{bucket}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        **needs("score_renders"),
    params:
        clips=contents,
        metrics=lambda w: metrics_of(w.lane),
        shots=lambda w: shots(),
        matching=lambda w: matching_of(w.lane),
        this_try=this_try("score_renders"),
    script:
        "../scripts/score_renders.py"


rule answer_questions:
    input:
        lambda w: PLAN.questions.reads(w.answered, w.bucket),
    output:
        answers="results/6_score/answers/{answered}/{bucket}.jsonl",
    log:
        "logs/answer_questions/{answered}/{bucket}.log",
    benchmark:
        "benchmarks/answer_questions/{answered}/{bucket}.tsv"
    wildcard_constraints:
        answered=plan.either(PLAN.questions.subjects),
    conda:
        "../envs/base.yaml"
    resources:
        **needs("answer_questions"),
    params:
        clips=contents,
        questions=lambda w: PLAN.questions.contents(PLAN.buckets[w.bucket]),
        answerer=lambda w: PLAN.questions.answerer(),
        medium=lambda w: PLAN.questions.subjects[w.answered],
        code=digest("codecap.questions.answering"),
        this_try=this_try("answer_questions"),
    script:
        "../scripts/answer_questions.py"
