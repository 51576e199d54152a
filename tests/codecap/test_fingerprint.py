"""What changes a digest of code, and what does not. Run on a package made for the test."""

import pytest

from codecap import fingerprint


@pytest.fixture
def package(tmp_path, monkeypatch):
    root = tmp_path / "codecap"
    (root / "score").mkdir(parents=True)
    (root / "__init__.py").write_text("")
    (root / "score" / "__init__.py").write_text("")
    (root / "boxes.py").write_text("import numpy as np\n\ndef iou(a, b):\n    return 1\n")
    (root / "score" / "kss.py").write_text('"""Doc."""\nfrom codecap import boxes\n\n\ndef score():\n    return boxes.iou(1, 2)\n')
    (root / "score" / "mps.py").write_text("def score():\n    return 2\n")
    monkeypatch.setattr(fingerprint, "PACKAGE", root)
    forget()
    yield root
    forget()


def forget():
    for name in ("_closure", "_file_of", "_read"):
        getattr(fingerprint, name).cache_clear()


def digests():
    forget()
    return fingerprint.code_digest("codecap.score.kss"), fingerprint.code_digest("codecap.score.mps")


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_comments_blank_lines_and_docstrings_change_nothing(package):
    before = digests()
    edit(package / "score" / "kss.py", '"""Doc."""', '"""Other words."""\n\n# a comment\n')
    assert digests() == before


def test_code_changes_its_own_digest_alone(package):
    kss, mps = digests()
    edit(package / "score" / "mps.py", "return 2", "return 3")
    assert digests()[0] == kss
    assert digests()[1] != mps


def test_an_imported_module_counts(package):
    kss, mps = digests()
    edit(package / "boxes.py", "return 1", "return 0")
    assert digests()[0] != kss
    assert digests()[1] == mps


def test_a_script_that_a_module_names_counts_for_it(package):
    (package / "score" / "page").mkdir()
    (package / "score" / "page" / "clock.js").write_text("let now = 0;")
    before = digests()
    edit(package / "score" / "kss.py", "def score", 'SCRIPT = "page/clock.js"\n\n\ndef score')
    named = digests()
    assert named[0] != before[0]
    (package / "score" / "page" / "clock.js").write_text("let now = 1;")
    assert digests()[0] != named[0]
    assert digests()[1] == before[1]


def test_a_prompt_that_a_module_names_counts_for_it(package, tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "PROMPTS", tmp_path)
    (tmp_path / "judge.md").write_text("Judge it.")
    edit(package / "score" / "kss.py", "def score", 'PROMPT = "judge.md"\n\n\ndef score')
    before = digests()
    (tmp_path / "judge.md").write_text("Judge it well.")
    assert digests()[0] != before[0]
    assert digests()[1] == before[1]


def test_the_version_of_a_numeric_library_counts_for_those_who_import_it(package, monkeypatch):
    kss, mps = digests()
    monkeypatch.setattr(fingerprint, "_version", lambda name: "99.0")
    assert digests()[0] != kss
    assert digests()[1] == mps


def test_real_modules_have_digests_of_their_own():
    forget()
    assert fingerprint.code_digest("codecap.store") != fingerprint.code_digest("codecap.video")


@pytest.mark.parametrize(("module", "counts"), [("store/items.py", False), ("stopping.py", False), ("stored.py", True)])
def test_where_an_item_is_kept_and_when_a_job_ends_count_for_nothing(package, module, counts):
    (package / "store").mkdir()
    (package / "store" / "__init__.py").write_text("")
    (package / module).write_text("def keep():\n    return 1\n")
    name = module.removesuffix(".py").replace("/", ".")
    edit(package / "score" / "kss.py", "def score", f"import codecap.{name}\n\n\ndef score")
    before = digests()
    edit(package / module, "return 1", "return 2")
    assert (digests() != before) is counts
