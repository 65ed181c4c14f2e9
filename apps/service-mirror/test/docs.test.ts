import { docBlocks, docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { parseMirrorFile } from '../src/config/file.ts';
import { metrics } from '../src/metrics/metrics.ts';
import { options } from '../src/config/options.ts';

const page = docPage('service-mirror.md');
const prefix = 'semaphore_service_mirror_';
const names = Object.values(metrics).map(({ name }) => name.slice(prefix.length));

const mentioned = (pattern: RegExp): readonly string[] => [
  ...new Set(Array.from(page.matchAll(pattern), ([, name = '']) => name)),
];

describe('docs/routing.md', () => {
  it.each(['The order', 'Overrule it'])('shows a valid config file: %s', (heading) => {
    const files = docBlocks('routing.md', heading, 'yaml');
    expect(files).toHaveLength(1);
    expect(parseMirrorFile(files[0]!)).toMatchObject({ ok: true, warnings: [] });
  });
});

describe('docs/service-mirror.md', () => {
  it('names only metrics that exist', () => {
    expect(mentioned(/`semaphore_service_mirror_([a-z_]+)/g)).not.toEqual([]);
    for (const name of [
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

  it('shows a valid config file', () => {
    for (const file of docBlocks('service-mirror.md', 'Several remotes', 'yaml'))
      expect(parseMirrorFile(file)).toMatchObject({ ok: true, warnings: [] });
  });
});
