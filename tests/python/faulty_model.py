"""A server of the chat completions API whose model says what a script says, and whose faults are real ones."""

import contextlib
import http.server
import json
import threading


def event(body):
    return f"data: {body if isinstance(body, str) else json.dumps(body)}\n\n".encode()


def stream_of(text, finish="stop"):
    """A whole stream that says `text`."""
    yield event({"model": "scripted-1", "choices": [{"delta": {"content": text}}]})
    yield event({"choices": [{"delta": {}, "finish_reason": finish}]})
    yield event({"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}})
    yield event("[DONE]")


class FaultyModel:
    """`script`: a text, a dict (said as JSON) or the name of a fault for each request, or a function of it and its
    number."""

    def __init__(self, script):
        self.script, self.asked, self.stopped = script if callable(script) else list(script), [], threading.Event()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                model.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                number = len(model.asked) - 1
                if callable(model.script):
                    step = model.script(model.asked[-1], number)
                else:
                    step = model.script[number] if number < len(model.script) else "500"
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # whoever asked was killed
                    getattr(self, f"fault_{step}", lambda: self.say(step))()

            def say(self, step, finish="stop"):
                self.begin()
                for piece in stream_of(step if isinstance(step, str) else json.dumps(step), finish):
                    self.wfile.write(piece)

            def begin(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()

            def fail(self, status, headers=()):
                body = json.dumps({"error": {"message": f"status {status} on purpose"}}).encode()
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def fault_429(self):
                self.fail(429, [("Retry-After", "0")])

            def fault_500(self):
                self.fail(500)

            def fault_malformed(self):
                self.begin()
                self.wfile.write(event('{"choices": [{"delta": {"content": "hal'))

            def fault_broken_off(self):
                self.begin()
                self.wfile.write(next(stream_of('{"reason": "the stream ends')))

            def fault_hang(self):
                self.begin()
                self.wfile.flush()
                model.stopped.wait(60)

            def fault_refusal(self):
                self.say("I would rather not.", "content_filter")

            def fault_empty(self):
                self.say("")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()
