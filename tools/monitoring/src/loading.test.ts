import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { readDashboards } from './dashboard.ts';
import { monitoring } from './rule-file.ts';

const rules = readdirSync(join(monitoring, 'rules'));
const read = (path: string): string => readFileSync(join(monitoring, path), 'utf8');

/** After a change of the rules, `npx vitest run --project unit tools/monitoring --update` writes it. */
it.each(rules)('has a PrometheusRule with the rules of %s, beside the PodMonitor', async (file) => {
  const app = file.replace(/^semaphore-(.*)\.yaml$/, '$1');
  const folder = `deploy/${app}/components/prometheus-operator`;
  const [metadata] = /^metadata:\n(?: .*\n)+/m.exec(read(`../${folder}/pod-monitor.yaml`))!;
  const comment = `# Made of monitoring/rules/${file}: see monitoring/README.md.\n`;
  const head = `${comment}apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\n`;
  const spec = `spec:\n${read(`rules/${file}`).replaceAll(/^(?=.)/gm, '  ')}`;
  await expect(head + metadata + spec).toMatchFileSnapshot(join(monitoring, '..', folder, 'prometheus-rule.yaml'));
});

it('puts every file into a ConfigMap', () => {
  expect(parse(read('kustomization.yaml'))).toMatchObject({
    configMapGenerator: [{ files: rules.map((file) => `rules/${file}`) }],
  });
  expect(parse(read('dashboards/kustomization.yaml'))).toMatchObject({
    configMapGenerator: readDashboards().map(({ file }) => ({ files: [file] })),
  });
});
