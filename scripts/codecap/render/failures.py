"""What can go wrong with a render: the page's fault (an outcome, scored 0) or ours (retried, never scored)."""

from __future__ import annotations

from codecap.errors import UserError
from codecap.records import Outcome


class PageFailure(Exception):
    """The page cannot be rendered, and it is the page's fault.

    Attributes:
        outcome: runtime_error, missing_seek, render_timeout or render_crash.
        detail: what happened, in words.
        frame: frame that was asked for, None while the page was loading.
    """

    def __init__(self, outcome: Outcome, detail: str, frame: int | None = None) -> None:
        super().__init__(f"{outcome}: {detail}" if frame is None else f"{outcome} at frame {frame}: {detail}")
        self.outcome, self.detail, self.frame = outcome, detail, frame

    @property
    def told(self) -> str:
        """The detail, with the frame."""
        return self.detail if self.frame is None else f"frame {self.frame}: {self.detail}"


class InfraError(UserError, RuntimeError):
    """We cannot render (no browser, a full disk): outcome `infra_error`. The message says what to do."""

    may_pass = True


class BrowserMissing(InfraError):
    """No browser that starts was found; the message says where it was looked for and how to get one."""


class FrameLost(InfraError):
    """The browser owes a frame and does nothing: its fault, not the page's. Seen once in some hundred starts on a busy machine."""
