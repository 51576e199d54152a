"""From a published file to a set about our clips."""

import json

import pytest

from codecap import registry
from codecap.questions.importing import account_of, import_set
from codecap.questions.sets import QuestionError, read_set

CLIPS = ["E_7", "E_8", "A_12"]


def row(number, video, **told):
    made = {"question_id": f"00{video}-{number}", "question_type": "MCQ_single", "video": video, "dimension": "Animation"}
    made |= {"question": f"What moves in scene {number}?", "answer": "a bar", "distractor1": "a dot", "distractor2": "a line"}
    return made | told


@pytest.fixture
def published(tmp_path):
    def write(*rows):
        path = tmp_path / "qa.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in rows))
        return path

    return write


def test_questions_go_to_the_clips_that_are_named_after_their_videos(published, tmp_path):
    path = published(row(1, "7"), row(2, "8"), row(3, "9"), row(4, "7", question_type="EM"), row(5, "7", answer="a dot"))
    found = import_set("dvbench", [path], tmp_path / "set.jsonl", CLIPS)
    made = read_set(tmp_path / "set.jsonl")
    assert [(one.question_id, one.clip_id, one.type, one.source) for one in made] == [
        ("dvbench-007-1", "E_7", "Animation", "DVBench"),
        ("dvbench-008-2", "E_8", "Animation", "DVBench"),
    ]
    assert all(one.options[one.answer] == "a bar" for one in made)
    assert list(account_of(found)) == [
        "2 questions about 2 clips",
        "left out: 1 row: answered in words (EM)",
        f"left out: 1 row that cannot be used, the first: {path}:5: Value error, options say the same twice: a dot",
        "left out: 1 question about 1 video without a clip: 9",
    ]


def test_a_table_says_which_clip_is_which_video(published, tmp_path):
    path, table = published(row(1, "7"), row(2, "8")), tmp_path / "videos.tsv"
    table.write_text("clip_id\tvideo\nA_12\t8\n")
    import_set("dvbench", [path], tmp_path / "set.jsonl", CLIPS, table)
    assert [one.clip_id for one in read_set(tmp_path / "set.jsonl")] == ["A_12"]
    for text, words in [
        ("video\tclip\n8\tA_12\n", "must have the columns video and clip_id; there are video, clip"),
        ("video,clip_id\n8,B_1\n", rf"{table}:2: 'B_1' is not in the clips table"),
        ("video,clip_id\n8,A_12\n8,E_7\n", rf"{table}:3: '8' stands there twice"),
    ]:
        table.write_text(text)
        with pytest.raises(QuestionError, match=words):
            import_set("dvbench", [path], tmp_path / "set.jsonl", CLIPS, table)


def test_two_videos_are_never_one_clip(published, tmp_path):
    recording = {"MCQA": {"Question": "Which?", "Options": ["A. a", "B. b"], "Correct Answer": "[[B]]"}}
    path = published({"video_path": "software/12.mp4", **recording}, {"video_path": "website/12.mp4", **recording})
    with pytest.raises(QuestionError, match="clip A_12 would be both software/12.mp4 and website/12.mp4; say which"):
        import_set("gui_world", [path], tmp_path / "set.jsonl", CLIPS)


def test_a_sample_is_drawn_of_clips_and_always_the_same(published, tmp_path):
    path = published(*(row(number, video) for number in range(3) for video in ("7", "8")))
    drawn = []
    for seed in (0, 0, *range(1, 6)):
        found = import_set("dvbench", [path], tmp_path / "set.jsonl", CLIPS, sample=1, seed=seed)
        assert len(found.questions) == 3
        drawn.append({one.clip_id for one in found.questions})
    assert drawn[0] == drawn[1] and set.union(*drawn) == {"E_7", "E_8"}
    with pytest.raises(QuestionError, match="--sample 3: there are questions about 2 clips"):
        import_set("dvbench", [path], tmp_path / "set.jsonl", CLIPS, sample=3)


def test_what_cannot_be_imported(published, tmp_path):
    out = tmp_path / "set.jsonl"
    with pytest.raises(QuestionError, match="question 'dvbench-007-1' is there 2 times"):
        import_set("dvbench", [published(row(1, "7"), row(1, "7"))], out, CLIPS)
    with pytest.raises(QuestionError, match="no row is in the form of GUI-World; .*video_path"):
        import_set("gui_world", [published(row(1, "7"))], out, CLIPS)
    with pytest.raises(QuestionError, match="no question to import: .* 1 are about videos that no clip is named after"):
        import_set("dvbench", [published(row(1, "5"))], out, CLIPS)
    with pytest.raises(registry.Unavailable, match="no questions.formats called 'squad'; this version has: capquiz, dvbench"):
        import_set("squad", [published(row(1, "7"))], out, CLIPS)
    assert not out.exists()
