"""What calls of tools were for."""

import pytest

from codecap.generate.agents.trace import CLASSES, ToolCall, Trace, classes_of

SHELL = {
    "ls -la": "other",
    "time-left": "other",
    "cat index.html": "other",
    "frames --every 0.5 -o shots": "analyse_frames",
    "ffmpeg -i /input/video.mp4 -vf fps=2 f/%03d.png": "analyse_frames",
    "ffprobe /input/video.mp4": "analyse_frames",
    "python3 -c 'import cv2; print(1)'": "analyse_frames",
    "python3 - <<'EOF'\nfrom PIL import Image\nEOF": "analyse_frames",
    "cat > index.html <<'EOF'\n<!doctype html>\nEOF": "write_code",
    "cat > index.html <<'EOF'\nrender me; compare me\nEOF": "write_code",
    "sed -i 's/red/blue/' index.html": "write_code",
    "cp v2.html index.html": "write_code",
    "python3 -c \"open('index.html', 'w').write(x)\"": "write_code",
    "python3 - <<'EOF'\nPath('index.html').write_text(x)\nEOF": "write_code",
    "tee -a style.css < x": "write_code",
    "render index.html --at 1": "render_compare",
    "cd /work && timeout 60 render index.html": "render_compare",
    "A=1 /opt/codecap/bin/compare index.html | tail -3": "render_compare",
    "for t in 1 2; do render index.html --at $t; done": "render_compare",
    "cat > index.html <<'EOF'\n<html>\nEOF\nrender index.html": "render_compare",
    "echo 'render index.html'": "other",
    "grep -n render index.html": "other",
    "cat index.html > /dev/null": "other",
    "unbalanced 'quote render": "other",
    "": "other",
}


@pytest.mark.parametrize(("command", "found"), SHELL.items())
def test_a_shell_command_counts_once(command, found):
    assert classes_of([ToolCall("shell", command)]) == [found]


def test_a_picture_is_of_the_page_where_an_earlier_command_has_drawn_it():
    calls = [
        ToolCall("look", "shots/1.000.png"),
        ToolCall("look", "out/1.000.png"),
        ToolCall("shell", "render index.html --at 1 -o /work/out; compare index.html"),
        ToolCall("look", "/work/out/1.000.png"),
        ToolCall("look", "./compare.png"),
        ToolCall("look", "shots/1.000.png"),
        ToolCall("look", "index.html"),
    ]
    reference, page = "view_reference", "render_compare"
    assert classes_of(calls) == [reference, reference, page, page, page, reference, "other"]


def test_files_are_told_apart_by_their_names():
    calls = [ToolCall("write", "/work/index.html"), ToolCall("write", "measure.py"), ToolCall("write", "notes.md")]
    calls.append(ToolCall("write", "*** Begin Patch\n*** Update File: x", "apply_patch"))
    assert classes_of(calls) == ["write_code", "analyse_frames", "other", "write_code"]


def test_a_trace_counts_all_classes():
    assert Trace((ToolCall("shell", "ls"),)).by_class == dict.fromkeys(CLASSES, 0) | {"other": 1}


def test_a_command_without_end_is_looked_at_in_bounded_time():
    assert classes_of([ToolCall("shell", "x > " * 200_000 + "index.html")]) == ["other"]
