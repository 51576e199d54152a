"""A server in the place of vLLM's: speaks the part of its API that is asked for, and misbehaves as its command line says.

    python scripted_server.py WAY --host HOST --port PORT --served-model-name NAME

WAY: well, slow (not ready at first), never ready, crash (at its start, with words), stubborn (ignores SIGTERM, and has a child in a
session of its own that does too), mortal (ends after its first answer). It stops by itself after a minute.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

way, told = sys.argv[1], dict(zip(sys.argv[2::2], sys.argv[3::2], strict=True))
model, started = told["--served-model-name"], time.monotonic()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/health":
            ready = way != "never ready" and (way != "slow" or time.monotonic() - started > 1)
            self.answer(200 if ready else 503, {})
        elif self.path == "/v1/models":
            self.answer(200, {"object": "list", "data": [{"id": model, "object": "model"}]})
        elif self.path == "/environment":
            self.answer(200, dict(os.environ))
        else:
            self.answer(404, {"error": {"message": "no such path"}})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = json.dumps(asked["messages"][-1]["content"])
        message = {"role": "assistant", "content": f"{model} heard {len(text)} characters"}
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        self.answer(200, {"model": model, "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})
        if way == "mortal":
            print("CUDA error: an illegal memory access was encountered", flush=True)
            os._exit(3)

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *_):
        pass


print(f"pid {os.getpid()}", flush=True)
if way == "crash":
    print("ValueError: No available memory for the cache blocks.", flush=True)
    sys.exit(1)
if way == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    subprocess.Popen([sys.executable, "-c", child], start_new_session=True)
server = ThreadingHTTPServer((told["--host"], int(told["--port"])), Handler)
server.daemon_threads = True
threading.Timer(60, os._exit, [9]).start()
server.serve_forever(poll_interval=0.05)
