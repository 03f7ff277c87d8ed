"""An a2achan worker on Python's standard library, written from spec/PROTOCOL.md alone. Clauses stand in brackets."""

import base64
import hashlib
import json
import os
import socket
from urllib.parse import urlsplit

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Channel:
    """A WebSocket with the subprotocol a2achan.v1.json [6.2] and the token in the upgrade's header [8.3]."""

    def __init__(self, url, token):
        at = urlsplit(url)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket = socket.create_connection((at.hostname, at.port), timeout=60)
        self.input = self.socket.makefile("rb")
        self.socket.sendall((
            f"GET {at.path} HTTP/1.1\r\nHost: {at.netloc}\r\nAuthorization: Bearer {token}\r\n"
            f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: a2achan.v1.json\r\n\r\n").encode())
        status, *lines = iter(lambda: self.input.readline().decode().strip(), "")
        expect("the answer to the upgrade", status.split()[1], "101")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        accept = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        expect("its key", headers["sec-websocket-accept"], base64.b64encode(accept).decode())
        self.requests, self.pushes = 0, []

    def send(self, opcode, data):
        size, mask = len(data), os.urandom(4)
        length = bytes([128 | size]) if size < 126 else bytes([128 | 126]) + size.to_bytes(2, "big")
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.socket.sendall(bytes([128 | opcode]) + length + mask + masked)

    def next(self):
        """The broker's next frame; pings on the way are answered [6.57]."""
        message, final = b"", False
        while not final:
            first, size = self.input.read(2) or expect("the connection", "lost", "open")
            if size > 125:
                size = int.from_bytes(self.input.read(2 if size == 126 else 8), "big")
            data, opcode = self.input.read(size), first & 15
            if opcode == CLOSE:
                raise SystemExit(f"closed by the broker: {int.from_bytes(data[:2], 'big')} {data[2:].decode()}")
            if opcode == PING:
                self.send(PONG, data)
            if opcode <= TEXT:
                message, final = message + data, first & 128
        return json.loads(message)

    def ask(self, kind, **fields):
        """Sends a request and returns its reply, which has its id; what has none is a push [6.1]."""
        self.requests += 1
        request = {"type": kind, "id": str(self.requests), **fields}
        self.send(TEXT, json.dumps(request).encode())
        while (reply := self.next()).get("id") != request["id"]:
            self.pushes.append(reply)
        if reply["type"] == "refusal":
            raise SystemExit(f"{kind} was refused: {reply}")
        return reply

    def push(self):
        return self.pushes.pop(0) if self.pushes else self.next()


def digest(row):
    """The status digest [2.5]. A row has strings, integers and booleans only: its RFC 8785 form is this JSON."""
    canonical = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def expect(what, actual, wanted):
    if actual != wanted:
        raise SystemExit(f"{what}: {actual}, not {wanted}")


channel = Channel(os.environ["A2ACHAN_URL"], os.environ["A2ACHAN_TOKEN"])
welcome = channel.ask("hello", role="worker", worker_id="snake")
expect("the protocol", welcome["protocol"], "a2achan/1")
plan = {"summary": "rewrite the “tokenizer”\n\tand its \"tests\"", "reflects": []}
answer = channel.ask("status", issue="2162", lane="src/parser", next_action=plan)
row = {"schema": "a2achan.worker-status.v1", "worker_id": "snake", "issue": "2162", "lane": "src/parser",
       "live": True, "seq": answer["row"]["seq"], "next_action": plan}
expect("the row's digest", answer["status_digest"], digest(row))
print("published", digest(row), flush=True)

correction = channel.push()["correction"]
identity, cited = correction["correction_id"], correction["status_digest"]
expect("what it cites", cited, digest(row))
expect("its receipt", channel.ask("receive", correction_id=identity)["stage"], "DELIVERED")
print("told:", correction["message"], flush=True)
plan = {"summary": "fix the off-by-one", "reflects": [identity]}
answer = channel.ask("ack", correction_id=identity, status_digest=cited, next_action=plan)
expect("its end", answer["stage"], "WITNESSED")
expect("the new digest", answer["status_digest"], digest({**row, "seq": answer["seq"], "next_action": plan}))
print(answer["stage"], flush=True)
channel.ask("bye", outcome="completed")
