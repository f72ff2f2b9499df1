import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { runGenesis } from "../../../genesis/run-genesis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { makeNetwork } from "../network/rig.ts";
import { backupHere } from "./support/backup-here.ts";

/* npm run backup: one validator's data, from a network of stand-ins for Besu that goes on meanwhile. */

t.setTimeout(180_000);

const besuKey = "a key that Besu has made itself";
const chainFile = "stand-in-chain.jsonl";

t.test("one validator's data is taken while the others go on, and restored into another one", async (t) => {
  const made = await makeNetwork(t);
  const { folder, parent, configFile, env, network, statusWhen, pidOf } = made;
  const dataOf = (number: number) => join(folder, `native/validator-${number}/data`);
  const options = ["--native", "--network-config", configFile];
  let opened = 0;
  const open = (more: Record<string, string> = {}, signal = new AbortController().signal) => {
    opened += 1;
    const given = { ...env, BACKUP_NETWORK_FOLDER: folder, ...more };
    return backupHere(t, given, { folder: join(parent, `backups-${opened}`), signal });
  };
  const here = await open();
  const take = (number: number, by = here) =>
    by.backup("take", "--only", "validator", "--validator", String(number), ...options);
  const restore = (number: number, by = here) =>
    by.backup("restore", "latest", "validator", "--validator", String(number), ...options);
  const allFine = () => statusWhen(({ verdict, present }) => verdict === "fine" && present === 5);
  const chainOf = (number: number) =>
    readFileSync(join(dataOf(number), chainFile), "utf8")
      .trim()
      .split("\n");
  const file = () => {
    const [id = ""] = readdirSync(here.to);
    return join(here.to, id, "validator.tar.zst.age");
  };

  t.equal((await network("up")).code, 0);
  await statusWhen(({ verdict, height }) => verdict === "fine" && (height ?? 0) >= 3);
  writeFileSync(join(dataOf(3), "key"), besuKey);

  await t.test("the others go on while it is taken, and it is back in step afterwards", async (t) => {
    const [before, pid] = [(await made.status()).height ?? 0, pidOf(3)];
    const taken = await take(3);
    t.match(taken, { code: 0, out: /is in .*backups\./ }, taken.err);
    t.match(
      taken.err,
      /validator-3 is stopped, at block \d+\.[\s\S]*validator: .* encrypted[\s\S]*is started again\.\nvalidator-3 is in step again, at block \d+/,
    );
    t.not(pidOf(3), pid);
    const after = await allFine();
    t.ok((after.height ?? 0) > before, "the chain went on");
    t.notMatch(readFileSync(file(), "latin1"), /stand-in-chain/);
    t.match(await here.backup("verify"), {
      code: 0,
      out: /validator +whole +\d+ files of validator-3, at block/,
    });
  });

  await t.test(
    "without it there would be no quorum, so it is not stopped while another one is down",
    async (t) => {
      t.equal((await network("stop", "4")).code, 0);
      await statusWhen(({ present }) => present === 4);
      const pid = pidOf(3);
      t.match(await take(3), {
        code: 1,
        err: /Not now: validator-4 is down.*a backup of a validator's data takes one more away.*4 of 5/s,
      });
      t.equal(pidOf(3), pid);
      t.equal(readdirSync(here.to).length, 1);
    },
  );

  await t.test("what must not be restored is refused, and nothing is touched", async (t) => {
    t.match(await restore(2), { code: 1, err: /validator-2 runs\..*network -- stop 2 --native/ });
    t.match(await restore(4), { code: 1, err: /is not empty[\s\S]*network -- wipe 4 --native/ });
    t.ok(chainOf(4).length > 1, "its own chain is as it was");
    t.equal((await network("wipe", "4")).code, 0);
    const refused = async (t: Test, by: Promise<unknown>, why: object) => {
      t.match(await by, why);
      t.notOk(existsSync(dataOf(4)));
    };
    const whole = readFileSync(file());
    truncateSync(file(), whole.length - 100);
    await refused(t, restore(4), { code: 1, err: /it was cut off: \d+ of \d+ bytes/ });
    writeFileSync(file(), whole);

    const other = join(parent, "other");
    const args = ["init", "--config", configFile, "--out", other];
    const quiet = { now: () => new Date(), print: () => {}, note: () => {} };
    t.equal(await runGenesis({ args, env, ...quiet }), 0);
    const elsewhere = await open({
      BACKUP_NETWORK_FOLDER: other,
      BACKUP_TO: here.to,
      BACKUP_KEYS: here.keys,
    });
    const anotherNetwork = { code: 1, err: /of another network: its genesis block is 0x/ };
    t.match(await restore(4, elsewhere), anotherNetwork);
    t.notOk(existsSync(join(other, "native/validator-4/data")));
    const into = join(parent, "into");
    const plain = ["restore", "latest", "validator", "--into", into];
    t.match(await elsewhere.backup(...plain), anotherNetwork);
    const nowhere = await open({ BACKUP_NETWORK_FOLDER: "", BACKUP_TO: here.to, BACKUP_KEYS: here.keys });
    t.match(await nowhere.backup(...plain), { code: 2, err: /--genesis-hash 0xHASH/ });
    t.match(await here.backup(...plain, "--validator", "4"), { code: 2, err: /do not go together/ });
    t.match(await here.backup("restore", "latest", "validator"), {
      code: 2,
      err: /--validator N, or --into/,
    });
    t.match(await here.backup("take", "--only", "validator"), { code: 2, err: /Which validator is missing/ });
    t.match(await here.backup("take", "--native"), { code: 2, err: /--validator N is missing/ });
    t.match(await take(9), { code: 2, err: /There is no validator 9/ });
    t.notOk(existsSync(into));
  });

  await t.test("a wiped one begins where the backup ends, without the other one's key", async (t) => {
    const restored = await restore(4);
    t.match(
      restored,
      { code: 0, out: /The data of validator-3, at block \d+, .* is in validator-4's data/ },
      restored.err,
    );
    t.match(restored.err, /of Besu 26\.8\.0.*network -- start 4 --native/s);
    const height = Number(/at block (\d+)/.exec(restored.out)?.[1]);
    t.ok(chainOf(4).length >= height, "it has the blocks before it is started");
    t.notOk(readdirSync(dataOf(4)).includes("key"));
    t.equal((await network("start", "4")).code, 0);
    const after = await allFine();
    t.ok(after.validators.every(({ lag }) => (lag ?? 9) <= 1));
  });

  await t.test("it is started again where the backup fails, and there is no backup", async (t) => {
    const stopping = new AbortController();
    const interrupted = await open({}, stopping.signal);
    // Enough to be in the midst of it.
    const large = join(dataOf(2), "large");
    writeFileSync(large, randomBytes(64 * 2 ** 20));
    const taking = take(2, interrupted);
    await waitFor("it is stopped", () => pidOf(2) === undefined, { everyMs: 5 });
    stopping.abort();
    t.match(await taking, { code: 1, err: /validator-2 is started again/ });
    t.same(existsSync(interrupted.to) ? readdirSync(interrupted.to) : [], []);
    rmSync(large);
    await allFine();
  });

  await t.test("a backup is whole also where the validator does not come back, which is said", async (t) => {
    rmSync(here.to, { recursive: true });
    const broken = await open({
      BESU_HOME: join(parent, "nowhere"),
      BACKUP_TO: here.to,
      BACKUP_KEYS: here.keys,
    });
    t.match(await take(5, broken), {
      code: 1,
      err: /The backup \d+T\d+ is whole, but validator-5 could not be started again: [\s\S]*network -- start 5 --native/,
    });
    t.match(await here.backup("verify"), { code: 0 });
    // One that is down is taken as it is, and stays down.
    t.match(await take(5), { code: 0, err: /^validator: / });
    t.equal(pidOf(5), undefined);
  });
});
