"""Licences as sites state them, and what they allow; the identifiers are SPDX's."""

from __future__ import annotations

import pytest

from codecap.publish.licences import allows_media, identifier


@pytest.mark.parametrize(
    ("stated", "known", "allowed"),
    [
        ("Creative Commons Attribution license (reuse allowed)", "CC-BY-3.0", True),  # YouTube
        ("by", "CC-BY-4.0", True),  # Vimeo's codes
        ("by-sa", "CC-BY-SA-4.0", True),
        ("by-nc", "CC-BY-NC-4.0", False),
        ("by-nd", "CC-BY-ND-4.0", False),
        ("by-nc-nd", "CC-BY-NC-ND-4.0", False),
        ("cc0", "CC0-1.0", True),
        ("https://creativecommons.org/licenses/by-sa/2.5/", "CC-BY-SA-2.5", True),
        ("http://www.creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0", True),
        ("https://creativecommons.org/licenses/by/3.0/us/deed.en", "CC-BY-3.0", True),
        ("https://creativecommons.org/licenses/by/4.0/../../by-nc-nd/4.0/", "", False),
        ("https://creativecommons.org/licenses/by/..../", "", False),
        ("https://creativecommons.org.evil.example/licenses/by/4.0/", "", False),
        ("Creative Commons Attribution-NonCommercial 4.0 International", "CC-BY-NC-4.0", False),
        ("Attribution-NoDerivs 3.0 Unported", "CC-BY-ND-3.0", False),
        ("MIT", "MIT", True),
        ("Standard YouTube License", "", False),
        ("All rights reserved", "", False),
        ("not CC BY 4.0", "", False),
        ("stand by", "", False),
        ("0", "", False),
        ("", "", False),
    ],
)
def test_what_is_stated(stated: str, known: str, allowed: bool) -> None:
    assert identifier(stated) == known
    assert allows_media(stated) is allowed


def test_a_publisher_may_allow_more_but_never_without_derivatives() -> None:
    assert allows_media("by-nc", ["CC-BY-NC-*"]) and not allows_media("by-nc-sa", ["CC-BY-NC-*"])
    assert not allows_media("by-nd", ["CC-BY-ND-*"]) and not allows_media("All rights reserved", ["*"])
    assert not allows_media("by", [])
