import { TypeOverrides } from "pg";

const oids = { date: 1082, dateArray: 1182 } as const;

/**
 * How values come from the server where node-postgres's own way is wrong for us: a `date` would become midnight of the
 * machine's own time zone.
 */
export const valueTypes = new TypeOverrides();
valueTypes.setTypeParser(oids.date, (text) => text);
valueTypes.setTypeParser(oids.dateArray, (text) => text);
