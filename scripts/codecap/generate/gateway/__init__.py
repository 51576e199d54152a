"""The gateway: the one way from inside a sandbox to the model, and to nothing else.

    with Gateway(exchange, endpoint, run=key, limits=Limits(usd=Decimal(5)), deadline=Deadline(3600)) as gateway:
        ...                       # an agent inside talks to gateway.url_inside, through the sandbox's relay
    gateway.tally                 # what it used, and what ended it

It listens on a unix socket and speaks the endpoint's API by passing through: OpenAI (chat completions and responses), Anthropic
(messages and count_tokens), Google (generateContent and streamGenerateContent). Whatever else is asked is refused and noted. Keys
are put in on this side. Every exchange is recorded before it is counted and before its end is passed on; the same run begun again
is answered from the records as far as it asks the same.
"""

from codecap.generate.gateway.deadline import Deadline
from codecap.generate.gateway.gateway import Gateway
from codecap.generate.gateway.routes import Response
from codecap.generate.gateway.tally import Limits, Tally

__all__ = ["Deadline", "Gateway", "Limits", "Response", "Tally"]
