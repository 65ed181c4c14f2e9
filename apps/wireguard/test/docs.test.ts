import { restartReasons } from '@kube-semaphore/informers';
import { deployedRights, docBlocks, docPage, documentedRules } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { parseClustersFile } from '../src/config/file.ts';
import { settingsOfFile } from '../src/config/file-settings.ts';
import { metrics } from '../src/metrics/metrics.ts';
import { options } from '../src/config/options.ts';
import { folders } from './support/accounts.ts';

const page = docPage('wireguard.md');
const prefix = 'semaphore_wg_';
const names = Object.values(metrics).map(({ name }) => name);

const mentioned = (pattern: RegExp): readonly string[] => [...new Set(Array.from(page.matchAll(pattern), ([, name = '']) => name))];

describe('docs/wireguard.md', () => {
  it.each(names)('tells what %s means and when to worry', (name) => {
    expect(page).toMatch(new RegExp(`^\\| \`${name}[{\`]`, 'm'));
  });

  it('names no metric that there is not', () => {
    const short = names.map((name) => name.slice(prefix.length));
    const full = mentioned(/`semaphore_wg_([a-z_]+)/g);
    expect(full.length).toBeGreaterThanOrEqual(names.length);
    for (const name of [...full, ...mentioned(/`((?:remote|held|skipped)_[a-z_]+)/g)]) expect(short).toContain(name);
  });

  it('names no reason of a restart that there is not', () => {
    const reasons = mentioned(/\{reason="([a-z_]+)"\}/g);
    expect(reasons).not.toEqual([]);
    for (const reason of reasons) expect(restartReasons).toContain(reason);
  });

  it('names no flag that there is not', () => {
    const flags = Object.values(options).map((row) => row.flag);
    const given = mentioned(/(?<=[` ])-([a-z]+(?:-[a-z]+)+)\b/g);
    expect(given.length).toBeGreaterThan(4);
    for (const flag of given) expect(flags).toContain(flag);
  });

  it('shows the rights that deploy/ gives', () => {
    const roles = [folders.agent, folders.reader].flatMap((folder) => deployedRights(...folder).grants);
    expect(documentedRules('wireguard.md')).toEqual(roles.map(({ rules }) => rules));
  });

  it.each(['In two minutes', 'Several remotes'])('shows a config file that is one: %s', (heading) => {
    const [file = ''] = docBlocks('wireguard.md', heading, 'yaml');
    const parsed = parseClustersFile(file);
    expect(parsed).toMatchObject({ ok: true, warnings: [] });
    expect(parsed.ok && settingsOfFile(parsed.value)).toMatchObject({ ok: true });
  });
});
