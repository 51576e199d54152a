"""People score by the words of the judge's prompt."""

import pytest

from codecap.errors import UserError
from codecap.humans.criteria import read_criteria
from codecap.showing.prompts import Prompt

SCALE = "5: all.\n4: most.\n3: half.\n2: less.\n1: traces.\n0: nothing."


def prompt(criteria: str) -> Prompt:
    return Prompt("judge", {"criteria": criteria}, "0")


def test_the_words_are_those_that_the_judge_is_given():
    from codecap.showing import prompts

    told = read_criteria()
    given = " ".join(prompts.load("retention_judge.md").sections["criteria"].split())
    assert len(told.levels) == 6
    for words in (*told.before, *told.levels, *told.after):
        assert words in given
    assert told.levels[0].startswith("not substantively")  # the paper's words for the lowest score


def test_levels_are_in_order_and_paragraphs_around_them_stay():
    told = read_criteria(prompt(f"First,\nover two lines.\n\nSecond.\n\n{SCALE}\n\nLast."))
    assert told.before == ("First, over two lines.", "Second.")
    assert told.levels == ("nothing.", "traces.", "less.", "half.", "most.", "all.")
    assert told.after == ("Last.",)


@pytest.mark.parametrize(
    "wrong", ["", "Words alone.", SCALE.replace("3: half.\n", ""), SCALE + "\n3: again.", SCALE + "\n6: more."]
)
def test_a_scale_that_is_not_0_to_5_is_refused(wrong):
    with pytest.raises(UserError, match="judge: section 'criteria' must have one block of six lines"):
        read_criteria(prompt(wrong))
