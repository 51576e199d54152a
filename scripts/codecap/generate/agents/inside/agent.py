"""agent --model MODEL --url ADDRESS [--effort EFFORT] PROMPT

The smallest agent there is: asks a model by chat completions, runs the commands that it asks for, shows it the pictures that it
asks for, until it says something without asking for either. Each thing it does is a line of JSON on the standard output. It tries a
request again where the server says so, and gives up after some tries.
"""

from __future__ import annotations

import argparse
import base64
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

TRIES = 6
ANSWER_S = 1800
COMMAND_S = 900
LONGEST_OUTPUT = 20_000  # characters of a command that the model is shown
LOGGED_OUTPUT = 4000
LARGEST_PICTURE = 8_000_000  # bytes
MOST_ROUNDS = 1000
MEDIA = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}


def tool(name: str, about: str, argument: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}


TOOLS = [
    tool("bash", "Run a command with bash; gives its output and exit status.", "command"),
    tool("view_image", "Look at a picture file.", "path"),
]


def tell(kind: str, **told: Any) -> None:
    print(json.dumps({"type": kind, **told}), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser("agent", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--effort")
    parser.add_argument("prompt")
    asked = parser.parse_args()
    messages: list[dict[str, Any]] = [{"role": "user", "content": asked.prompt}]
    for _ in range(MOST_ROUNDS):
        body = {"model": asked.model, "messages": messages, "tools": TOOLS}
        if asked.effort is not None:
            body["reasoning_effort"] = asked.effort
        choice = answer(f"{asked.url}/v1/chat/completions", body)
        message = choice["message"]
        messages.append({"role": "assistant", "content": message.get("content"), "tool_calls": message.get("tool_calls") or []})
        calls = messages[-1]["tool_calls"]
        tell("answer", said=message.get("content") or "", stop=choice.get("finish_reason"), calls=len(calls))
        if not calls:
            del messages[-1]["tool_calls"]
            return 0
        pictures: list[dict[str, Any]] = []
        for call in calls:
            told = done(call["function"], pictures)
            tell("result", told=told[:LOGGED_OUTPUT])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": told})
        if pictures:
            messages.append({"role": "user", "content": pictures})
    tell("error", told=f"more than {MOST_ROUNDS} rounds")
    return 1


def answer(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """The first choice of an answer; ends the program where none comes."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    told = ""
    for number in range(TRIES):
        request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        try:
            with opener.open(request, timeout=ANSWER_S) as response:
                return json.loads(response.read())["choices"][0]
        except urllib.error.HTTPError as error:
            told = f"{error.code}: {error.read(2000).decode(errors='replace')}"
            if error.code not in (408, 409, 425, 429, 500, 502, 503, 504, 529):
                break
            wait_s = error.headers.get("Retry-After", "")
        except (urllib.error.URLError, OSError, ValueError, LookupError) as error:
            told, wait_s = str(error), ""
        time.sleep(float(wait_s) if wait_s.replace(".", "", 1).isdigit() else min(2**number, 30))
    tell("error", told=told)
    sys.exit(1)


def done(function: dict[str, Any], pictures: list[dict[str, Any]]) -> str:
    """Do what a call asks for; what the model is told of it. A picture is added to those that it is shown afterwards."""
    name = function.get("name")
    try:
        told = json.loads(function.get("arguments") or "{}")
    except ValueError:
        told = {}
    tell("call", tool=name, arguments=told)
    if name == "bash" and isinstance(told.get("command"), str):
        return run(told["command"])
    if name == "view_image" and isinstance(told.get("path"), str):
        return show(Path(told["path"]), pictures)
    return f"there is no tool {name} with these arguments"


def run(command: str) -> str:
    try:
        ran = subprocess.run(
            ["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMMAND_S
        )
    except subprocess.TimeoutExpired:
        return f"it took more than {COMMAND_S} s, and was ended"
    output = ran.stdout.decode(errors="replace")
    if len(output) > LONGEST_OUTPUT:
        output = f"{output[: LONGEST_OUTPUT // 2]}\n...\n{output[-LONGEST_OUTPUT // 2 :]}"
    return f"{output}\nexit status {ran.returncode}"


def show(path: Path, pictures: list[dict[str, Any]]) -> str:
    media = MEDIA.get(path.suffix.lower())
    if media is None:
        return f"{path}: is none of {', '.join(MEDIA)}"
    try:
        raw = path.read_bytes()
    except OSError as error:
        return f"{path}: {error.strerror}"
    if len(raw) > LARGEST_PICTURE:
        return f"{path}: {len(raw)} bytes are too many; at most {LARGEST_PICTURE}"
    pictures.append({"type": "image_url", "image_url": {"url": f"data:{media};base64,{base64.b64encode(raw).decode()}"}})
    return "the picture follows"


if __name__ == "__main__":
    sys.exit(main())
