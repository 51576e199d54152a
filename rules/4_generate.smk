# Stage 4: what does each system write when it has seen the clip?
# in   the clips table; for a system that starts from another one's captions, those: results/4_generate/{other}/{bucket}.jsonl
# out  results/4_generate/{system}/{bucket}.jsonl    one Caption a clip: a page, a text or a video

from codecap.generate import entries

TEXT_SHARDS = expand("results/4_generate/{system}/{bucket}.jsonl", system=PLAN.texts, bucket=CLIP_BUCKETS)


rule generate_captions:
    input:
        lambda w: [f"results/4_generate/{other}/{w.bucket}.jsonl" for other in PLAN.sources_of(w.system)],
    output:
        captions="results/4_generate/{system}/{bucket}.jsonl",
    log:
        "logs/generate_captions/{system}/{bucket}.log",
    benchmark:
        "benchmarks/generate_captions/{system}/{bucket}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        **needs("generate_captions"),
    params:
        clips=contents,
        settings=lambda w: entries.settings_of(config, PLAN.captioners[w.system]),
        harness=lambda w: PLAN.captioners[w.system]["harness"],
        code=lambda w: digest_of(f"codecap.generate.harnesses.{PLAN.captioners[w.system]['harness']}"),
        this_try=this_try("generate_captions"),
    script:
        "../scripts/generate_captions.py"
