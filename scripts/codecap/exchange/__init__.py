"""The exchange layer: the one way in which this project asks a multimodal model.

    with session(durable=Path("store/durable"), settings=config["exchange"]):
        reply = ask(Endpoint(api="openai", model="gpt-5.4", key_env="OPENAI_API_KEY"), Question(parts=(Text("Hello"),)))

A request has a digest over what is asked of whom. What comes back is recorded under it before anyone reads it, and replayed when
the same is asked again, by any process. Our code is no part of the digest: an edit reads the answers anew, it does not buy them.
"""

from codecap.exchange.failures import BudgetSpent, Filtered, NotReached, PriceUnknown, QuestionRejected, Rejected
from codecap.exchange.question import Endpoint, Picture, Question, Reply, Text, Video
from codecap.exchange.session import Exchange, ask, at_once, opened, session

__all__ = [
    "BudgetSpent",
    "Endpoint",
    "Exchange",
    "Filtered",
    "NotReached",
    "Picture",
    "PriceUnknown",
    "Question",
    "QuestionRejected",
    "Rejected",
    "Reply",
    "Text",
    "Video",
    "ask",
    "at_once",
    "opened",
    "session",
]
