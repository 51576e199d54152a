"""A model that plays a script, behind the wire formats that agents speak: for tests, and for whoever writes a harness.

with ScriptedModel(Script.read(Path("script.yaml"))) as model:
    ...  # an agent whose API is at model.base_url("openai"), model.base_url("anthropic")
model.account.usage        # what it has said it is to be paid for
"""

from codecap.generate.agents.scripted.script import Script, Turn
from codecap.generate.agents.scripted.server import Account, ScriptedModel

__all__ = ["Account", "Script", "ScriptedModel", "Turn"]
