import { parseConfigFile } from '@kube-semaphore/app';
import { restartReasons } from '@kube-semaphore/informers';
import { docBlocks, docPage, documentedRules } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { configFileSchema } from '../src/config/file.ts';
import { metrics } from '../src/metrics.ts';
import { options } from '../src/config/options.ts';
import { localRules, remoteRules } from './support/accounts.ts';

const page = docPage('policy.md');
const prefix = 'semaphore_policy_';
const names = Object.values(metrics).map(({ name }) => name);

const mentioned = (pattern: RegExp): readonly string[] => [...new Set(Array.from(page.matchAll(pattern), ([, name = '']) => name))];

describe('docs/policy.md', () => {
  it.each(names)('tells what %s means and when to worry', (name) => {
    expect(page).toMatch(new RegExp(`^\\| \`${name}[{\`]`, 'm'));
  });

  it('names no metric that there is not', () => {
    const short = names.map((name) => name.slice(prefix.length));
    const full = mentioned(/`semaphore_policy_([a-z_]+)/g);
    expect(full.length).toBeGreaterThanOrEqual(names.length);
    for (const name of [...full, ...mentioned(/`((?:remote|held|skipped)_[a-z_]+)/g)]) expect(short).toContain(name);
  });

  it('names no reason of a restart that there is not', () => {
    const reasons = mentioned(/\{reason="([a-z_]+)"\}/g);
    expect(reasons).not.toEqual([]);
    for (const reason of reasons) expect([...restartReasons, 'no-pod-matches']).toContain(reason);
  });

  it('names no flag that there is not', () => {
    const flags = Object.values(options).map((row) => ('flag' in row ? row.flag : undefined));
    const given = mentioned(/(?<=[` ])-([a-z]+(?:-[a-z]+)+)\b/g);
    expect(given.length).toBeGreaterThan(10);
    for (const flag of given) expect(flags).toContain(flag);
  });

  it('shows the rights that deploy/ gives', () => {
    const [sets, leases, previous] = localRules;
    expect(documentedRules('policy.md')).toEqual([remoteRules, [sets], [leases], [previous]]);
  });

  it('shows a config file that is one', () => {
    const [file = ''] = docBlocks('policy.md', 'Several remotes', 'yaml');
    expect(parseConfigFile(file, configFileSchema, { unknownKeys: 'error' })).toMatchObject({ ok: true });
  });
});
