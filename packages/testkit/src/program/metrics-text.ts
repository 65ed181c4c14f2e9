/** Labels of a series. */
export type Labels = Readonly<Record<string, string>>;

/** The value of the series with this name and exactly these labels, in Prometheus' text format. */
export function seriesValue(text: string, name: string, labels: Labels): number | undefined {
  for (const line of text.split('\n')) {
    const [, series, braces = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (series === name && isSame(labelsOf(braces), labels)) return Number(value);
  }
  return undefined;
}

function labelsOf(braces: string): Labels {
  return Object.fromEntries(
    [...braces.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]),
  );
}

function isSame(a: Labels, b: Labels): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
