# CodeCap: can code be a good video caption?
#   snakemake --configfile config/demo.yaml --cores 2 dataset all
# Targets: all (stages 4 to 8), dataset (stages 1 to 3, whose table a person commits for `all`), weights (fetched once), validity.
from snakemake.utils import min_version

min_version("9.20")


configfile: f"{workflow.basedir}/config/config.yaml"
configfile: f"{workflow.basedir}/config/metrics.yaml"
configfile: f"{workflow.basedir}/config/models.yaml"
configfile: f"{workflow.basedir}/config/sources.yaml"
configfile: f"{workflow.basedir}/config/cluster.yaml"


include: "rules/common.smk"
include: "rules/run.smk"


container: image_for_jobs()


include: "rules/0_weights.smk"
include: "rules/1_collect.smk"
include: "rules/2_filter.smk"
include: "rules/3_annotate.smk"
include: "rules/4_generate.smk"
include: "rules/5_render.smk"
include: "rules/6_score.smk"
include: "rules/7_compare.smk"
include: "rules/8_report.smk"
include: "rules/9_validity.smk"


localrules:
    all,
    dataset,
    weights,


rule all:
    default_target: True
    input:
        report_when_possible,


rule dataset:
    input:
        "results/3_annotate/clips.tsv",
        "results/1_collect/ledger.jsonl",


rule weights:
    input:
        weights_ready,


rule validity:
    input:
        "results/9_validity/index.html",
