import { randomInt } from "node:crypto";
import fc from "fast-check";
import t from "tap";

/**
 * Imported for its effect: all properties of a file run from one seed, which the file's output has first. fast-check itself
 * tells its seed only where a property throws, and tap's assertions do not throw.
 */
const seed = Number(process.env["PROPERTY_SEED"] ?? randomInt(2 ** 31));
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
t.comment(`PROPERTY_SEED=${seed}`);
