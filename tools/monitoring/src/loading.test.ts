import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { docBlocks } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { monitoring } from './rule-file.ts';

const read = (...path: readonly string[]): unknown => parse(readFileSync(join(monitoring, ...path), 'utf8'));

it('makes PrometheusRules by the commands of the page', () => {
  const [script = ''] = docBlocks('../monitoring/README.md', 'Into Prometheus', 'sh pods');
  const output = execFileSync('bash', ['-c', `kubectl() { cat; echo ---; }\n${script}`], {
    cwd: join(monitoring, '..'),
    encoding: 'utf8',
  });
  const objects = parseAllDocuments(output)
    .map((document): unknown => document.toJSON())
    .filter((object) => object !== null);
  expect(objects).toEqual(
    readdirSync(join(monitoring, 'rules')).map((file) => ({
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: file.replace('.yaml', '') },
      spec: read('rules', file),
    })),
  );
});

it('puts every file into a ConfigMap', () => {
  const wanted = ['dashboards', 'rules'].map((folder) =>
    readdirSync(join(monitoring, folder)).map((file) => `${folder}/${file}`),
  );
  expect(read('kustomization.yaml')).toMatchObject({ configMapGenerator: wanted.map((files) => ({ files })) });
});
