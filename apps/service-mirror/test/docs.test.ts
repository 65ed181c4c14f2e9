import { restartReasons } from '@kube-semaphore/informers';
import { docBlocks, docPage, documentedRules } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { parseMirrorFile } from '../src/config/file.ts';
import { metrics } from '../src/metrics/metrics.ts';
import { options } from '../src/config/options.ts';
import { componentRules, localRules, remoteRules } from './support/accounts.ts';

const page = docPage('service-mirror.md');
const prefix = 'semaphore_service_mirror_';
const names = Object.values(metrics).map(({ name }) => name);

const mentioned = (pattern: RegExp): readonly string[] => [...new Set(Array.from(page.matchAll(pattern), ([, name = '']) => name))];

describe('docs/service-mirror.md', () => {
  it.each(names)('tells what %s means and when to worry', (name) => {
    expect(page).toMatch(new RegExp(`^\\| \`${name}[{\`]`, 'm'));
  });

  it('names no metric that there is not', () => {
    const short = names.map((name) => name.slice(prefix.length));
    for (const name of [...mentioned(/`semaphore_service_mirror_([a-z_]+)/g), ...mentioned(/`((?:remote|held|skipped)_[a-z_]+)/g)]) expect(short).toContain(name);
  });

  it('names no reason of a restart that there is not', () => {
    for (const reason of mentioned(/restarts_total\{reason="([a-z_]+)"\}/g)) expect(restartReasons).toContain(reason);
  });

  it('names no flag that there is not', () => {
    const flags = Object.values(options).map((row) => ('flag' in row ? row.flag : undefined));
    const given = mentioned(/(?<=[` ])-([a-z]+(?:-[a-z]+)+)\b/g);
    expect(given.length).toBeGreaterThan(5);
    for (const flag of given) expect(flags).toContain(flag);
  });

  it('shows the rights that deploy/ gives', () => {
    expect(documentedRules('service-mirror.md')).toEqual([remoteRules, localRules.slice(0, -1), componentRules, localRules.slice(-1)]);
  });

  it('shows a config file that is one', () => {
    for (const file of docBlocks('service-mirror.md', 'Several remotes', 'yaml')) expect(parseMirrorFile(file)).toMatchObject({ ok: true, warnings: [] });
  });
});
