"""What can go wrong with a call, and whether it passes by itself."""

from __future__ import annotations

from codecap.errors import UserError


class NotReached(Exception):
    """No answer could be had this time: network, quota, budget. The message says why and what to do, and never holds a key."""


class Rejected(NotReached):
    """The provider will not answer this as it stands (key, model, request): trying again without a change is in vain."""


class QuestionRejected(Rejected):
    """It will not answer this one question as it stands (too long, or a part that it cannot take); others it may."""


class Filtered(QuestionRejected):
    """A filter of the provider keeps this one question back; filters judge by chance, the same may pass."""


class BudgetSpent(NotReached):
    """The budget of the configuration is used up; what is recorded is still replayed. Raise it and run again."""


class PriceUnknown(UserError):
    """A budget in USD is set and a model has no price: nothing is asked before it has one."""


class Broken(Exception):
    """No whole response came: no connection, a cut stream, a time-out.

    Attributes:
        sent: whether the request may have reached the provider, which may then bill it.
    """

    def __init__(self, told: str, sent: bool) -> None:
        super().__init__(told)
        self.sent = sent


class Unreadable(Exception):
    """A response that is none: not JSON, cut, or without the fields that every answer has."""


class ServerFailed(Unreadable):
    """A response in the shape of an answer by which the server says that it failed; its words."""
