# Stage 4: what does each system write when it has seen the clip?
# in   the clips table
# out  results/4_generate/{system}/{bucket}.jsonl    one Caption a clip


rule generate_captions:
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
        settings=lambda w: configuration.harness_settings(PLAN.systems[w.system]),
        harness=lambda w: PLAN.systems[w.system]["harness"],
        code=lambda w: digest_of(f"codecap.generate.harnesses.{PLAN.systems[w.system]['harness']}"),
        this_try=this_try("generate_captions"),
    script:
        "../scripts/generate_captions.py"
