"""What sites say when they refuse, in the words that yt-dlp passes on, and what it means."""

from __future__ import annotations

import pytest
from yt_dlp.utils import ContentTooShortError, DownloadError, ExtractorError, GeoRestrictedError

from codecap.collect.sites.failures import in_short, not_to_be_had, of_words, wait_s


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        # YouTube
        ("[youtube] abc: Private video. Sign in if you've been granted access to this video", "private"),
        ("[youtube] abc: Video unavailable. This video has been removed by the uploader", "gone"),
        ("[youtube] abc: This video is no longer available: the account associated with it has been terminated", "gone"),
        ("[youtube] abc: Video unavailable. The uploader has not made this video available in your country", "country"),
        ("[youtube] abc: Sign in to confirm your age. This video may be inappropriate for some users", "age"),
        ("[youtube] abc: Sign in to confirm you’re not a bot. Use --cookies-from-browser", "refused"),
        ("[youtube] abc: Join this channel to get access to members-only content like this video", "private"),
        ("[youtube] abc: This live event will begin in 3 days", "no_video"),
        ("[youtube] abc: Premieres in 2 hours", "no_video"),
        ("[youtube] abc: The current session has been rate-limited by YouTube for up to an hour", "refused"),
        # Bilibili
        ("[BiliBili] 1: Request is blocked by server (412), please add cookies: HTTP Error 412: Precondition Failed", "refused"),
        ("[BiliBili] BV1: This video may be deleted or geo-restricted", "country"),
        ("[BiliBili] BV1: This is a premium-only video", "private"),
        # Vimeo
        ("[vimeo] 1: The web client only works when logged-in. Use --cookies", "private"),
        ("[vimeo] 1: This video is protected by a password, use the --video-password option", "private"),
        ("[vimeo] 1: Unable to download JSON metadata: HTTP Error 404: Not Found", "gone"),
        # any
        ("Unsupported URL: https://example.org/x", "no_video"),
        ("This format is DRM protected", "no_video"),
        ("Unable to download webpage: timed out", "network"),
        ("[download] Got error: 1000 bytes read, 24 more expected. Giving up after 3 retries", "cut_short"),
    ],
)  # fmt: skip
def test_words(words, cause):
    assert not_to_be_had(DownloadError(f"ERROR: {words}")).cause == cause


def test_errors_by_their_kind():
    assert not_to_be_had(GeoRestrictedError("nothing to see")).cause == "country"
    assert not_to_be_had(ContentTooShortError(5, 10)).cause == "cut_short"
    assert not_to_be_had(ConnectionResetError("x")).cause == "network"
    assert not_to_be_had(ExtractorError("something new", expected=True)).cause == "no_video"
    assert of_words("something new") is None


def test_a_reason_is_one_short_line_without_queries_and_passwords():
    told = in_short(
        "\x1b[0;31mERROR:\x1b[0m [x] https://u:p4ss@h.example/v?token=abc#t failed\nat once; please report this issue on  https://github.com/y"
    )
    assert told == "[x] https://h.example/v failed at once"
    assert len(in_short("x" * 5000)) == 300


@pytest.mark.parametrize(
    ("told", "seconds"),
    [("0", 0), ("-5", 0), ("7.5", 7.5), ("1e99", 86400), ("nan", None), ("", None), (None, None), ("later", None)],
)
def test_how_long_to_wait(told, seconds):
    assert wait_s(told) == seconds
