import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { monitoring } from './rule-file.ts';

/** Grafana's names of our units: seconds, bytes, and rates. */
const unit = z.enum(['none', 'short', 's', 'bytes', 'Bps', 'ops', 'reqps', 'wps', 'cps']);

/** The selected data source. */
const datasource = z.strictObject({ type: z.literal('prometheus'), uid: z.literal('${datasource}') });

const common = {
  id: z.int().positive(),
  title: z.string().min(1),
  gridPos: z.strictObject({
    h: z.int().positive(),
    w: z.int().min(1).max(24),
    x: z.int().min(0).max(23),
    y: z.int().min(0),
  }),
};

const row = z.strictObject({ ...common, type: z.literal('row'), collapsed: z.literal(false), panels: z.tuple([]) });

const step = z.strictObject({ color: z.string(), value: z.number().nullable() });

const target = z.strictObject({
  refId: z.string().regex(/^[A-Z]$/),
  expr: z.string().min(1),
  legendFormat: z.string().optional(),
  instant: z.boolean().optional(),
  range: z.boolean().optional(),
  format: z.enum(['table', 'time_series']).optional(),
});

const chart = z.strictObject({
  ...common,
  type: z.enum(['stat', 'timeseries', 'table']),
  description: z.string().min(1),
  datasource,
  targets: z.array(target).min(1),
  fieldConfig: z.strictObject({
    defaults: z.strictObject({
      unit,
      decimals: z.int().optional(),
      min: z.number().optional(),
      thresholds: z.strictObject({ mode: z.literal('absolute'), steps: z.array(step).min(1) }).optional(),
      mappings: z.array(z.unknown()).optional(),
      custom: z.record(z.string(), z.unknown()).optional(),
    }),
    overrides: z.tuple([]),
  }),
  options: z.record(z.string(), z.unknown()),
  transformations: z
    .array(z.strictObject({ id: z.literal('organize'), options: z.record(z.string(), z.unknown()) }))
    .optional(),
});

const variable = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('datasource'),
    name: z.literal('datasource'),
    label: z.string(),
    query: z.literal('prometheus'),
    refresh: z.int(),
    hide: z.int(),
  }),
  z.strictObject({
    type: z.literal('query'),
    name: z.string(),
    label: z.string(),
    datasource,
    query: z.strictObject({ refId: z.literal('StandardVariableQuery'), query: z.string() }),
    definition: z.string(),
    refresh: z.int(),
    sort: z.int(),
    multi: z.boolean(),
    includeAll: z.boolean(),
    allValue: z.string(),
    current: z.strictObject({ text: z.tuple([z.literal('All')]), value: z.tuple([z.literal('$__all')]) }),
    hide: z.int(),
  }),
]);

/** The fields of Grafana's dashboard model (schema version 39, Grafana 11) that we use. Grafana ignores a misspelt field. */
const dashboard = z.strictObject({
  uid: z.string(),
  title: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  schemaVersion: z.literal(39),
  version: z.int(),
  editable: z.boolean(),
  graphTooltip: z.int(),
  refresh: z.string(),
  timezone: z.string(),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  links: z.array(z.record(z.string(), z.unknown())),
  annotations: z.strictObject({ list: z.tuple([]) }),
  templating: z.strictObject({ list: z.array(variable) }),
  panels: z.array(z.discriminatedUnion('type', [row, chart])),
});

export type Dashboard = z.infer<typeof dashboard>;
export type Chart = z.infer<typeof chart>;

/** All dashboards, by file name. @throws {z.ZodError} for a field that isn't in the schema */
export function readDashboards(): readonly { readonly file: string; readonly dashboard: Dashboard }[] {
  const folder = join(monitoring, 'dashboards');
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.map((file) => ({
    file,
    dashboard: dashboard.parse(JSON.parse(readFileSync(join(folder, file), 'utf8'))),
  }));
}

/** All panels except rows. */
export const chartsOf = ({ panels }: Dashboard): readonly Chart[] => panels.filter((panel) => panel.type !== 'row');

/** A query as Prometheus receives it, except for variables in strings. */
export const queryOf = (expr: string): string => expr.replaceAll('$__rate_interval', '5m');
