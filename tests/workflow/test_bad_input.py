"""Bad input: one clear message (what, where, what to do), and the other clips and systems go on."""

import os
import subprocess

import pytest
from running import planned, small_table

from codecap.clips_table import read_clips, write_clips
from codecap.config import PROJECT
from codecap.records import AnnotatedObject, Annotation, FocalPoint, Render, read_rows, write_record

RESOURCES = PROJECT / "resources" / "demo"
CLIPS = read_clips(RESOURCES / "clips.tsv")


def test_an_unknown_key_is_refused_before_anything_is_planned(workflow):
    workflow.configure(bukets=3)
    status, told = workflow.run("--dry-run")
    assert status != 0
    assert "mine.yaml: bukets: unknown key; did you mean 'buckets'?" in told


def test_an_unknown_backend_names_those_there_are(workflow):
    workflow.configure(metrics={"visual_similarity": {"encoder": "dinov9"}})
    status, told = workflow.run("--dry-run")
    assert status != 0
    assert "no encoder called 'dinov9'; this version has: dreamsim, efficientnet, siglip2, vjepa2, vjepa2_1" in told


def test_numbers_inside_of_a_mapping_on_the_command_line(workflow):
    status, told = workflow.run("--dry-run", "--config", "exchange={budget_usd: 2.5, concurrency: 2}", "humans=null")
    assert status == 0, told
    status, told = workflow.run("--dry-run", "--config", "exchange={budget_usd: much}")
    assert status != 0 and "exchange.budget_usd" in told


def test_no_clips_table(workflow):
    workflow.configure(clips="nowhere/clips.tsv")
    status, told = workflow.run("--dry-run")
    assert status != 0
    assert "nowhere/clips.tsv: no clips table there" in told and "codecap ingest" in told


def test_a_clip_id_used_twice_is_named_and_the_other_clips_go_on(workflow):
    table = workflow.folder / "clips.tsv"
    write_clips(table, CLIPS)
    lines = table.read_text().splitlines()
    table.write_text("\n".join([*lines, lines[1]]) + "\n")
    workflow.configure(clips=str(table))
    told = workflow.finish("--dry-run")
    assert f"codecap: left out: {table}:7: clip id '{CLIPS[0].clip_id}' is used twice" in told
    assert "generate_captions" in told


def test_a_system_with_an_unknown_harness_is_named_and_the_others_go_on(workflow):
    workflow.configure(models={"mystery": {"label": "Mystery", "harness": "crystal_ball"}})
    told = workflow.finish("--dry-run")
    assert "left out: models.mystery.harness: no harness called 'crystal_ball'; this version has: caption_to_video, " in told
    assert "generate_captions" in told


@pytest.mark.slow
def test_bad_annotations_are_named_and_the_other_clips_keep_theirs(workflow):
    annotations = workflow.folder / "annotations"
    annotations.mkdir()
    first, second, third = CLIPS[0], CLIPS[1], CLIPS[2]
    point = FocalPoint(focal_id="f", kind="static", description="the picture", start_s=0, end_s=1)
    outside = AnnotatedObject(name="far", visible_s=[(0, 1)], boxes_xyxy=[(0, 0, 9999, 9999)] * second.frames)
    write_record(annotations / f"{first.clip_id}.json", Annotation(clip_id=first.clip_id, focal_points=[point]))
    write_record(annotations / f"{second.clip_id}.json", Annotation(clip_id=second.clip_id, objects=[outside]))
    write_record(annotations / "Z_999.json", Annotation(clip_id="Z_999"))
    (annotations / f"{third.clip_id}.json").write_text('{"clip_id": 3}')
    workflow.configure(annotations_folder=str(annotations), buckets=1)
    workflow.finish("results/3_annotate/approved/00.jsonl")
    kept = [row.clip_id for row in read_rows(workflow.folder / "results/3_annotate/approved/00.jsonl", Annotation)]
    assert kept == [first.clip_id]
    told = (workflow.folder / "logs/gather_annotations/00.log").read_text()
    for name, words in ((second.clip_id, "passes the picture"), (third.clip_id, "not a valid Annotation"), ("Z_999", "clip")):
        assert any(name in line and words in line for line in told.splitlines()), (name, told)


@pytest.mark.slow
def test_a_clip_whose_file_is_gone_or_changed_is_a_row_and_the_others_go_on(workflow):
    clips = [clip.model_copy(update={"mp4": clip.mp4.resolve()}) for clip in CLIPS[:3]]
    gone = clips[0].model_copy(update={"mp4": workflow.folder / "gone.mp4"})
    changed = clips[1].model_copy(update={"sha256": "0" * 64})
    table = workflow.folder / "clips.tsv"
    write_clips(table, [gone, changed, clips[2]])
    workflow.configure(clips=str(table), systems=["blank"], buckets=1)
    workflow.finish("results/5_render/blank/00.jsonl")
    rows = {row.clip_id: row for row in read_rows(workflow.folder / "results/5_render/blank/00.jsonl", Render)}
    assert rows[gone.clip_id].outcome == "infra_error" and "gone.mp4" in rows[gone.clip_id].detail
    assert rows[changed.clip_id].outcome == "infra_error" and "sha256 differs" in rows[changed.clip_id].detail
    assert rows[clips[2].clip_id].outcome == "ok"

    write_clips(table, [clips[0], clips[1], clips[2]])  # mended: only those two are made
    before = workflow.made()
    workflow.finish("results/5_render/blank/00.jsonl")
    rows = read_rows(workflow.folder / "results/5_render/blank/00.jsonl", Render)
    assert {row.outcome for row in rows} == {"ok"}
    assert {clip for _, _, clip in workflow.made() - before} == {clips[0].clip_id, clips[1].clip_id}


@pytest.mark.slow
def test_a_missing_browser_stops_the_renders_with_one_message(workflow, monkeypatch):
    monkeypatch.setenv("CODECAP_BROWSER", "/nowhere/chromium")
    workflow.configure(systems=["blank"], buckets=1, clips=small_table(workflow.folder / "clips.tsv", 1))
    status, told = workflow.run("--show-failed-logs", "results/5_render/blank/00.jsonl")
    assert status != 0
    assert "/nowhere/chromium" in told and "make install" in told
    assert "Traceback (most recent call last)" not in (workflow.folder / "logs/render_captions/blank/00.log").read_text()
    assert (workflow.folder / "results/4_generate/blank/00.jsonl").is_file()
    monkeypatch.delenv("CODECAP_BROWSER")
    before = workflow.made()
    workflow.finish("results/5_render/blank/00.jsonl")
    assert {stage for stage, _, _ in workflow.made() - before} == {"render"}


def mounted(folder, options):
    folder.mkdir()
    told = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True)
    if told.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {told.stderr.strip()}")


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small filesystem")
def test_a_full_disk_is_told_in_words_and_the_run_goes_on_when_there_is_room(workflow):
    store = workflow.folder / "small"
    mounted(store, "size=300k")
    try:
        table = small_table(workflow.folder / "clips.tsv", 2)
        workflow.configure(store={"bulk": str(store)}, systems=["reference", "blank"], buckets=1, clips=table)
        status, told = workflow.run("--show-failed-logs", *(f"results/5_render/{name}/00.jsonl" for name in ("reference", "blank")))
        assert status != 0
        assert "no space left" in told and "store.bulk" in told
        subprocess.run(["mount", "-o", "remount,size=100m", store], check=True)
        workflow.finish("results/5_render/blank/00.jsonl", "results/5_render/reference/00.jsonl")
        assert set(workflow.made().values()) == {1}
    finally:
        subprocess.run(["umount", store], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a read-only filesystem")
@pytest.mark.parametrize("what", ["results", "store"])
def test_a_read_only_folder_is_told_in_words(workflow, what):
    mounted(workflow.folder / what, "size=1m,ro")
    try:
        status, told = workflow.run("all")
        assert status != 0
        assert f"{what}" in told and "cannot be written" in told and "--directory" in told
    finally:
        subprocess.run(["umount", workflow.folder / what], check=True)


def test_keys_that_are_missing_are_named_once_with_the_systems_that_need_them(workflow, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    workflow.configure(systems=["still", "gpt-6-sol", "gpt-6-sol-codex", "opus-5-words"])
    status, told = workflow.run("--dry-run")
    assert status != 0
    assert "OPENAI_API_KEY is not set; its key is for gpt-6-sol, gpt-6-sol-codex" in told
    assert "ANTHROPIC_API_KEY is not set; its key is for opus-5-words" in told and "export NAME" in told
    assert told.count("OPENAI_API_KEY") == 1
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
    workflow.finish("--dry-run")


def test_a_hosted_system_that_is_set_wrongly_is_told_before_anything_is_planned(workflow):
    endpoint = {"api": "openai", "model": "m", "key_env": None}
    entries = {"one": {"endpoint": endpoint, "framerate": 2}, "two": {"endpoint": {**endpoint, "thinking": "9000"}}, "three": {}}
    workflow.configure(models={name: {"label": name, "harness": "direct", **entry} for name, entry in entries.items()})
    status, told = workflow.run("--dry-run")
    assert status != 0
    assert "models.one: generate.harnesses direct: wrong settings: framerate: Extra inputs" in told
    assert "models.two: generate.harnesses direct: wrong settings: endpoint: " in told and "thinking must be a level" in told
    assert "models.three: generate.harnesses direct: wrong settings: endpoint: Field required" in told


def test_a_video_of_captions_that_nobody_makes_is_left_out(workflow):
    entry = {"label": "Filmed", "harness": "caption_to_video", "captions_of": "still", "video": "http_jobs"}
    workflow.configure(models={"filmed": entry})
    told = workflow.finish("--dry-run")
    assert "left out: models.filmed.captions_of: must name a system of texts that takes part, not 'still'" in told
    workflow.configure(models={"filmed": entry}, systems=["still", "filmed"])
    status, told = workflow.run("--dry-run")
    assert status != 0 and "models.filmed.captions_of: must name a system of texts" in told and "left out" not in told


def test_texts_are_made_and_not_rendered_and_videos_of_them_come_after(workflow):
    endpoint = {"api": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "key_env": None}
    words = {"label": "Words", "harness": "describe", "endpoint": endpoint}
    jobs = {"http_jobs": {"base_url": "http://127.0.0.1:9/v1", "model": "m"}}
    filmed = {"label": "Filmed", "harness": "caption_to_video", "captions_of": "words", "video": "http_jobs", "videos": jobs}
    workflow.configure(systems=["still", "words", "filmed"], models={"words": words, "filmed": filmed})
    told = workflow.finish("--dry-run")
    rules = {name: {rule for rule, system in planned(told) if system == name} for name in ("words", "filmed")}
    assert rules["words"] == {"generate_captions"} and "render_captions" in rules["filmed"]
    assert "input: results/4_generate/words/00.jsonl" in told
