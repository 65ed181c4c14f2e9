import { Counter as PromCounter, Gauge as PromGauge, Histogram as PromHistogram, Registry } from 'prom-client';
import type { LabelOf, MetricSpec, MetricTable } from './metric-table.ts';

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** A number that only grows. Its name ends in `_total`. */
interface Counter<Label extends string> {
  inc(labels: Labels<Label>, by?: number): void;
}

/** A present number. */
interface Gauge<Label extends string> {
  set(labels: Labels<Label>, value: number): void;
  /** Removes one series, which would otherwise keep its last value. */
  remove(labels: Labels<Label>): void;
  /** Removes every series. */
  reset(): void;
}

/** A distribution, in buckets. */
interface Histogram<Label extends string> {
  observe(labels: Labels<Label>, value: number): void;
}

type InstrumentOf<Spec extends MetricSpec> = Spec['type'] extends 'counter'
  ? Counter<LabelOf<Spec>>
  : Spec['type'] extends 'gauge'
    ? Gauge<LabelOf<Spec>>
    : Histogram<LabelOf<Spec>>;

/** One instrument per row of a table, under the same keys. */
export type Instruments<Table extends MetricTable> = { readonly [Key in keyof Table]: InstrumentOf<Table[Key]> };

/** Label values that are known before they are used: `{ remote: ['c2'] }`. */
type KnownLabels = Readonly<Record<string, readonly string[]>>;

/** Series of label values that come and go. */
export type Series = {
  /** Starts the counters and histograms with these values at zero. */
  begin(known: KnownLabels): void;
  /** Ends all series with one of these values: they would stay as they are for ever. */
  end(gone: KnownLabels): Promise<void>;
};

/**
 * Registers the metrics of a table. Counters and histograms whose label values are all known start at zero: the `rate()`
 * of a series that begins with its first failure never shows that failure.
 *
 * @param known label values besides those of the table
 */
export function createMetrics<const Table extends MetricTable>(
  table: Table,
  known: KnownLabels = {},
): { readonly metrics: Instruments<Table>; readonly registry: Registry; readonly series: Series } {
  const registry = new Registry();
  const metrics: Record<string, unknown> = Object.fromEntries(
    Object.entries(table).map(([key, spec]) => [key, createInstrument(spec, registry)]),
  );
  for (const [key, spec] of Object.entries(table)) startAtZero(metrics[key], spec, known);
  const series: Series = {
    begin: (coming) => {
      for (const [key, spec] of Object.entries(table))
        if (Object.keys(coming).some((label) => label in spec.labels)) startAtZero(metrics[key], spec, coming);
    },
    end: (gone) => endSeries(registry, gone),
  };
  // `createInstrument` makes what `InstrumentOf` says for each row; the compiler can't follow it through the entries.
  return { metrics: metrics as Instruments<Table>, registry, series };
}

/** Lines of the exposition format by the name of their metric, which the registry has without lines. */
export type Samples = ReadonlyMap<string, string>;

/** One sample, with its labels in that order. */
export function sampleLine(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(
    ([label, text]) => `${label}="${text.replaceAll(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`))}"`,
  );
  return `${name}{${pairs.join(',')}} ${value}\n`;
}

/**
 * Lets the app observe before each scrape, for metrics without events. Thousands of samples that change each time are
 * written from the observation, and not kept until the next.
 *
 * @param observe sets the metrics that are kept, and returns the other samples; must not reject
 */
export function beforeScrape(registry: Registry, observe: () => Promise<Samples>): void {
  const read = registry.metrics.bind(registry);
  registry.metrics = async () => {
    const samples = await observe();
    const text = await read();
    return text.replaceAll(/^# TYPE (\S+) .*\n/gm, (line, name: string) => line + (samples.get(name) ?? ''));
  };
}

function createInstrument(spec: MetricSpec, registry: Registry) {
  const common = { name: spec.name, help: spec.help, labelNames: Object.keys(spec.labels), registers: [registry] };
  if (spec.type === 'gauge') return new PromGauge(common);
  if (spec.type === 'counter') return new PromCounter(common);
  return new PromHistogram({ ...common, ...(spec.buckets && { buckets: [...spec.buckets] }) });
}

function startAtZero(metric: unknown, spec: MetricSpec, known: KnownLabels): void {
  for (const labels of spec.type === 'gauge' ? [] : knownSeries(spec, known)) {
    if (metric instanceof PromCounter) metric.inc(labels, 0);
    else if (metric instanceof PromHistogram) metric.zero(labels);
  }
}

async function endSeries(registry: Registry, gone: KnownLabels): Promise<void> {
  for (const metric of registry.getMetricsAsArray() as unknown as readonly Removable[]) {
    const { values } = await metric.get();
    for (const { labels } of values) {
      const isGone = Object.entries(gone).some(([label, texts]) => texts.includes(labels[label] ?? ''));
      // A bucket is no series of its own.
      const own = Object.entries(labels).filter(([label]) => label !== 'le');
      if (isGone) metric.remove(Object.fromEntries(own));
    }
  }
}

/** What a metric of prom-client can do, whatever its type. */
type Removable = {
  get(): Promise<{ readonly values: readonly { readonly labels: Readonly<Record<string, string>> }[] }>;
  remove(labels: Readonly<Record<string, string>>): void;
};

/** Every combination of the known label values; none if the values of a label aren't known. */
function knownSeries(spec: MetricSpec, known: KnownLabels): Record<string, string>[] {
  return Object.entries(spec.labels).reduce<Record<string, string>[]>(
    (series, [label, { values = known[label] ?? [] }]) =>
      series.flatMap((labels) => values.map((value) => ({ ...labels, [label]: value }))),
    [{}],
  );
}
