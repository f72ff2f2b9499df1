import { Counter, Gauge, Registry } from "prom-client";

export type BackupMetrics = ReturnType<typeof createBackupMetrics>;

/** What the alerts about backups look at. Times are Unix seconds; 0: never. */
export function createBackupMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `tollgate_backup_${name}`, help, registers });
  const counter = (name: string, help: string) =>
    new Counter({ name: `tollgate_backup_${name}`, help, registers });
  return {
    registry,
    lastSuccess: gauge("last_success_timestamp_seconds", "When the newest backup was begun"),
    every: gauge("every_seconds", "How often a backup is taken"),
    duration: gauge("last_duration_seconds", "How long the newest backup took that this process has taken"),
    bytes: gauge("last_bytes", "The size of the newest backup"),
    failures: counter("failures_total", "Backups that could not be taken"),
    walFailures: counter("wal_failures_total", "Looks at PostgreSQL's log that failed"),
    walShipped: counter(
      "wal_shipped_files_total",
      "Files of PostgreSQL's log that were encrypted into the archive",
    ),
    walWaitingSeconds: gauge(
      "wal_waiting_seconds",
      "How long the oldest file of PostgreSQL's log waits to be archived",
    ),
    walArchiving: gauge(
      "wal_archiving",
      "1: PostgreSQL hands its log over; 0: it does not, its archive_command fails, or it does not answer",
    ),
  };
}
