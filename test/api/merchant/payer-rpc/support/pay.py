"""Pays through an RPC with web3.py: its address, a private key, a receiver, wei and data. Prints the receipt's status."""

import sys

from web3 import Web3
from web3.middleware import ExtraDataToPOAMiddleware, SignAndSendRawMiddlewareBuilder

url, key, to, value, data = sys.argv[1:]
w3 = Web3(Web3.HTTPProvider(url))
# Blocks of IBFT carry the validators' seals in extraData, which web3.py refuses unless told.
w3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
assert w3.is_connected(show_traceback=True)
assert w3.eth.chain_id == 8845
account = w3.eth.account.from_key(key)
w3.middleware_onion.inject(SignAndSendRawMiddlewareBuilder.build(account), layer=0)
sent = w3.eth.send_transaction({"from": account.address, "to": Web3.to_checksum_address(to), "value": int(value), "data": data})
print(w3.eth.wait_for_transaction_receipt(sent, timeout=20, poll_latency=0.1)["status"])
