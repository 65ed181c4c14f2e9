import { describe, expect, it } from 'vitest';
import { ours, peer, type Place } from './run.ts';

const place: Place = { local: '/l', remote: '/r', cluster: 'c2', remotes: [], dir: '/tmp' };

describe('ours', () => {
  it("is started by its launcher, with the app's flags", async () => {
    const [file, ...args] = await ours('/dist/launcher', 'auto', async ({ local }) => ({ local })).command(place);
    expect(file).toBe('/dist/launcher');
    expect(args.join(' ')).toBe('-listen-address=127.0.0.1:0 -encoding=auto -local=/l');
  });
});

describe('peer', () => {
  it('replaces the shell that reads its command', async () => {
    const { command } = peer('./other -l {local} -r {remote} -n {cluster} -again {local} -m {more}', async () => {
      return { more: 'm' };
    });
    expect(await command(place)).toEqual(['/bin/sh', '-c', 'exec ./other -l /l -r /r -n c2 -again /l -m m']);
  });

  it("keeps the shell's own braces", async () => {
    expect(await peer('./other -u ${USER}').command(place)).toContain('exec ./other -u ${USER}');
  });

  it.each([
    { template: '/opt/bin/other -l {local}', name: 'other' },
    { template: 'env GOGC=50 ./other', name: 'other' },
  ])('is called by its program: $template', ({ template, name }) => {
    expect(peer(template).name).toBe(name);
  });
});
