import { docBlocks, docMetrics, docPage, documentedRules } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { parseMirrorFile } from '../src/config/file.ts';
import { metrics } from '../src/metrics/metrics.ts';
import { options } from '../src/config/options.ts';
import { componentRules, localRules, remoteRules } from './support/accounts.ts';

const page = docPage('service-mirror.md');
const prefix = 'semaphore_service_mirror_';
const names = Object.values(metrics).map(({ name }) => name.slice(prefix.length));
/** What the tables of metrics name: the app's own, and those of all apps. */
const own = docMetrics('service-mirror.md');
const common = docMetrics('concepts.md');

const mentioned = (pattern: RegExp): readonly string[] => [
  ...new Set(Array.from(page.matchAll(pattern), ([, name = '']) => name)),
];

describe('docs/service-mirror.md', () => {
  it.each(names)('says how to act on %s', (name) => {
    expect([...own, ...common]).toContain(name);
  });

  it('names only metrics that exist', () => {
    expect(mentioned(/`semaphore_service_mirror_([a-z_]+)/g)).not.toEqual([]);
    for (const name of [
      ...own,
      ...mentioned(/`semaphore_service_mirror_([a-z_]+)/g),
      ...mentioned(/`((?:remote|held|skipped)_[a-z_]+)/g),
    ])
      expect(names).toContain(name);
  });

  it('names only flags that exist', () => {
    const flags = Object.values(options).map((row) => ('flag' in row ? row.flag : undefined));
    const given = mentioned(/(?<=[` ])-([a-z]+(?:-[a-z]+)+)\b/g);
    expect(given.length).toBeGreaterThan(5);
    for (const flag of given) expect(flags).toContain(flag);
  });

  it('shows the rights that deploy/ gives', () => {
    const [ranges, leases, ...others] = localRules.toReversed();
    expect(documentedRules('service-mirror.md')).toEqual([
      remoteRules,
      others.toReversed(),
      componentRules,
      [leases],
      [ranges],
    ]);
  });

  it('shows a valid config file', () => {
    for (const file of docBlocks('service-mirror.md', 'Several remotes', 'yaml'))
      expect(parseMirrorFile(file)).toMatchObject({ ok: true, warnings: [] });
  });
});
