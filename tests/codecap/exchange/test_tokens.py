"""Tokens before a call, by the providers' own examples and rules."""

import pytest

from codecap.exchange import Endpoint, Picture, Question, Text, tokens


def of(api: str, model: str, width_px: int, height_px: int) -> int:
    return tokens.of_picture(Endpoint(api=api, model=model), width_px, height_px)


@pytest.mark.parametrize(
    ("model", "size_px", "count"),
    [
        ("gpt-4o", (1024, 1024), 765),  # OpenAI's example: 4 tiles of 170, and 85
        ("gpt-4o", (2048, 4096), 1105),  # their second: 6 tiles
        ("gpt-4.1-mini", (1024, 1024), 1659),  # 1024 patches times 1.62
        ("gpt-5", (512, 512), 210),
        ("gpt-6-sol", (1280, 720), 1104),  # 40 x 23 patches times 1.2
        ("Qwen/Qwen3-VL", (10_000, 10_000), 3000),  # the limit
    ],
)
def test_openai(model, size_px, count):
    assert of("openai", model, *size_px) == count


@pytest.mark.parametrize(
    ("model", "size_px", "count"),
    [
        ("claude-sonnet-4-6", (1092, 1092), 39 * 39),
        ("claude-sonnet-4-6", (3000, 3000), 1568),
        ("claude-opus-5-5", (1920, 1080), 69 * 39),
        ("claude-opus-5-5", (5152, 2576), 92 * 46),  # scaled to half
    ],
)
def test_anthropic(model, size_px, count):
    assert of("anthropic", model, *size_px) == count


@pytest.mark.parametrize(
    ("model", "size_px", "count"),
    [("gemini-2.5-pro", (384, 300), 258), ("gemini-2.5-pro", (960, 540), 516), ("gemini-4-argon", (960, 540), 1120)],
)
def test_google(model, size_px, count):
    assert of("google", model, *size_px) == count


def test_a_video_has_its_frames():
    google = Endpoint(api="google", model="gemini-4-argon")
    assert tokens.of_video(google, 10, 2.0) == 20 * (70 + 8)
    assert tokens.of_video(google, 10, None) == 10 * (70 + 8)


def test_a_request_is_its_text_and_its_pictures():
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (1280, 720)).save(file, "PNG")
    endpoint = Endpoint(api="openai", model="gpt-6-sol")
    asked = Question((Text("x" * 350), Picture(file.getvalue()), Picture(file.getvalue())), system="y" * 70)
    assert tokens.of_request(endpoint, asked) == 120 + 2 * 1104
