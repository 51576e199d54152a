"""Questions, and scripted models that answer, write and group them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from codecap.questions.sets import Question


def question(number: int = 1, **told: Any) -> Question:
    made = {"question_id": f"q{number}", "clip_id": "T_001", "type": "action", "question": f"Where does ball {number} go?"}
    return Question(**(made | {"options": ["left", "right", "up"], "answer": 1} | told))


def asked_in(text: str) -> dict[str, Any]:
    """The question in a request's text, with its options by letter."""
    return json.loads(re.search(r"QUESTION, with its options by letter:\n(\{.*?\n\})", text, re.DOTALL)[1])


def choosing(*wanted: str) -> Callable[[str], dict[str, str]]:
    """A model that chooses the first of these options that is offered, whatever its letter; else the first one offered."""

    def answer(text: str) -> dict[str, str]:
        options = asked_in(text)["options"]
        letters = {option: letter for letter, option in options.items()}
        return {"evidence": "it is seen", "choice": next((letters[option] for option in wanted if option in letters), "A")}

    return answer


def endpoint(server: Any, model: str = "m", **told: Any) -> dict[str, Any]:
    """Settings of whoever asks this server's model."""
    return {"endpoint": {"api": "openai", "model": model, "base_url": server.base_url(), "timeout_s": 5}} | told
