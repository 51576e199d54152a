# Stage 0: the weights of the configured backends. Run it once where there is a network: `snakemake weights`.
# in   resources/weights.yaml
# out  results/0_weights/fetched/{weights}.json     what was fetched; the weights themselves are in CODECAP_WEIGHTS, for all runs
#      results/0_weights/prepared/{weights}.json    what was made: the form that loads faster
#      beside each {weights}.json.state, by which a loss of the weights is noticed, see codecap/weights/outputs.py


localrules:
    fetch_weights,
    prepare_weights,


rule fetch_weights:
    output:
        fetched="results/0_weights/fetched/{weights}.json",
    log:
        "logs/fetch_weights/{weights}.log",
    conda:
        "../envs/base.yaml"
    params:
        entry=sources_of_weights,
        state=state_of_weights,
    script:
        "../scripts/fetch_weights.py"


rule prepare_weights:
    input:
        fetched="results/0_weights/fetched/{weights}.json",
        code=code_of_weights,
    output:
        prepared="results/0_weights/prepared/{weights}.json",
    log:
        "logs/prepare_weights/{weights}.log",
    conda:
        "../envs/base.yaml"
    params:
        digest=digest("codecap.weights.preparing"),
        state=state_of_prepared_weights,
    script:
        "../scripts/prepare_weights.py"
