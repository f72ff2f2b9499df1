from web3 import Web3
from web3.middleware import ExtraDataToPOAMiddleware


def connect(url, key):
    # `headers` replaces the library's own, so the content type has to be named as well.
    headers = {"Content-Type": "application/json", "X-API-Key": key}
    w3 = Web3(Web3.HTTPProvider(url, request_kwargs={"headers": headers}))
    # Blocks of IBFT carry the validators' seals in extraData, which web3.py refuses unless told.
    w3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
    return w3
