"""Whose hosts alone get the keys that are in providers' own variables."""

from __future__ import annotations

from urllib.parse import urlsplit

HOMES_OF = {  # the variables that providers' own tools read -> the domains of those providers
    "OPENAI_API_KEY": ("openai.com",),
    "ANTHROPIC_API_KEY": ("anthropic.com",),
    "GEMINI_API_KEY": ("googleapis.com",),
    "GOOGLE_API_KEY": ("googleapis.com",),
    "DASHSCOPE_API_KEY": ("aliyuncs.com",),
    "DEEPSEEK_API_KEY": ("deepseek.com",),
    "OPENROUTER_API_KEY": ("openrouter.ai",),
    "ARK_API_KEY": ("volces.com", "bytepluses.com"),
}


def must_stay_at_home(key_env: str | None, address: str) -> None:
    """A file that is laid over another and names a server, but no key, must not send it the other one's.

    Args:
        key_env: name of the variable that holds the key; None where none is sent.
        address: to which it would be sent.

    Raises:
        ValueError: the variable is a provider's, and the address is not.
    """
    homes, parts = HOMES_OF.get(key_env or ""), urlsplit(address)
    if homes is not None and not any(f".{parts.hostname}".endswith(f".{home}") for home in homes):
        raise ValueError(
            f"the key in {key_env} would be sent to {parts.netloc}; name in key_env the variable of that server's own key, or null "
            "when it needs none"
        )
