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

/** What is the same in all apps that have it, but for the names of its series. */
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
  it('names nothing that nobody exports', () => {
    expect(queryFaults(rule.expr, exported)).toEqual([]);
  });

  it('is of its app', () => {
    expect(rule.labels.app).toBe(app);
    const prefix = Object.values(tables[app as keyof typeof tables])[0]!.name.replace(/remote_up$/, '');
    for (const name of rule.expr.match(/semaphore_\w+/g) ?? []) expect(name.slice(0, prefix.length)).toBe(prefix);
  });

  it('tells of labels that it has', () => {
    const labels = resultLabels(rule.expr, exported);
    for (const [, label] of JSON.stringify(rule.annotations).matchAll(/\$labels\.(\w+)/g))
      expect(labels).toContain(label);
  });

  it('leads to a section that says what it means, where to look first, and what to do', () => {
    const { alert, annotations } = rule;
    expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
    for (const part of ['**Means**', '**First look**', '**Repair**'])
      expect(runbooks.get(alert) ?? 'no section').toContain(part);
  });

  it('is tested to fire, and not to', () => {
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
    // How an app tells that it can't write is its own.
    if (alert === 'SemaphoreWritesFailing') continue;
    const first = all.find((other) => other.alert === alert)!;
    expect(essence(rule, app)).toEqual(essence(first.rule, first.app));
  }
});

describe('docs/operations.md, Alerts', () => {
  it('has no section of an alert that there is not', () => {
    expect([...runbooks.keys()].toSorted()).toEqual([...new Set(all.map(({ alert }) => alert))].toSorted());
  });

  it('names no series that nobody exports', () => {
    for (const [, query = ''] of section.matchAll(/```text\n([^`]+)```/g))
      expect(queryFaults(query, exported)).toEqual([]);
    for (const [, name = ''] of section.matchAll(/`(semaphore_[a-z_]+)[{`]/g))
      expect([...exported.keys()]).toContain(name);
  });
});
