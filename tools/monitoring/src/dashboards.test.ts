import { describe, expect, it } from 'vitest';
import { chartsOf, queryOf, readDashboards } from './dashboard.ts';
import { exportedSeries, tables } from './exported.ts';
import { usesOf } from './promql-uses.ts';
import { queryFaults, resultLabels } from './query-faults.ts';

const dashboards = readDashboards();
const exported = await exportedSeries();

it('exist for each app, and an overview', () => {
  expect(dashboards.map(({ file }) => file)).toEqual(
    ['overview', 'policy', 'service-mirror', 'wireguard'].map((name) => `semaphore-${name}.json`),
  );
});

describe.each(dashboards)('$file', ({ file, dashboard }) => {
  const charts = chartsOf(dashboard);
  const queries = charts.flatMap(({ title, targets }) =>
    targets.map((target) => ({ ...target, title, query: queryOf(target.expr) })),
  );
  const variables = dashboard.templating.list.filter((variable) => variable.type === 'query');

  it('has the name of its file', () => {
    expect(`${dashboard.uid}.json`).toBe(file);
  });

  it.each(queries)('queries only exported series: $title, $refId', ({ query }) => {
    expect(queryFaults(query, exported)).toEqual([]);
  });

  it.each(queries)('has legends with existing labels: $title, $refId', ({ query, legendFormat = '' }) => {
    const labels = resultLabels(query, exported);
    for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(labels).toContain(label);
  });

  it('has variables with existing labels', () => {
    for (const { definition, query } of variables) {
      const [, series = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? [];
      expect([definition, queryFaults(series, exported)]).toEqual([query.query, []]);
      expect(resultLabels(series, exported)).toContain(label);
    }
  });

  it('uses all its variables, and no other', () => {
    const used = JSON.stringify([
      queries.map(({ query }) => query),
      variables.map(({ definition }) => definition),
    ]).matchAll(/\$(\w+)/g);
    expect([...new Set(Array.from(used, ([, name = '']) => name))].toSorted()).toEqual(
      variables.map(({ name }) => name).toSorted(),
    );
  });

  it('has unique ids, and unique letters of queries', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids)).toHaveLength(ids.length);
    for (const { targets } of charts)
      expect(targets.map(({ refId }) => refId)).toEqual(Array.from('ABCDEFGH').slice(0, targets.length));
  });

  it('has its panels in order, and none overlaps', () => {
    const places = dashboard.panels.map(({ gridPos }) => gridPos);
    expect(places.map(({ x, y }) => y * 24 + x)).toEqual(
      places.map(({ x, y }) => y * 24 + x).toSorted((a, b) => a - b),
    );
    const cells = places.flatMap(({ x, y, w, h }) =>
      Array.from({ length: w * h }, (_, i) => (y + Math.floor(i / w)) * 24 + x + (i % w)),
    );
    expect(new Set(cells)).toHaveLength(cells.length);
    for (const { x, w } of places) expect(x + w).toBeLessThanOrEqual(24);
  });

  it('begins with the health, and shows firing alerts', () => {
    expect(dashboard.panels[0]).toMatchObject({ type: 'row', title: 'Health' });
    expect(queries.filter(({ query }) => query.includes('alertstate="firing"'))).toHaveLength(1);
  });
});

describe.each(Object.entries(tables))('the metrics of %s', (app, table) => {
  /** Metrics without a panel: always 0, or one line for each peer, which large remotes don't have. */
  const unseen =
    /_(queue_(full_failures_total|adds_total|unfinished_work_seconds)|sync_requeue_total|peer_(\w*info|\w+_bytes_total))$/;
  const { dashboard } = dashboards.find(({ file }) => file === `${app}.json`)!;
  const shown = chartsOf(dashboard).flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => usesOf(queryOf(expr)).selectors.map(({ series }) => series.replace(/_bucket$/, ''))),
  );

  it.each(
    Object.values(table)
      .map(({ name }) => name)
      .filter((name) => !unseen.test(name)),
  )('are on its dashboard: %s', (name) => {
    expect(shown).toContain(name);
  });
});
