import { describeThreshold } from "./describe-settings.ts";
import type { Report } from "./report.ts";

/** XML 1.0 has no place for other control characters, not even escaped. */
const notInXml = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/**
 * The report as CI servers read it: a suite with one test case for the run itself and one for each threshold. All
 * attributes that the two schemas in use ask for (Ant's and that of Jenkins) are there, and none that either refuses.
 */
export function junitReport(report: Report): string {
  const { startedAt, durationMs, thresholds, endedBy, settings, notes, calls, rates } = report;
  const seconds = (durationMs / 1000).toFixed(3);
  const failures = thresholds.filter(({ passed }) => !passed).length;
  const isCutShort = endedBy !== null && endedBy !== "threshold";
  const suite = attributes({
    id: "0",
    package: "tollgate",
    name: "load",
    // Ant's schema takes a time without a zone; it is UTC.
    timestamp: startedAt.slice(0, 19),
    hostname: "localhost",
    tests: String(thresholds.length + 1),
    failures: String(failures),
    errors: isCutShort ? "1" : "0",
    time: seconds,
  });
  const properties = { gateway: settings.url, mix: settings.mixFile, seed: String(settings.seed) };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    `  <testsuite${suite}>`,
    "    <properties>",
    ...Object.entries(properties).map(([name, value]) => `      <property${attributes({ name, value })}/>`),
    "    </properties>",
    ...testCase("the run goes to its end", seconds, isCutShort ? { error: notes[0] ?? "ended early" } : {}),
    ...thresholds.flatMap((threshold) =>
      testCase(threshold.name, seconds, threshold.passed ? {} : { failure: describeThreshold(threshold) }),
    ),
    `    <system-out>${escapeXml(`${calls.total} calls, ${calls.failed} failed, ${rates.callsPerSecond.toFixed(1)}/s`)}</system-out>`,
    `    <system-err>${escapeXml(notes.join("\n"))}</system-err>`,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(
  name: string,
  time: string,
  { failure, error }: { failure?: string; error?: string },
): string[] {
  const open = `    <testcase${attributes({ classname: "tollgate.load", name, time })}`;
  const bad = failure ?? error;
  if (bad === undefined) return [`${open}/>`];
  const tag = failure === undefined ? "error" : "failure";
  const type = failure === undefined ? "run" : "threshold";
  return [
    `${open}>`,
    `      <${tag}${attributes({ message: bad, type })}>${escapeXml(bad)}</${tag}>`,
    "    </testcase>",
  ];
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
    .join("");
}

function escapeXml(text: string): string {
  return text.replace(notInXml, "�").replace(/[&<>"\t\n\r]/g, (sign) => entities[sign] ?? sign);
}

const entities: Readonly<Record<string, string>> = {
  ...{ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" },
  // As they stand, an attribute's value would have blanks in their place.
  ...{ "\t": "&#9;", "\n": "&#10;", "\r": "&#13;" },
};
