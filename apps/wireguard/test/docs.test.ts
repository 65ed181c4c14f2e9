import { docBlocks, docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { parseClustersFile } from '../src/config/file.ts';
import { settingsOfFile } from '../src/config/file-settings.ts';
import { metrics } from '../src/metrics/metrics.ts';
import { options } from '../src/config/options.ts';

const page = docPage('wireguard.md');
const prefix = 'semaphore_wg_';
const names = Object.values(metrics).map(({ name }) => name.slice(prefix.length));

const mentioned = (pattern: RegExp): readonly string[] => [
  ...new Set(Array.from(page.matchAll(pattern), ([, name = '']) => name)),
];

describe('docs/wireguard.md', () => {
  it('names no metric that there is not', () => {
    expect(mentioned(/`semaphore_wg_([a-z_]+)/g)).not.toEqual([]);
    for (const name of [...mentioned(/`semaphore_wg_([a-z_]+)/g), ...mentioned(/`((?:remote|held|skipped)_[a-z_]+)/g)])
      expect(names).toContain(name);
  });

  it('names no flag that there is not', () => {
    const flags = Object.values(options).map((row) => row.flag);
    const given = mentioned(/(?<=[` ])-([a-z]+(?:-[a-z]+)+)\b/g);
    expect(given.length).toBeGreaterThan(4);
    for (const flag of given) expect(flags).toContain(flag);
  });

  it.each(['In two minutes', 'Several remotes'])('shows a config file that is one: %s', (heading) => {
    const [file = ''] = docBlocks('wireguard.md', heading, 'yaml');
    const parsed = parseClustersFile(file);
    expect(parsed).toMatchObject({ ok: true, warnings: [] });
    expect(parsed.ok && settingsOfFile(parsed.value)).toMatchObject({ ok: true });
  });
});
