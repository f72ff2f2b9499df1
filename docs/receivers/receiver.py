"""Receives webhooks, with Python's standard library alone (3.9 or newer):

    WEBHOOK_SECRET=whsec_... PORT=3000 python3 receiver.py

While the secret is changed, both can be given, with a comma in between.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import threading
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_BYTES_MAX = 262_144
TOLERANCE_SECONDS = 300
IDS_MAX = 10_000

SECRETS = os.environ.get("WEBHOOK_SECRET", "").split(",")
for secret in SECRETS:
    if not re.fullmatch(r"whsec_[0-9A-Za-z+/]{43}=", secret):
        raise SystemExit("WEBHOOK_SECRET: whsec_... was expected")

# Ids of the events that were taken. In earnest this is a column of your database, unique.
taken = OrderedDict()
taking = threading.Lock()


def take(event):
    """Yours: write it down and return; what takes long is done after the answer. Where this raises, the event comes again."""
    print(event["type"], event["sequence"], event["id"], flush=True)


def has_standard_signature(headers, body):
    """Standard Webhooks: HMAC-SHA256 of "id.timestamp.body", keyed with the bytes that the secret's base64 stands for."""
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if event_id == "" or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    # While the secret is changed there are two signatures.
    given = headers.get("webhook-signature", "").split(" ")
    signed = f"{event_id}.{timestamp}.".encode() + body
    for secret in SECRETS:
        key = base64.b64decode(secret[len("whsec_") :])
        expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        if any(is_same(signature, expected) for signature in given):
            return True
    return False


def has_plain_signature(headers, body):
    """X-Svc-Signature: HMAC-SHA256 of the body, keyed with the secret's whole text. The new secret's is in a field of its own."""
    given = [headers.get("x-svc-signature", ""), headers.get("x-svc-signature-next", "")]
    for secret in SECRETS:
        expected = "sha256=" + hmac.digest(secret.encode(), body, hashlib.sha256).hex()
        if any(is_same(signature, expected) for signature in given):
            return True
    return False


def is_same(given, expected):
    """In a time that does not tell where they differ."""
    return hmac.compare_digest(given.encode(), expected.encode())


class Receiver(BaseHTTPRequestHandler):
    timeout = 15  # seconds for a client to send the next bytes

    def do_POST(self):
        self.send_response(self.receive())
        self.send_header("Content-Length", "0")
        self.end_headers()

    def receive(self):
        """The status of the answer. All but 2xx brings the event again."""
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,9}", length):
            return 411
        if int(length) > BODY_BYTES_MAX:
            return 413
        # The bytes as they came: JSON that was read and written again has another signature.
        body = self.rfile.read(int(length))
        # Either of the two is enough; the first one also refuses what somebody recorded and sends again later.
        if not has_standard_signature(self.headers, body):
            return 401
        if not has_plain_signature(self.headers, body):
            return 401
        event_id = self.headers["webhook-id"]
        with taking:
            # An event can come more than once.
            if event_id in taken:
                return 204
            try:
                take(json.loads(body))
            except Exception:
                return 500
            taken[event_id] = True
            if len(taken) > IDS_MAX:
                taken.popitem(last=False)
        return 204

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
