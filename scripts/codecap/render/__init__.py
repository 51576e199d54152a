"""Rendering: from a caption to a canonical video and a certificate of how it was made.

    from codecap.render import render_page
    certificate = render_page(Path("page.html"), frames=48, width_px=640, height_px=360, out_mp4=Path("page.mp4"))

The page's failures are outcomes in the certificate, in the order of docs/metrics.md: a script error before a missing
`window.seek`, which may be its consequence. Failures of ours are the exception `InfraError`.
"""

from codecap.render.browser import browser_version, find_browser, install_browser
from codecap.render.failures import BrowserMissing, InfraError, PageFailure
from codecap.render.rendering import partial_path, render_caption, render_page, render_protocol
from codecap.render.settings import RenderSettings

__all__ = [
    "BrowserMissing",
    "InfraError",
    "PageFailure",
    "RenderSettings",
    "browser_version",
    "find_browser",
    "install_browser",
    "partial_path",
    "render_caption",
    "render_page",
    "render_protocol",
]
