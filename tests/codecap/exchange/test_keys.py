"""Providers' own keys go to their own hosts alone."""

import pytest

from codecap.exchange.keys import must_stay_at_home


@pytest.mark.parametrize(
    ("key_env", "address"),
    [
        ("OPENAI_API_KEY", "https://api.openai.com/v1"),
        ("OPENAI_API_KEY", "https://API.OpenAI.com:443/v1"),
        ("DASHSCOPE_API_KEY", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"),
        ("ARK_API_KEY", "https://ark.cn-beijing.volces.com/api/v3"),
        ("ARK_API_KEY", "https://ark.ap-southeast.bytepluses.com/api/v3"),
        ("MY_KEY", "http://127.0.0.1:8000/v1"),
        (None, "http://127.0.0.1:8000/v1"),
    ],
)
def test_these_may_be_sent(key_env, address):
    must_stay_at_home(key_env, address)


@pytest.mark.parametrize(
    ("key_env", "address", "where"),
    [
        ("OPENAI_API_KEY", "http://127.0.0.1:18766", "127.0.0.1:18766"),
        ("OPENAI_API_KEY", "https://openai.com.example/v1", "openai.com.example"),
        ("OPENAI_API_KEY", "https://notopenai.com/v1", "notopenai.com"),
        ("ARK_API_KEY", "https://api.openai.com/v1", "api.openai.com"),
        ("GOOGLE_API_KEY", "https://ark.cn-beijing.volces.com/api/v3", "ark.cn-beijing.volces.com"),
    ],
)
def test_these_may_not(key_env, address, where):
    with pytest.raises(ValueError, match=f"the key in {key_env} would be sent to {where}; name in key_env"):
        must_stay_at_home(key_env, address)
