"""What this machine has of what a run needs, what is missing, and how to get it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from codecap import registry
from codecap.errors import UserError
from codecap.score.engine.choice import BACKENDS, OBJECT_BACKENDS

FREE_GB = 5
REACHED_WITHIN_S = 5


@dataclass(frozen=True)
class Finding:
    what: str
    there: bool
    needed: bool  # the configuration cannot run without it
    told: str  # what was found, or how to get it


def examine(config: Mapping[str, Any]) -> list[Finding]:
    """All findings for a configuration, what it needs first."""
    findings = [
        _browser(config),
        *_isolation(),
        *_fonts(),
        *_backends(config),
        *_weights(config),
        *_settings(config),
        *_hosted(config),
        *_sandboxes(config),
        *_agents(config),
        *_clips(config),
        *_space(config),
        _gpu(),
        *_limits(),
    ]
    return sorted(findings, key=lambda finding: not finding.needed)


def _browser(config: Mapping[str, Any]) -> Finding:
    from codecap.render import InfraError, browser_version, find_browser

    try:
        path = find_browser(shell_only=config["render"]["engine"] == "beginframe")
        return Finding("browser", True, True, f"{path} ({browser_version(path)})")
    except InfraError as error:
        return Finding("browser", False, True, str(error))


def _isolation() -> Iterator[Finding]:
    """Pages are rendered without these layers too; certificates name those that were missing."""
    from codecap.render.layers import layers

    for flag in layers().missing:
        yield Finding("isolation", False, False, f"{flag}: see docs/rendering.md, Isolation")


def _fonts() -> Iterator[Finding]:
    """Pages are drawn without them, but not as the protocol has it."""
    from codecap.render import fonts

    try:
        missing = fonts.missing()
        if not missing:
            yield Finding("fonts", True, False, fonts.protocol().removeprefix("fonts "))
        for family in missing:
            told = f"missing, so that {family.draws} look different; {fonts.install_command(missing)}"
            yield Finding(f"font {family.name}", False, False, told)
    except fonts.FontconfigMissing as error:
        yield Finding("fonts", False, False, str(error))


def _backends(config: Mapping[str, Any]) -> Iterator[Finding]:
    """Metrics, backends, harnesses and proposer that the configuration names."""
    from codecap import config as configuration

    named = [("score", entry.get("module", name)) for name, entry in config["metrics"].items()]
    named += [
        (f"score.{family}s", entry[family])
        for entry in config["metrics"].values()
        for family in (*BACKENDS, *OBJECT_BACKENDS)
        if family in entry
    ]
    named += [("generate.harnesses", entry["harness"]) for entry in configuration.systems(config).values()]
    named += [("annotate.proposers", config["proposer"]), ("render.engines", config["render"]["engine"])]
    named += [("shots", config["shots"]["detector"])] if config["shots"].get("detector") else []
    for family, name in dict.fromkeys(named):
        try:
            registry.load(family, name)
            yield Finding(f"{family} {name}", True, True, "is there")
        except registry.Unavailable as error:
            yield Finding(f"{family} {name}", False, True, str(error))


def _weights(config: Mapping[str, Any]) -> Iterator[Finding]:
    from codecap import weights
    from codecap.weights import needs

    for name, users in needs.of(config).items():
        try:
            found = weights.find_prepared(name) if weights.entry(name).prepare else weights.find(name)
            yield Finding(f"weights {name}", True, True, f"{found.path} for {', '.join(users)}")
        except weights.WeightsMissing as error:
            yield Finding(f"weights {name}", False, True, f"{error} (for {', '.join(users)})")


def _settings(config: Mapping[str, Any]) -> Iterator[Finding]:
    """What settings of metrics and backends ask for: files and folders of the user's, a GPU, packages that are imported late."""
    from codecap.weights import needs

    for plugin, settings in needs.plugins(config):
        for key in needs.GIVEN:
            if settings.get(key):
                path = Path(str(settings[key]))
                told = str(path) if path.exists() else f"{path}: nothing is there; correct this setting, or take it out"
                yield Finding(f"{plugin} {key}", path.exists(), True, told)
        try:
            module = registry.load(*plugin.rsplit(".", 1))
        except registry.Unavailable:
            continue  # that was told of the plugin itself
        package = getattr(module, "PACKAGE", None)
        if package and not _can_import(package, settings.get("code")):
            yield Finding(f"{plugin} package", False, True, f"{package} is not installed; {module.INSTALL}")
        if _device(module, settings) == "cuda" and not _sees_gpu():
            told = "device: cuda, but there is no GPU that torch can use; set device to cpu or auto, or use a node with a GPU"
            yield Finding(f"{plugin} device", False, True, told)


def _can_import(package: str, checkout: str | None) -> bool:
    """The package is installed, or is in a checkout that a setting names."""
    return importlib.util.find_spec(package) is not None or (checkout is not None and (Path(checkout) / package).is_dir())


def _device(module: ModuleType, settings: Mapping[str, Any]) -> Any:
    """The setting, or what the plugin takes without it."""
    known = getattr(getattr(module, "Settings", None), "model_fields", {})
    return settings.get("device", known["device"].default) if "device" in known else None


def _hosted(config: Mapping[str, Any]) -> Iterator[Finding]:
    """Keys and prices of the hosted models that the configuration asks; of a key only whether there is one."""
    from codecap import config as configuration
    from codecap.estimate import proposing, scorers
    from codecap.exchange import settings
    from codecap.exchange.prices import PriceTable, today
    from codecap.generate import entries
    from codecap.questions import settings as questions

    try:
        told = settings.of(config["exchange"])
        prices = PriceTable.read(configuration.find(told.prices))
        backends = [backend for _, backend, _ in (*proposing(config), *scorers(config))]
        asked = [backend.settings.endpoint for backend in backends] + list(entries.endpoints(config))
        answerer = questions.of(config).answerer
        asked += [answerer.endpoint] if answerer is not None else []
        for endpoint in {endpoint.name: endpoint for endpoint in asked}.values():
            if endpoint.key_env is not None:
                there = bool(os.environ.get(endpoint.key_env, "").strip())
                how = f"for {endpoint.name}" + ("" if there else "; set this environment variable to your key")
                yield Finding(endpoint.key_env, there, True, how)
            yield _reached(endpoint.address)
            if prices.rates(endpoint.model, endpoint.host, today()) is None:
                yield Finding(f"price of {endpoint.model}", False, told.budget_usd is not None, prices.how_to_add(endpoint.model))
    except registry.Unavailable:
        return  # told of the backend itself
    except UserError as error:
        yield Finding("exchange", False, True, str(error))


def _sandboxes(config: Mapping[str, Any]) -> Iterator[Finding]:
    """Whether this machine allows the sandboxes of the agents that the configuration names."""
    from codecap import config as configuration
    from codecap.generate import entries, sandbox

    checked = []
    for system in configuration.systems(config):
        entry = config["models"][system]
        if registry.said(entries.FAMILY, entry["harness"], "SHARES", default=None) != "agents":
            continue
        settings = entries.settings_of(config, entry).get("sandbox") or {}
        if settings in checked:
            continue
        checked.append(settings)
        what = f"sandbox {settings.get('backend', sandbox.BACKEND)}"
        try:
            yield Finding(what, True, True, sandbox.load(settings).check())
        except UserError as error:
            yield Finding(what, False, True, str(error))


def _agents(config: Mapping[str, Any]) -> Iterator[Finding]:
    """Whether the agents that the configuration names are installed, in the versions that it names."""
    from codecap import config as configuration
    from codecap.generate import entries
    from codecap.generate.agents import npm

    checked = set()
    for entry in configuration.systems(config).values():
        if entry["harness"] not in npm.PACKAGES:
            continue
        settings = entries.settings_of(config, entry)
        try:
            told = registry.make(entries.FAMILY, entry["harness"], settings).version()
            finding = Finding(f"agent {entry['harness']}", True, True, told)
        except UserError as error:
            finding = Finding(f"agent {entry['harness']}", False, True, str(error))
        if finding not in checked:
            checked.add(finding)
            yield finding


def _reached(address: str) -> Finding:
    """Whether this node reaches a server, or the proxy that the environment names for it. Nothing is asked."""
    parts = urllib.parse.urlsplit(address)
    host, proxy = parts.hostname or "", urllib.request.getproxies().get(parts.scheme)
    if proxy and urllib.request.proxy_bypass(host):
        proxy = None
    there = urllib.parse.urlsplit(proxy if "//" in proxy else f"//{proxy}") if proxy else parts
    port = there.port or (443 if there.scheme == "https" else 80)
    by = f"by the proxy {there.hostname}:{port}" if proxy else "directly"
    try:
        socket.create_connection((there.hostname or "", port), timeout=REACHED_WITHIN_S).close()
        return Finding(f"network to {host}", True, False, by)
    except OSError as error:
        told = f"not reached {by} ({error.strerror or error}); jobs that ask it need a node that reaches it, or HTTPS_PROXY"
        return Finding(f"network to {host}", False, False, told)


def _clips(config: Mapping[str, Any]) -> Iterator[Finding]:
    from codecap.plan import PlanError, make

    try:
        plan = make(config)
        count = sum(len(clips) for clips in plan.buckets.values())
        yield Finding("clips", count > 0, True, f"{count} in {config['clips']}")
        yield from (Finding("left out", False, False, problem) for problem in plan.problems)
    except PlanError as error:
        yield Finding("clips", False, True, str(error))


def _space(config: Mapping[str, Any]) -> Iterator[Finding]:
    for key in ("durable", "bulk", "scratch"):
        place = Path(os.path.expandvars(config["store"][key] or os.environ.get("TMPDIR", "/tmp"))).absolute()
        there = next(folder for folder in (place, *place.parents) if folder.exists())
        free_gb = shutil.disk_usage(there).free / 1e9
        writable = os.access(there, os.W_OK)
        told = f"{place}: {free_gb:.0f} GB free" + ("" if writable else "; cannot be written")
        if free_gb < FREE_GB:
            told += f"; under {FREE_GB} GB: set store.{key} to a larger disk"
        yield Finding(f"store.{key}", writable and free_gb >= FREE_GB, writable is False, told)


def _gpu() -> Finding:
    if importlib.util.find_spec("torch") is None:
        return Finding("torch", False, True, "pip install -e . installs it")
    import torch

    version = importlib.metadata.version("torch")
    if torch.cuda.is_available():
        return Finding("GPU", True, False, f"{torch.cuda.get_device_name()} (torch {version})")
    return Finding("GPU", False, False, f"none that torch {version} can use; the embedded backends need none")


def _sees_gpu() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available()


def _limits() -> Iterator[Finding]:
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    yield Finding("memory", memory_gb >= 4, False, f"{memory_gb:.0f} GB; a job of the embedded backends takes up to 1.5 GB")
    yield Finding("cores", True, False, f"{len(os.sched_getaffinity(0))}")
