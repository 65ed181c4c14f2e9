/** A label of a metric. */
type LabelSpec = {
  /** Its values, for the reference page. */
  readonly help?: string;
  /** All possible values. */
  readonly values?: readonly string[];
};

/** One metric, as data for the reference page, too. */
export type MetricSpec = {
  /** The full name, prefix included. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** One sentence, exported as the metric's HELP. */
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelSpec>>;
  /** Upper bounds of a histogram's buckets, in the metric's unit, ascending. */
  readonly buckets?: readonly number[];
};

/** The metrics of an app, under the keys that its code uses. */
export type MetricTable = Readonly<Record<string, MetricSpec>>;

/** The names of a metric's labels. */
export type LabelOf<Spec extends MetricSpec> = keyof Spec['labels'] & string;

/**
 * Metrics as a markdown list, in order: name, type and labels in parentheses, meaning. Labels that several metrics share
 * are explained in a list above. Ends in a line break.
 */
export function metricsReference(metrics: readonly MetricSpec[]): string {
  const labels = metrics.flatMap((metric) =>
    Object.entries(metric.labels).map(([name, spec]) => explained(name, spec)),
  );
  const shared = [...new Set(labels.filter((text, i) => text.includes(': ') && labels.indexOf(text) !== i))];
  const lines = metrics.map(({ name, type, labels: own, help }) => {
    const parts = Object.entries(own).map(([label, spec]) => {
      const text = explained(label, spec);
      return shared.includes(text) ? `\`${label}\`` : text;
    });
    return `- \`${name}\` (${[type, ...parts].join('; ')}): ${help}\n`;
  });
  const list = shared.length === 0 ? '' : `Labels:\n\n${shared.map((text) => `- ${text}\n`).join('')}\nMetrics:\n\n`;
  return list + lines.join('');
}

function explained(name: string, { help, values }: LabelSpec): string {
  const meaning = help ?? values?.map((value) => `\`${value}\``).join(', ');
  return meaning === undefined ? `\`${name}\`` : `\`${name}\`: ${meaning}`;
}
