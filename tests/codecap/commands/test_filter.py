import json

import numpy as np
import yaml
from typer.testing import CliRunner

from codecap.commands.filter import app
from codecap.filtering.scorecard import Scorecard
from codecap.video import CanonicalWriter


def write(mp4, picture_at):
    mp4.parent.mkdir(exist_ok=True)
    with CanonicalWriter(mp4, 96, 64) as writer:
        for frame in range(30):
            writer.add(picture_at(frame))


def square(at):
    def picture(frame):
        drawn = np.full((64, 96, 3), 220, np.uint8)
        drawn[at : at + 12, frame : frame + 12] = (200, 40, 40)
        return drawn

    return picture


def noise(seed):
    return lambda frame: np.random.default_rng([seed, frame]).integers(0, 256, (64, 96, 3), np.uint8)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_scorecard_is_trained_on_a_folder_and_used(tmp_path):
    for number in range(3):
        write(tmp_path / "keep" / f"{number}.mp4", square(10 * number))
        write(tmp_path / "drop" / f"{number}.mp4", noise(number))
    out = tmp_path / "out"
    trained = run("train", tmp_path, "--out", out)
    assert trained.exit_code == 0 and "to keep: 3 of 3" in trained.output, trained.output
    card = Scorecard.model_validate(yaml.safe_load((out / "scorecard.yaml").read_text())["filter"]["scorecard"])
    assert card.coefficients["log2_colours"] < 0
    assert json.loads((out / "roc.json").read_text())["area"] == 1.0 and (out / "roc.svg").read_text().startswith("<svg")
    tested = run("test", tmp_path, "--json", "--config", out / "scorecard.yaml")
    assert json.loads(tested.stdout)["dropped"]["right"] == 3
    checked = run("check", tmp_path / "keep" / "0.mp4", tmp_path / "drop" / "1.mp4", "--config", out / "scorecard.yaml", "--json")
    assert [told["decision"] for told in json.loads(checked.stdout)] == ["keep", "drop"]


def test_what_cannot_be_judged_is_named_and_the_others_go_on(tmp_path):
    write(tmp_path / "a" / "good.mp4", square(20))
    (tmp_path / "a" / "bad.mp4").write_text("no video")
    ran = run("check", tmp_path / "a")
    assert ran.exit_code == 1 and "bad.mp4" in ran.stderr and "keep  good" in ran.stdout


def test_nothing_to_train_on_is_one_message():
    ran = run("train")
    assert ran.exit_code == 1 and "no labelled clips" in str(ran.output)
