"""The settings of the site judged against a real cluster, and against that cluster with one thing changed."""

import dataclasses
from pathlib import Path

import pytest
import yaml

from codecap import config
from codecap.cluster import check, facts, site, slurm
from codecap.cluster.findings import Asked, Finding, Verdict
from codecap.cluster.settings import Cluster
from codecap.cluster.site import Gres, Site

KEPT = Path(__file__).parent / "slurm-22.05"  # printed by SLURM 22.05.8
PROFILE = yaml.safe_load((config.PROJECT / "profiles" / "slurm" / "config.yaml").read_text())
ASKED = {"cpu": Asked(4000, 200, 4, "render_captions"), "gpu": Asked(8000, 100, 1, "score_renders")}


def kept(name: str) -> str:
    return (KEPT / name).read_text()


@pytest.fixture(scope="module")
def here() -> Site:
    nodes = list(facts.read_node_groups(kept("sinfo.txt")))
    partitions = {
        name: site.partition(pairs, [node for node in nodes if node.partition == name])
        for name, pairs in facts.read_partitions(kept("partition.txt")).items()
    }
    rows = slurm_rows("assoc.txt", "Cluster,Account,Partition,QOS,DefaultQOS,MaxJobs,MaxSubmitJobs,MaxWall")
    qualities = {row["Name"]: row for row in slurm_rows("qos.txt", "Name,MaxWall,MaxSubmitJobsPerUser,MaxJobsPerUser,PreemptMode")}
    return Site(partitions, facts.read_settings(kept("config.txt")), rows, "root", qualities, {"staff"})


def slurm_rows(name: str, keys: str) -> list[dict[str, str]]:
    return facts.read_managed(kept(name), keys.split(","))


def changed(here: Site, name: str, **values) -> Site:
    """The site with one partition changed."""
    return dataclasses.replace(here, partitions={**here.partitions, name: dataclasses.replace(here.partitions[name], **values)})


def found(here: Site, cluster: Cluster | None = None, asked=ASKED, profile=PROFILE) -> dict[str, Finding]:
    return {finding.setting: finding for finding in check.examine(here, cluster or Cluster(), asked, profile)}


def test_the_site_is_read(here):
    assert (
        here.version == "22.05.8" and here.accounts == ["benchmark", "root"] and list(here.partitions) == ["cpu", "network", "gpu"]
    )
    cpu, gpu = here.partitions["cpu"], here.partitions["gpu"]
    assert (cpu.is_default, cpu.up, cpu.longest_min, cpu.largest_mb, cpu.most_cpus, cpu.has_gpus) == (
        True,
        True,
        240,
        12000,
        8,
        False,
    )
    assert gpu.gres == (Gres("gpu", None, 2),) and here.default_partition is cpu
    assert here.longest_min(cpu, None, None) == 240 and here.most_jobs(None, None) is None
    assert slurm.first_number(here.settings, "MinJobAge") == 300


def test_without_settings_what_fits_is_found_and_would_be_written(here):
    findings = list(check.examine(here, Cluster(), ASKED, PROFILE))
    assert check.to_write(findings) == {
        "partition": "cpu",
        "gpu_partition": "gpu",
        "account": "root",
        "longest_min": 240,
        "gpu_longest_min": 240,
        "network_longest_min": 240,
        "largest_mb": 12000,
    }
    wrong = [finding.setting for finding in findings if finding.verdict is Verdict.WRONG]
    assert wrong == ["gpu_partition"]  # jobs that need a GPU would go where there is none


def test_what_was_written_fits(here):
    written = check.to_write(list(check.examine(here, Cluster(), ASKED, PROFILE)))
    findings = list(check.examine(here, Cluster(**written), ASKED, PROFILE))
    assert not [finding for finding in findings if finding.verdict is Verdict.WRONG or finding.decided]


@pytest.mark.parametrize(
    ("settings", "key", "told", "fits"),
    [
        ({"partition": "batch"}, "partition", "there is no partition batch; there are cpu, network, gpu", "cpu"),
        ({"partition": "cpu,batch"}, "partition", "there is no partition batch", "cpu"),
        ({"gpu_partition": "cpu"}, "gpu_partition", "cpu has no nodes with GPUs", "gpu"),
        ({"account": "nobody"}, "account", "you have no account nobody; you have benchmark, root", "root"),
        ({"qos": "long"}, "qos", "not yours; you have normal", None),
        ({"gres": "gpu:a100:1"}, "gres", "nodes of gpu have gpu:2", "gpu:1"),
        ({"gres": "gpu:4"}, "gres", "nodes of gpu have gpu:2", "gpu:1"),
        ({"constraint": "skylake"}, "constraint", "no node there has skylake; there are no features", None),
        ({"longest_min": 600}, "longest_min", "at most 240 minutes on partition cpu", 240),
        ({"largest_mb": 64000}, "largest_mb", "nodes of cpu have 12000 MB at most", 12000),
        ({"largest_mb": 2000}, "largest_mb", "render_captions asks for 4000 MB; nodes of cpu have 12000", 12000),
        ({"longest_min": 5}, "stop_before_s", "jobs of at most 5 minutes would spend their time on stopping", 30),
    ],
)
def test_a_setting_that_does_not_fit(here, settings, key, told, fits):
    finding = found(here, Cluster(**settings))[key]
    assert finding.verdict is Verdict.WRONG and told in finding.told and finding.fits == fits


def test_a_job_too_large_for_any_node_is_named(here):
    finding = found(here, asked={"cpu": Asked(99000, 60, 1, "compare_systems")})["partition"]
    assert finding.verdict is Verdict.WRONG and "compare_systems asks for 99000 MB" in finding.told and not finding.decided


def test_a_factor_that_makes_jobs_too_large_is_the_setting_that_does_not_fit(here):
    """4000 MB with a factor of 100: nodes of 12000 MB take no more than a factor of 3."""
    huge = {"cpu": Asked(400_000, 60, 1, "render_captions")}
    findings = found(here, Cluster(partition="cpu", memory_factor=100), huge)
    factor = findings["memory_factor"]
    assert (factor.verdict, factor.value, factor.fits, factor.decided) == (Verdict.WRONG, 100, 3.0, False)
    assert factor.told.startswith("render_captions asks for 400000 MB with it; nodes of cpu have 12000 MB at most")
    assert findings["partition"].verdict is Verdict.OK
    bounded = found(here, Cluster(partition="cpu", memory_factor=100, largest_mb=12000), huge)
    assert bounded["memory_factor"].verdict is Verdict.NOTE and bounded["largest_mb"].verdict is Verdict.OK
    assert "memory_factor" not in found(here)


def test_a_job_that_takes_longer_than_the_cluster_allows(here):
    finding = found(here, asked={"cpu": Asked(1000, 600, 1, "render_captions")})["longest_min"]
    assert finding.verdict is Verdict.WRONG and finding.fits == 240 and finding.decided
    assert "render_captions asks for 600 minutes, and 240 are the most" in finding.told


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"up": False}, "is not up"),
        ({"groups": frozenset({"physics"})}, "is for the groups physics"),
        ({"accounts": frozenset({"other"})}, "is for the accounts other"),
        ({"denied_accounts": frozenset({"benchmark", "root"})}, "is not for the account benchmark, root"),
        ({"nodes": ()}, "has no nodes"),
    ],
)
def test_a_partition_that_does_not_take_ones_jobs(here, values, told):
    finding = found(changed(here, "cpu", **values), Cluster(partition="cpu"))["partition"]
    assert finding.verdict is Verdict.WRONG and told in finding.told and finding.fits == "network"


def test_limits_of_accounts_and_qualities_count_too(here):
    rows = [{**row, "MaxWall": "1-00:00:00", "MaxSubmitJobs": "50"} for row in here.associations]
    limited = changed(dataclasses.replace(here, associations=rows), "cpu", longest_min=None)
    assert limited.longest_min(limited.partitions["cpu"], "root", None) == 1440
    findings = found(limited)
    assert findings["longest_min"].fits == 1440
    assert findings["profile: jobs"].verdict is Verdict.WRONG and findings["profile: jobs"].fits == 50
    qualities = {"normal": {**here.qualities["normal"], "MaxWall": "02:00:00"}}
    assert dataclasses.replace(here, qualities=qualities).longest_min(here.partitions["cpu"], "root", "normal") == 120


def test_a_cluster_without_accounting(here):
    bare = dataclasses.replace(here, associations=None, qualities=None, default_account=None)
    findings = found(bare)
    assert findings["account"].verdict is Verdict.OK and findings["AccountingStorageType"].verdict is Verdict.NOTE
    findings = found(bare, Cluster(account="root", qos="normal"))
    assert findings["account"].verdict is findings["qos"].verdict is Verdict.WRONG
    assert check.to_write(list(findings.values())) | {"account": None, "qos": None} == check.to_write(list(findings.values()))


def test_a_controller_that_forgets_soon(here):
    short = dataclasses.replace(here, settings={**here.settings, "MinJobAge": "30 sec", "KillWait": "5 sec"})
    assert found(short)["MinJobAge"].verdict is found(short)["KillWait"].verdict is Verdict.NOTE
    key = "profile: slurm-init-seconds-before-status-checks"
    assert found(short)[key].verdict is Verdict.OK  # accounting is asked
    bare = dataclasses.replace(short, associations=None, qualities=None, default_account=None)
    assert found(bare)[key].verdict is Verdict.WRONG and found(bare)[key].fits == 10


def test_a_partition_whose_jobs_are_preempted_is_noted(here):
    note = found(changed(here, "cpu", preempt_mode="REQUEUE"), Cluster(partition="cpu"))["PreemptMode of cpu"]
    assert note.verdict is Verdict.NOTE and "slurm-no-requeue stays" in note.told


def test_features_and_types_of_gpus(here):
    nodes = [
        dataclasses.replace(node, gres="gpu:a100:4(S:0-1)", features=frozenset({"ib", "a100"}))
        for node in here.partitions["gpu"].nodes
    ]
    typed = changed(here, "gpu", nodes=tuple(nodes))
    assert found(typed, Cluster(gres="gpu:a100:1"))["gres"].verdict is Verdict.OK
    assert found(typed, Cluster(gres="gpu:h100:1"))["gres"].verdict is Verdict.WRONG
    fitting = Cluster(gpu_partition="gpu", gpu_constraint="a100|h100")
    assert "no node there has h100; there are a100, ib" in found(typed, fitting)["gpu_constraint"].told
    assert found(typed, dataclasses.replace(fitting, gpu_constraint="a100&ib"))["gpu_constraint"].verdict is Verdict.OK


@pytest.mark.parametrize(
    ("text", "gres"),
    [
        ("gpu:2", (Gres("gpu", None, 2),)),
        ("gpu:a100:4(S:0-1),shard:8", (Gres("gpu", "a100", 4), Gres("shard", None, 8))),
        ("gpu:nvidia_a100_80gb_pcie:2(IDX:0-1)", (Gres("gpu", "nvidia_a100_80gb_pcie", 2),)),
        ("gpu", (Gres("gpu", None, 1),)),
        ("", ()),
    ],
)
def test_gres(text, gres):
    assert Gres.of(text) == gres
