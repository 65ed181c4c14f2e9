import { execFileSync } from 'node:child_process';
import { parseConfigFile } from '@kube-semaphore/multicluster';
import { restartReasons } from '@kube-semaphore/informers';
import { labelDomains } from '../src/names.ts';
import { docBlocks, docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { configFileSchema } from '../src/config/file.ts';
import { metrics } from '../src/metrics.ts';
import { options } from '../src/config/options.ts';

/** Its own page, and the page of all apps, which names no option that policy lacks. */
const page = docPage('policy.md') + docPage('concepts.md');
const prefix = 'semaphore_policy_';
const names = Object.values(metrics).map(({ name }) => name.slice(prefix.length));

const mentioned = (pattern: RegExp): readonly string[] => [
  ...new Set(Array.from(page.matchAll(pattern), ([, name = '']) => name)),
];

describe('docs/policy.md and docs/concepts.md', () => {
  it('name only metrics that exist', () => {
    expect(mentioned(/`semaphore_policy_([a-z_]+)/g)).not.toEqual([]);
    for (const name of [
      ...mentioned(/`semaphore_policy_([a-z_]+)/g),
      ...mentioned(/`((?:remote|held|skipped)_[a-z_]+)/g),
    ])
      expect(names).toContain(name);
  });

  it('name only restart reasons that exist', () => {
    const reasons = mentioned(/\{reason="([a-z_]+)"\}/g);
    expect(reasons).not.toEqual([]);
    for (const reason of reasons) expect([...restartReasons, 'no-pod-matches']).toContain(reason);
  });

  it('name only flags that exist', () => {
    const flags = Object.values(options).map((row) => ('flag' in row ? row.flag : undefined));
    const given = mentioned(/(?<=[` ])-([a-z]+(?:-[a-z]+)+)\b/g);
    expect(given.length).toBeGreaterThan(10);
    for (const flag of given) expect(flags).toContain(flag);
  });

  it('show a valid config file', () => {
    const [file = ''] = docBlocks('policy.md', 'Several remotes', 'yaml');
    expect(parseConfigFile(file, configFileSchema, { unknownKeys: 'error' })).toMatchObject({ ok: true });
  });
});

it('docs/operations.md looks for sets under each label domain', () => {
  const [hops = ''] = docBlocks('operations.md', "c1 can't reach X of c2", 'sh pods');
  const third = hops.slice(hops.indexOf('# 3.'), hops.indexOf('# 4.'));
  const said = execFileSync('sh', ['-c', `kubectl() { echo "$@"; }\nremote=c2\n${third}`], { encoding: 'utf8' });
  expect(said.match(/(?<=-l )\S+/g)).toEqual(labelDomains.map((domain) => `${domain}/cluster=c2`));
});
