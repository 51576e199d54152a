"""HLS whose sound lies apart from its pictures, through yt-dlp's own downloader."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from yt_dlp.aes import aes_cbc_encrypt

from codecap.collect import collect_candidates, fetch_shard
from codecap.records import LATER

SECONDS = 3


def segments(folder: Path, kind: str) -> dict[str, bytes]:
    """A playlist `<kind>.m3u8` and its segments of one second, by name."""
    options = {"hls_time": "1", "hls_list_size": "0", "hls_segment_filename": str(folder / f"{kind}%d.ts")}
    with av.open(str(folder / f"{kind}.m3u8"), "w", format="hls", options=options) as container:
        if kind == "sound":
            stream = container.add_stream("aac", rate=8000, layout="mono")
            frame = av.AudioFrame.from_ndarray(np.zeros((1, SECONDS * 8000), np.float32), format="fltp", layout="mono")
            frame.sample_rate, frame.pts = 8000, 0
            container.mux(stream.encode(frame))
        else:
            height_px = int(kind.removeprefix("p"))
            stream = container.add_stream("libx264", rate=24, options={"g": "24", "preset": "ultrafast"})
            stream.width, stream.height, stream.pix_fmt = height_px * 4 // 3, height_px, "yuv420p"
            for number in range(SECONDS * 24):
                picture = np.full((height_px, height_px * 4 // 3, 3), number * 3, np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    return {path.name: path.read_bytes() for path in sorted(folder.glob(f"{kind}*"))}


@pytest.fixture
def playlist(site, tmp_path) -> str:
    folder = tmp_path / "hls"
    folder.mkdir()
    lines = ["#EXTM3U", '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",DEFAULT=YES,URI="sound.m3u8"']
    for height_px in (48, 96):
        size = f"{height_px * 4 // 3}x{height_px}"
        lines += [
            f'#EXT-X-STREAM-INF:BANDWIDTH={height_px}000,RESOLUTION={size},CODECS="avc1.42c00a,mp4a.40.2",AUDIO="a"',
            f"p{height_px}.m3u8",
        ]
    for kind in ("sound", "p48", "p96"):
        for name, body in segments(folder, kind).items():
            site.put(f"hls/{name}", body, "application/x-mpegurl" if name.endswith("m3u8") else "video/mp2t")
    return site.put("hls/master.m3u8", "\n".join([*lines, ""]).encode(), "application/x-mpegurl")


@pytest.fixture
def fetch(tmp_path):
    def run(address, **settings):
        sources = {"web": {"plugin": "http", "urls": [{"url": address, "id": "hls"}], **settings}}
        return next(iter(fetch_shard(collect_candidates(sources).candidates, sources, tmp_path / "bulk", tmp_path / "durable")))

    return run


def streams(path: Path) -> list[tuple[str, float]]:
    with av.open(str(path)) as container:
        return [(stream.type, getattr(stream, "height", None)) for stream in container.streams]


def test_pictures_alone_and_nothing_else_is_asked(site, playlist, fetch):
    row = fetch(playlist)
    assert row.status == "ok", row.reason
    assert streams(row.path) == [("video", 96)]
    assert not any("sound" in name or "p48" in name for name in site.asked)
    before = site.asked.total()
    assert fetch(playlist) == row and site.asked.total() == before


def test_with_sound_both_are_put_into_one_file(playlist, fetch):
    row = fetch(playlist, audio=True)
    assert row.status == "ok", row.reason
    assert sorted(streams(row.path), key=str) == [("audio", None), ("video", 96)] and row.path.suffix == ".mkv"


def test_a_playlist_without_the_name_of_one(site, playlist, fetch):
    other = site.put(
        "watch",
        site.pages[site._key(playlist)].body.replace(b"p96", b"hls/p96").replace(b"p48", b"hls/p48"),
        "application/vnd.apple.mpegurl",
    )
    assert streams(fetch(other).path) == [("video", 96)]


@pytest.mark.parametrize(("ways", "cause"), [([404], "gone"), ([503], "network")])
def test_a_missing_segment_is_no_video_and_the_rest_is_kept(site, playlist, fetch, ways, cause):
    missing = site.pages[site._key(f"{site.url}/hls/p961.ts")]
    missing.ways = list(ways)
    row = fetch(playlist)
    assert (row.status, row.cause) == ("failed", cause), row.reason
    first = site.count(f"{site.url}/hls/p960.ts")
    missing.ways = ["ok"]
    assert fetch(playlist).status == "ok"
    assert site.count(f"{site.url}/hls/p960.ts") == (first if cause in LATER else first + 1)


KEY = bytes(range(16))


@pytest.mark.parametrize("line", ['#EXT-X-KEY:METHOD=SAMPLE-AES,URI="key"', '#EXT-X-KEY:METHOD=AES-128,URI="key"'])
def test_an_encrypted_playlist_starts_no_program(site, playlist, fetch, monkeypatch, line):
    """yt-dlp would hand the first one to an FFmpeg with network, and the second one too where no library of ciphers is there."""
    monkeypatch.setattr("subprocess.Popen", lambda *words, **_: pytest.fail(f"starts {words}"))
    site.put("hls/key", KEY, "application/octet-stream")
    encrypted = site.pages[site._key(f"{site.url}/hls/p96.m3u8")]
    encrypted.body = encrypted.body.replace(b"#EXTINF", f"{line}\n#EXTINF".encode(), 1)
    decipher = "AES-128" in line
    for number in range(SECONDS if decipher else 0):
        segment = site.pages[site._key(f"{site.url}/hls/p96{number}.ts")]
        segment.body = bytes(aes_cbc_encrypt(list(segment.body), list(KEY), [*bytes(15), number]))
    row = fetch(playlist)
    if decipher:
        assert row.status == "ok", row.reason
        assert streams(row.path) == [("video", 96)]
    else:
        assert (row.status, row.cause) == ("failed", "no_video") and "encrypted" in row.reason
