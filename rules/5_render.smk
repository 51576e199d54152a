# Stage 5: what does each caption look like at 24 frames a second?
# in   results/4_generate/{system}/{bucket}.jsonl
# out  results/5_render/{system}/{bucket}.jsonl      one Render a clip, with its certificate; a browser a core


rule render_captions:
    input:
        captions="results/4_generate/{system}/{bucket}.jsonl",
    output:
        renders="results/5_render/{system}/{bucket}.jsonl",
    log:
        "logs/render_captions/{system}/{bucket}.log",
    benchmark:
        "benchmarks/render_captions/{system}/{bucket}.tsv"
    conda:
        "../envs/base.yaml"
    threads: 4
    resources:
        **needs("render_captions"),
    params:
        clips=contents,
        settings=config["render"],
        code=digest("codecap.render.renders", f"codecap.render.engines.{config['render']['engine']}"),
        this_try=this_try("render_captions"),
    script:
        "../scripts/render_captions.py"
