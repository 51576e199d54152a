"""The state of an output changes when the weights are lost, and no more when they are there again."""

import pytest

from codecap.weights import fetching, manifest, outputs


@pytest.fixture
def run(place, table, server, tmp_path):
    """Does what the rule does when its params differ from those of the last run; tells whether it did."""
    server.files["a.bin"] = b"weights"
    table(a={"parts": [{"kind": "file", "source": server.url("a.bin"), "into": "a.bin"}]})
    output, last = tmp_path / "a.json", []

    def run() -> bool:
        state = outputs.state(output, "a")
        if [state] == last[-1:]:
            return False
        last.append(state)
        fetching.fetch("a")
        outputs.write(output, "a", state)
        return True

    return run


@pytest.mark.parametrize("lost", ["all", "a file", "some of a file", "the manifest", "the place"])
def test_a_loss_is_made_good_once(run, place, monkeypatch, tmp_path, lost):
    assert run() and not run()
    file = place / "a" / "a.bin"
    if lost == "all":
        place.rename(tmp_path / "away")
    elif lost == "a file":
        file.unlink()
    elif lost == "some of a file":
        file.write_bytes(b"w")
    elif lost == "the manifest":
        manifest.path_of("a").write_text("{")
    else:
        monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path / "elsewhere"))
    assert run() and not run() and not run()


def test_a_state_outlives_its_output_and_one_that_was_not_written_whole_counts_as_a_loss(run, tmp_path):
    assert run()
    (tmp_path / "a.json").unlink()
    assert not run()  # Snakemake notices that itself
    (tmp_path / "a.json.state").write_text("{")
    assert run() and not run()
