"""The text in a model's answer."""

import pytest

from codecap.generate.harnesses.describe import read_text


@pytest.mark.parametrize(
    "answer",
    [
        "A box moves.\n",
        "<think>First a box, then</think>\n\nA box moves.",
        "<thinking>hm</thinking>A box moves.",
        "First a box, then it moves.</think>\n\nA box moves.",  # the opening tag was part of the prompt
        "```\na draft\n```</think>A box moves.",
    ],
)
def test_thinking_is_no_part_of_a_caption(answer):
    assert read_text(answer, cut_off=False).content == b"A box moves.\n"


@pytest.mark.parametrize("answer", ["", "<think>First a box", "<thinking>\nA box moves.", "First a box.</think>\n"])
def test_thinking_alone_is_no_caption(answer):
    read = read_text(answer, cut_off=False)
    assert (read.content, read.reason) == (None, "the answer is empty")
