"""A digest of code, part by part."""

import importlib.metadata

from codecap.config import PROJECT
from codecap.fingerprint import code_parts


def test_parts_are_the_modules_the_prompts_and_the_libraries():
    judge = code_parts("codecap.score.retention", "codecap.score.judges.mllm")
    assert {
        "scripts/codecap/score/retention.py",
        "scripts/codecap/exchange/session.py",
        "resources/prompts/retention_judge.md",
    } <= set(judge)
    assert judge["numpy"] == importlib.metadata.version("numpy")
    files = [name for name in judge if "/" in name]
    assert all((PROJECT / name).is_file() for name in files) and len(files) > 10
    kss = code_parts("codecap.score.kss")
    assert "resources/prompts/retention_judge.md" not in kss and "scripts/codecap/score/mps.py" not in kss
    assert {name: part for name, part in kss.items() if name in judge}.items() <= judge.items()


def test_a_script_for_a_browser_is_a_part():
    assert "scripts/codecap/validity/wrong_words.js" in code_parts("codecap.validity.candidates")
