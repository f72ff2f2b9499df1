// Buys an API key without a browser: signs in with a wallet, orders a key, pays it in one transaction, and prints it.
//
//   PRIVATE_KEY=0x… node docs/examples/buy-a-key.js [monthly|quarterly|yearly] [name] > key.env
//
// API is the public API, RPC takes transactions: a wallet proxy, which adds the key of a gateway.
import { JsonRpcProvider, Wallet } from "ethers";

const { API = "http://127.0.0.1:4000", RPC = "http://127.0.0.1:8541", PRIVATE_KEY = "" } = process.env;
const [, , packageName = "monthly", label = ""] = process.argv;
const askAgainMs = 1000;

const provider = new JsonRpcProvider(RPC, undefined, { staticNetwork: true });
const wallet = new Wallet(PRIVATE_KEY, provider);
try {
  const token = await signIn();
  say(`signed in as ${wallet.address}`);
  const { order } = await ask("keys", { token, body: { package: packageName, label }, expects: 402 });
  say(`order ${order.id}: ${order.amount} ${order.token.symbol}, of which ${order.burnedWei} wei are burned`);
  const { to, value, data } = order.transaction;
  const sent = await wallet.sendTransaction({ to, value, data });
  say(`paid by ${sent.hash}`);
  const key = await takeKey(token, { orderId: order.id, txHash: sent.hash });
  say(`key ${key.hint}, valid until ${key.expiresAt}`);
  process.stdout.write(`SVC_DEV_KEY=${key.secret}\n`);
} finally {
  provider.destroy();
}

/** A message of EIP-4361, signed; the token opens what is the wallet's. */
async function signIn() {
  const given = await ask("session/nonce", { body: {}, expects: 200 });
  const message = [
    `${given.domain} wants you to sign in with your Ethereum account:`,
    wallet.address,
    "",
    given.statement,
    "",
    `URI: ${given.uri}`,
    "Version: 1",
    `Chain ID: ${given.chainId}`,
    `Nonce: ${given.nonce}`,
    `Issued At: ${given.issuedAt}`,
    `Expiration Time: ${given.expirationTime}`,
  ].join("\n");
  const signature = await wallet.signMessage(message);
  const { token } = await ask("session", { body: { message, signature }, expects: 201 });
  return token;
}

/** The key, as soon as the payment is booked: until then the answer is 402, with Retry-After. */
async function takeKey(token, body) {
  for (;;) {
    const { response, record } = await post("keys", { token, body });
    if (response.status === 201) return record.key;
    // Without Retry-After it is no use to ask again: the detail says why.
    if (response.headers.get("Retry-After") === null) throw new Error(record.detail);
    say(record.detail);
    await new Promise((resolve) => setTimeout(resolve, askAgainMs));
  }
}

/** Throws what the server says where it answers otherwise than expected. */
async function ask(path, { token, body, expects }) {
  const { response, record } = await post(path, { token, body });
  if (response.status !== expects) throw new Error(`${response.status} ${record.code}: ${record.detail}`);
  return record;
}

async function post(path, { token, body }) {
  const response = await fetch(`${API}/api/v1/svc-dev/${path}`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  return { response, record: await response.json() };
}

/** Progress; the key alone goes to standard output. */
function say(text) {
  process.stderr.write(`${text}\n`);
}
