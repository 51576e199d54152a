"""Which systems are one model by code and by film."""

from codecap.compare.reconstruction import asked_of, reconstruction_of


def code(model: str, thinking: str = "medium") -> dict:
    return {"harness": "direct", "endpoint": {"model": model, "thinking": thinking}}


WORDS = {"words": {"harness": "describe", "endpoint": {"model": "m", "thinking": "medium"}}}
FILM = {"harness": "caption_to_video", "captions_of": "words"}


def test_all_code_systems_of_the_model_and_its_effort_belong_to_a_film():
    models = {"a": code("m"), "film": FILM, "b": code("m"), "c": code("m", "low"), "d": code("other"), "e": {"harness": "vtrace"}}
    told = reconstruction_of(models, WORDS)
    assert [(pair.model, pair.code, pair.filmed) for pair in told] == [("m", "a", "film"), ("m", "b", "film")]


def test_a_film_of_nobodys_captions_belongs_to_nobody():
    assert reconstruction_of({"a": code("m"), "film": FILM}, {}) == []
    assert reconstruction_of({"a": code(""), "film": FILM}, {"words": {"harness": "describe"}}) == []
    assert asked_of("x", {"x": {"captions_of": "y"}, "y": {"captions_of": "x"}}) == ("", "")
