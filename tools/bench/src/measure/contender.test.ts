import { describe, expect, it } from 'vitest';
import { clusterValues, ours, peer, type Targets } from './contender.ts';

const targets: Targets = { local: '/l', remotes: [{ name: 'c2', kubeconfig: '/r' }], dir: '/tmp' };
const flags = ({ local }: Targets) => Promise.resolve({ 'kube-config': local });
const values = (of: Targets) => Promise.resolve(clusterValues(of));

describe('ours', () => {
  it("is started by its launcher, with the app's flags", async () => {
    const [file, ...args] = await ours('/dist/launcher', 'auto', flags).command(targets);
    expect(file).toBe('/dist/launcher');
    expect(args.join(' ')).toBe('-listen-address=127.0.0.1:0 -encoding=auto -kube-config=/l');
  });

  it('has JSON in its name if it reads JSON', () => {
    expect(ours('/dist/launcher', 'json', flags).name).toBe('ours, JSON');
  });
});

describe('peer', () => {
  it('replaces the shell that reads its command', async () => {
    const { command } = peer('./other -l {local} -r {remote} -n {cluster} -again {local}', values);
    expect(await command(targets)).toEqual(['/bin/sh', '-c', 'exec ./other -l /l -r /r -n c2 -again /l']);
  });

  it("keeps the shell's own braces", async () => {
    expect(await peer('./other -u ${USER}', values).command(targets)).toContain('exec ./other -u ${USER}');
  });

  it.each([
    { template: '/opt/bin/other -l {local}', name: 'other' },
    { template: 'env GOGC=50 ./other', name: 'other' },
  ])('is called by its program: $template', ({ template, name }) => {
    expect(peer(template, values).name).toBe(name);
  });
});
