import pytest
from pydantic import ValidationError

from codecap.filtering.axes import AXES, INPUTS
from codecap.filtering.scorecard import Scorecard, as_section, chance_of
from codecap.filtering.shipped import SHIPPED
from codecap.filtering.verdict import FilterSettings


def card(**told):
    zero = dict.fromkeys(INPUTS, 0.0)
    return Scorecard(**{"intercept": 1.0, "coefficients": dict.fromkeys(INPUTS, 2.0), "kept": zero, "dropped": zero} | told)


def test_the_chance_is_the_logistic_function_of_a_weighted_sum():
    assert chance_of(card().log_odds(dict.fromkeys(INPUTS, 0.0))) == pytest.approx(0.731059, abs=1e-6)  # 1 / (1 + e^-1)
    assert chance_of(card().log_odds(dict.fromkeys(INPUTS, -0.5 / len(INPUTS)))) == pytest.approx(0.5)


def test_the_axes_share_out_the_sum():
    """Parts are counted from the middle between kept and dropped, so they add up to the log-odds less the middle's."""
    middle = {name: (SHIPPED.kept[name] + SHIPPED.dropped[name]) / 2 for name in INPUTS}
    features = {name: 0.3 + 0.1 * place for place, name in enumerate(INPUTS)}
    assert sum(SHIPPED.axes(features).values()) == pytest.approx(SHIPPED.log_odds(features) - SHIPPED.log_odds(middle))
    assert SHIPPED.axes(middle) == pytest.approx(dict.fromkeys(AXES, 0.0))


def test_no_feature_of_the_shipped_scorecard_speaks_the_wrong_way():
    assert all(SHIPPED.coefficients[name] * feature.sign >= 0 for name, feature in INPUTS.items())
    assert all(any(SHIPPED.coefficients[name] for name in INPUTS if INPUTS[name].axis == axis) for axis in AXES)


def test_the_section_that_training_writes_is_one_that_the_filter_reads():
    section = as_section(SHIPPED)
    read = FilterSettings.of(section).scorecard
    assert read.coefficients == pytest.approx(SHIPPED.coefficients, abs=5e-4)


@pytest.mark.parametrize(
    "wrong", [{"coefficients": {"flat_share": 1.0}}, {"intercept": float("nan")}, {"kept": dict.fromkeys(INPUTS, float("inf"))}]
)
def test_half_a_scorecard_is_refused(wrong):
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        card(**wrong)
