const eighths = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const columnsMax = 60;
const columnsEachMax = 6;
const chartRows = 5;

/**
 * A column chart of block characters, with its highest value on the axis. Where there are more points than columns, each
 * column is the highest of its points, so that no peak is lost; where there are few, each takes several columns.
 */
export function terminalChart({
  title,
  values,
  show,
}: {
  title: string;
  values: readonly number[];
  show: (value: number) => string;
}): string[] {
  const columns = fold(values);
  const highest = Math.max(...columns);
  if (!(highest > 0)) return [];
  const top = show(highest);
  const rows = Array.from({ length: chartRows }, (_, index) => {
    const floor = chartRows - 1 - index;
    const cells = columns.map((value) => {
      const filled = Math.round((value / highest) * chartRows * 8) - floor * 8;
      return eighths[Math.min(8, Math.max(0, filled))] ?? " ";
    });
    const label = index === 0 ? top : index === chartRows - 1 ? "0" : "";
    return `  ${label.padStart(top.length)} │${cells.join("")}`;
  });
  return [title, ...rows];
}

function fold(values: readonly number[]): number[] {
  if (values.length <= columnsMax) {
    const columnsEach = Math.max(1, Math.min(columnsEachMax, Math.floor(columnsMax / values.length)));
    return values.flatMap((value) => Array.from({ length: columnsEach }, () => value));
  }
  return Array.from({ length: columnsMax }, (_, column) => {
    const from = Math.floor((column * values.length) / columnsMax);
    const to = Math.floor(((column + 1) * values.length) / columnsMax);
    return Math.max(...values.slice(from, to));
  });
}
