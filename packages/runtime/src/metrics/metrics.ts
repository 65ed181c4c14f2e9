import { Counter as PromCounter, Gauge as PromGauge, Histogram as PromHistogram, Registry } from 'prom-client';
import type { LabelOf, MetricSpec, MetricTable } from './metric-table.ts';

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** A number that only grows. Names that end in `_total`. */
interface Counter<Label extends string> {
  inc(labels: Labels<Label>, by?: number): void;
}

/** A number of now. */
interface Gauge<Label extends string> {
  set(labels: Labels<Label>, value: number): void;
  /** Forgets one series, so that what is gone isn't exported at its last value. */
  remove(labels: Labels<Label>): void;
  /** Forgets every series. */
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

/** Label values that the config knows before anything happens: `{ remote: ['c2'] }`. */
type KnownLabels = Readonly<Record<string, readonly string[]>>;

/**
 * Registers the metrics of a table. Counters and histograms whose labels are all known, by the table or by `known`,
 * start at zero: a `rate()` over a series that begins with its first failure never sees that failure.
 */
export function createMetrics<const Table extends MetricTable>(
  table: Table,
  known: KnownLabels = {},
): { readonly metrics: Instruments<Table>; readonly registry: Registry } {
  const registry = new Registry();
  const metrics: Record<string, unknown> = Object.fromEntries(
    Object.entries(table).map(([key, spec]) => [key, createInstrument(spec, { registry, known })]),
  );
  // Row by row, `createInstrument` makes what `InstrumentOf` says; the compiler can't follow it through the entries.
  return { metrics: metrics as Instruments<Table>, registry };
}

/** Lines of the exposition format by the name of their metric, which is in the registry and has no other. */
export type Samples = ReadonlyMap<string, string>;

/** One sample. `labels` in the order in which they are written. */
export function sampleLine(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(
    ([label, text]) => `${label}="${text.replaceAll(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`))}"`,
  );
  return `${name}{${pairs.join(',')}} ${value}\n`;
}

/**
 * Lets the app look before each scrape, for what only a look can tell. Samples that are thousands and change each time are
 * written from what was seen, and not kept in between.
 *
 * @param look sets the metrics that it keeps, and returns the others; must not reject
 */
export function beforeScrape(registry: Registry, look: () => Promise<Samples>): void {
  const read = registry.metrics.bind(registry);
  registry.metrics = async () => {
    const samples = await look();
    const text = await read();
    return text.replaceAll(/^# TYPE (\S+) .*\n/gm, (line, name: string) => line + (samples.get(name) ?? ''));
  };
}

function createInstrument(spec: MetricSpec, { registry, known }: { registry: Registry; known: KnownLabels }) {
  const common = { name: spec.name, help: spec.help, labelNames: Object.keys(spec.labels), registers: [registry] };
  if (spec.type === 'gauge') return new PromGauge(common);
  const start = knownSeries(spec, known);
  if (spec.type === 'counter') {
    const counter = new PromCounter(common);
    for (const labels of start) counter.inc(labels, 0);
    return counter;
  }
  const histogram = new PromHistogram({ ...common, ...(spec.buckets && { buckets: [...spec.buckets] }) });
  for (const labels of start) histogram.zero(labels);
  return histogram;
}

/** Every combination of the known label values; none if a label's values aren't known. */
function knownSeries(spec: MetricSpec, known: KnownLabels): Record<string, string>[] {
  return Object.entries(spec.labels).reduce<Record<string, string>[]>(
    (series, [label, { values = known[label] ?? [] }]) =>
      series.flatMap((labels) => values.map((value) => ({ ...labels, [label]: value }))),
    [{}],
  );
}
