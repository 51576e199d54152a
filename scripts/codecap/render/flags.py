"""How Chromium is told to draw the same picture on every machine, and to reach nothing. Part of the protocol."""

from __future__ import annotations

import os

DRAWING = (
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    "--font-render-hinting=none",
    "--disable-gpu",  # drawn in software, the same on every machine
    "--enable-unsafe-swiftshader",  # WebGL in software
    "--disable-partial-raster",  # a changed part is not drawn into an old tile: edges there depend on what was before
    "--disable-checker-imaging",  # a picture is decoded before the frame that shows it, not some frames later
    "--disable-threaded-animation",  # none runs beside the page's script, which the clock cannot hold
    "--disable-smooth-scrolling",
    "--autoplay-policy=no-user-gesture-required",
    "--lang=en-US",
)
FRAME_BY_FRAME = (  # for an engine that asks for each frame
    "--enable-begin-frame-control",
    "--run-all-compositor-stages-before-draw",
    "--deterministic-mode",
)
ISOLATION = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--dns-prefetch-disable",
    "--block-new-web-contents",
    "--deny-permission-prompts",
    "--disable-breakpad",
)
QUIET = (  # nothing of its own while it draws
    "--headless",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-field-trial-config",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-site-isolation-trials",  # a sandboxed frame shares the page's process, and its clock script
    "--disable-features=Translate,OptimizationHints,MediaRouter,PaintHolding,IsolateSandboxedIframes",
    "--password-store=basic",
    "--use-mock-keychain",
    "--metrics-recording-only",
    "--mute-audio",
)
LEAST_SHARED_MEMORY_BYTES = 1 << 29  # containers often give 64 MB, and large pages then crash


def small_shared_memory() -> tuple[str, ...]:
    """What keeps Chromium away from a /dev/shm that is too small for large pages."""
    try:
        room = os.statvfs("/dev/shm")
    except OSError:
        return ("--disable-dev-shm-usage",)
    return ("--disable-dev-shm-usage",) if room.f_bavail * room.f_frsize < LEAST_SHARED_MEMORY_BYTES else ()
