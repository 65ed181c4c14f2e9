import { describe, expect, it } from 'vitest';
import { metricsReference, type MetricTable } from './metric-table.ts';
import { beforeScrape, createMetrics, sampleLine } from './metrics.ts';
import { sharedMetrics } from './shared-metrics.ts';

const table = {
  writes: {
    name: 'app_writes_total',
    type: 'counter',
    help: 'Writes.',
    labels: { type: { values: ['create', 'delete'] }, success: { values: ['0', '1'] } },
  },
  restarts: { name: 'app_restarts_total', type: 'counter', help: 'Restarts.', labels: { remote: {} } },
  retries: { name: 'app_retries_total', type: 'counter', help: 'Retries.', labels: {} },
  up: { name: 'app_up', type: 'gauge', help: 'Up.', labels: { remote: { help: 'the remote' } } },
  took: { name: 'app_took_seconds', type: 'histogram', help: 'A|B.', labels: { remote: {} }, buckets: [1, 2] },
} as const satisfies MetricTable;

/** The series of an exposition, without HELP and TYPE. */
const series = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('createMetrics', () => {
  it('starts counters at zero whose label values the table knows', async () => {
    const { registry } = createMetrics(table);
    expect(series(await registry.metrics())).toEqual([
      'app_writes_total{type="create",success="0"} 0',
      'app_writes_total{type="create",success="1"} 0',
      'app_writes_total{type="delete",success="0"} 0',
      'app_writes_total{type="delete",success="1"} 0',
      'app_retries_total 0',
    ]);
  });

  it('starts counters and histograms at zero whose label values the config knows, and no gauges', async () => {
    const { registry } = createMetrics(table, { remote: ['c2'] });
    const text = await registry.metrics();
    expect(text).toContain('app_restarts_total{remote="c2"} 0');
    expect(text).toContain('app_took_seconds_bucket{le="2",remote="c2"} 0');
    expect(text).not.toContain('app_up{');
  });

  it('begins the series of a label value at zero, and leaves others as they are', async () => {
    const { metrics, registry, series: live } = createMetrics(table, { remote: ['c2'] });
    metrics.took.observe({ remote: 'c2' }, 1.5);
    metrics.writes.inc({ type: 'create', success: '1' });
    live.begin({ remote: ['c3'] });
    const text = await registry.metrics();
    expect(text).toContain('app_restarts_total{remote="c3"} 0');
    expect(text).toContain('app_took_seconds_count{remote="c3"} 0');
    expect(text).toContain('app_took_seconds_count{remote="c2"} 1');
    expect(text).toContain('app_writes_total{type="create",success="1"} 1');
  });

  it('ends all series of a label value, and no others', async () => {
    const { metrics, registry, series: live } = createMetrics(table, { remote: ['c2', 'c3'] });
    for (const remote of ['c2', 'c3']) {
      metrics.up.set({ remote }, 1);
      metrics.took.observe({ remote }, 1.5);
    }
    await live.end({ remote: ['c2'] });
    const text = await registry.metrics();
    expect(text).not.toContain('"c2"');
    expect(text).toContain('app_up{remote="c3"} 1');
    expect(text).toContain('app_took_seconds_count{remote="c3"} 1');
    expect(text).toContain('app_retries_total 0');
  });

  it('exports the values of its instruments', async () => {
    const { metrics, registry } = createMetrics(table);
    metrics.writes.inc({ type: 'create', success: '1' });
    metrics.restarts.inc({ remote: 'c2' }, 2);
    metrics.retries.inc({});
    metrics.took.observe({ remote: 'c2' }, 1.5);
    metrics.up.set({ remote: 'c2' }, 1);
    metrics.up.set({ remote: 'c3' }, 1);
    metrics.up.remove({ remote: 'c3' });
    expect(series(await registry.metrics())).toEqual(
      expect.arrayContaining([
        'app_writes_total{type="create",success="1"} 1',
        'app_restarts_total{remote="c2"} 2',
        'app_retries_total 1',
        'app_up{remote="c2"} 1',
        'app_took_seconds_bucket{le="1",remote="c2"} 0',
        'app_took_seconds_bucket{le="2",remote="c2"} 1',
      ]),
    );
    expect(await registry.metrics()).not.toContain('c3');
  });

  it('lets the compiler check labels', () => {
    const { metrics } = createMetrics(table);
    expect(() => {
      // @ts-expect-error a label is missing
      metrics.writes.inc({ type: 'create' });
      // @ts-expect-error a gauge is not observed
      metrics.up.observe({ remote: 'c2' }, 1);
    }).toThrow(/observe is not a function/);
  });
});

describe('sharedMetrics', () => {
  it('has the documented names', () => {
    const names = Object.values(sharedMetrics('semaphore_policy', ['closed'])).map(({ name }) => name);
    expect(names).toEqual([
      'semaphore_policy_remote_up',
      'semaphore_policy_remote_last_sync_timestamp_seconds',
      'semaphore_policy_remote_watch_restarts_total',
      'semaphore_policy_remote_over_budget',
      'semaphore_policy_propagation_seconds',
      'semaphore_policy_skipped_objects',
      'semaphore_policy_orphans',
      'semaphore_policy_config_stale',
    ]);
  });
});

describe('metricsReference', () => {
  it('renders a line per metric', () => {
    expect(metricsReference([table.writes, table.retries, table.up, table.took])).toBe(`\
- \`app_writes_total\` (counter; \`type\`: \`create\`, \`delete\`; \`success\`: \`0\`, \`1\`): Writes.
- \`app_retries_total\` (counter): Retries.
- \`app_up\` (gauge; \`remote\`: the remote): Up.
- \`app_took_seconds\` (histogram; \`remote\`): A|B.
`);
  });

  it('explains a label once if several metrics share it', () => {
    const down = {
      ...table.up,
      name: 'app_down',
      labels: { remote: { help: 'the remote' }, type: { values: ['a'] } },
    } as const;
    expect(metricsReference([table.writes, table.up, down])).toBe(`\
Labels:

- \`remote\`: the remote

Metrics:

- \`app_writes_total\` (counter; \`type\`: \`create\`, \`delete\`; \`success\`: \`0\`, \`1\`): Writes.
- \`app_up\` (gauge; \`remote\`): Up.
- \`app_down\` (gauge; \`remote\`; \`type\`: \`a\`): Up.
`);
  });
});

describe('beforeScrape', () => {
  it('observes before each scrape, and writes the samples below their metric', async () => {
    const { metrics, registry } = createMetrics(table);
    let remotes = 0;
    beforeScrape(registry, async () => {
      await Promise.resolve();
      metrics.up.set({ remote: 'c1' }, ++remotes);
      return new Map([['app_restarts_total', sampleLine('app_restarts_total', { remote: `c${remotes}` }, 7)]]);
    });
    const shown = async () => (await registry.metrics()).split('\n').filter((line) => /app_(restarts|up)/.test(line));
    const lines = (remote: string, up: number) => [
      '# HELP app_restarts_total Restarts.',
      '# TYPE app_restarts_total counter',
      `app_restarts_total{remote="${remote}"} 7`,
      '# HELP app_up Up.',
      '# TYPE app_up gauge',
      `app_up{remote="c1"} ${up}`,
    ];
    expect([await shown(), await shown()]).toEqual([lines('c1', 1), lines('c2', 2)]);
  });
});

describe('sampleLine', () => {
  it('escapes what ends a label', () => {
    expect(sampleLine('m', { a: 'x"\\\n', b: '' }, 1.5)).toBe('m{a="x\\"\\\\\\n",b=""} 1.5\n');
  });
});
