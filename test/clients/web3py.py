"""Does tasks through the gateway with web3.py: one a line of standard input, what came of it a line of standard output.

A task is JSON: {"do": "read" | "batch" | "request" | "work", "url", "key", "receiver", …}; see the functions.
"""

import importlib.util
import json
import pathlib
import sys
import traceback

from web3 import Web3
from web3.middleware import SignAndSendRawMiddlewareBuilder


def read(w3, task):
    return w3.eth.get_balance(task["receiver"])


def batch(w3, task):
    with w3.batch_requests() as requests:
        for _ in range(task["count"]):
            requests.add(w3.eth.get_balance(task["receiver"]))
        return requests.execute()


def request(w3, task):
    return w3.manager.request_blocking(task["method"], [])


def work(w3, task):
    """The accepting side: the test compares what it returns."""
    account = w3.eth.account.from_key(task["privateKey"])
    w3.middleware_onion.inject(SignAndSendRawMiddlewareBuilder.build(account), layer=0)
    sender = {"from": account.address}

    before = w3.eth.get_balance(task["receiver"])
    nonce = w3.eth.get_transaction_count(account.address)
    hashes = [
        w3.eth.send_transaction(
            {**sender, "to": task["receiver"], "value": Web3.to_wei(1 + index, "ether"), "nonce": nonce + index}
        )
        for index in range(2)
    ]
    statuses = [wait(w3, sent)["status"] for sent in hashes]
    received = w3.eth.get_balance(task["receiver"]) - before

    factory = w3.eth.contract(abi=task["abi"], bytecode=task["bytecode"])
    deployed = wait(w3, factory.constructor(5).transact(sender))
    tally = w3.eth.contract(address=deployed["contractAddress"], abi=task["abi"])
    first = tally.functions.value().call()
    gas = tally.functions["raise"](7).estimate_gas(sender)
    raised = wait(w3, tally.functions["raise"](7).transact(sender))
    logs = tally.events.Raised().get_logs(from_block=raised["blockNumber"], to_block=raised["blockNumber"])
    return {
        "chainId": w3.eth.chain_id,
        "statuses": statuses,
        "received": received,
        "nonces": w3.eth.get_transaction_count(account.address) - nonce,
        "values": [first, tally.functions.value().call()],
        "gas": gas,
        "logs": [dict(log["args"]) for log in logs],
        "tooMuch": reverting(lambda: tally.functions["raise"](101).call(sender), w3.codec),
        "refused": reverting(lambda: tally.functions.refuse().estimate_gas(sender)),
        "fees": w3.eth.fee_history(4, "latest", [50])["oldestBlock"],
    }


def wait(w3, sent):
    return w3.eth.wait_for_transaction_receipt(sent, timeout=20, poll_latency=0.1)


def reverting(call, codec=None):
    try:
        call()
    except Exception as error:
        told = {"class": type(error).__name__, "text": str(error)}
        if codec is not None:
            # The error's selector stands before its arguments.
            told["arguments"] = codec.decode(["uint256", "uint256"], bytes.fromhex(error.data[10:]))
        return told
    return None


def connect(task):
    if task.get("withoutContentType"):
        headers = {"X-API-Key": task["key"]}
        return Web3(Web3.HTTPProvider(task["url"], request_kwargs={"headers": headers}))
    example = pathlib.Path(__file__).parent / "examples" / "web3py.py"
    spec = importlib.util.spec_from_file_location("example", example)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    w3 = module.connect(task["url"], task["key"])
    if task.get("withoutRetries"):
        w3.provider.exception_retry_configuration = None
    return w3


def answer(task):
    tasks = {"read": read, "batch": batch, "request": request, "work": work}
    try:
        return {"result": tasks[task["do"]](connect(task), task)}
    except Exception as error:
        kind = type(error)
        response = getattr(error, "response", None)
        told = {
            "class": f"{kind.__module__}.{kind.__qualname__}",
            "message": str(error),
            "response": None if response is None else {"text": response.text},
            "traceback": traceback.format_exc(),
        }
        return {"error": told}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
