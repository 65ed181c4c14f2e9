import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { exportedSeries, tables } from './exported.ts';
import { queryFaults, resultLabels } from './query-faults.ts';
import { type AlertRule, readAlerts } from './rule-file.ts';

const apps = readAlerts();
const all = apps.flatMap(({ app, rules }) => rules.map((rule) => ({ app, rule, alert: rule.alert })));
const exported = await exportedSeries();

const page = docPage('operations.md');
const section = page.slice(page.indexOf('\n## Alerts\n'));
const runbooks = new Map(
  section
    .split(/^### /m)
    .slice(1)
    .map((text) => {
      const end = text.indexOf('\n');
      return [text.slice(0, end), text.slice(end)];
    }),
);

/** The part of an alert that all apps share. */
function essence({ expr, labels: { severity }, annotations, ...rest }: AlertRule, app: string): object {
  const text = JSON.stringify([expr, annotations])
    .replaceAll(/semaphore_(policy|service_mirror|wg)_/g, '')
    .replaceAll(app, '');
  return { ...rest, severity, text };
}

it('has alerts of every app', () => {
  expect(apps.map(({ app }) => app)).toEqual(Object.keys(tables));
});

describe.each(all)('$alert of $app', ({ app, rule }) => {
  it('queries only exported series', () => {
    expect(queryFaults(rule.expr, exported)).toEqual([]);
  });

  it('has the label and the series of its app', () => {
    expect(rule.labels.app).toBe(app);
    const prefix = Object.values(tables[app as keyof typeof tables])[0]!.name.replace(/remote_up$/, '');
    for (const name of rule.expr.match(/semaphore_\w+/g) ?? []) expect(name.slice(0, prefix.length)).toBe(prefix);
  });

  it('has annotations with existing labels', () => {
    const labels = resultLabels(rule.expr, exported);
    for (const [, label] of JSON.stringify(rule.annotations).matchAll(/\$labels\.(\w+)/g))
      expect(labels).toContain(label);
  });

  it('has a section that says where to look first, and how to repair it', () => {
    const { alert, annotations } = rule;
    expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
    for (const part of ['**First look**', '**Repair**']) expect(runbooks.get(alert) ?? 'no section').toContain(part);
  });

  it('has a test where it fires, and one where it does not', () => {
    const { tests } = apps.find((each) => each.app === app)!;
    const expected = tests
      .flatMap(({ alert_rule_test: checks }) => checks.filter(({ alertname }) => alertname === rule.alert))
      .map((check) => check.exp_alerts.length);
    expect([expected.some((count) => count > 0), expected.some((count) => count === 0)]).toEqual([true, true]);
  });

  it('is once in its file', () => {
    expect(apps.find((each) => each.app === app)!.rules.filter(({ alert }) => alert === rule.alert)).toHaveLength(1);
  });
});

it('is the same alert in every app that has it', () => {
  for (const { alert, app, rule } of all) {
    // Each app counts failed writes in its own way.
    if (alert === 'SemaphoreWritesFailing') continue;
    const first = all.find((other) => other.alert === alert)!;
    expect(essence(rule, app)).toEqual(essence(first.rule, first.app));
  }
});

describe('docs/operations.md, Alerts', () => {
  it('has a section for every alert, and no other', () => {
    expect([...runbooks.keys()].toSorted()).toEqual([...new Set(all.map(({ alert }) => alert))].toSorted());
  });

  it('names only exported series', () => {
    for (const [, query = ''] of section.matchAll(/```text\n([^`]+)```/g))
      expect(queryFaults(query, exported)).toEqual([]);
    for (const [, name = ''] of section.matchAll(/`(semaphore_[a-z_]+)[{`]/g))
      expect([...exported.keys()]).toContain(name);
  });
});
