import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ours, peer } from './contender.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'contender-'));
});
afterAll(() => rm(dir, { recursive: true }));

const remotes = [{ name: 'c2', kubeconfig: '/r' }];
const targets = () => ({ local: '/l', remotes, dir });

describe('ours', () => {
  it('is started by its launcher, with the flags of the Go program', async () => {
    const [file, ...args] = await ours('/dist/launcher', 'auto').command(targets());
    expect(file).toBe('/dist/launcher');
    expect(args.join(' ')).toBe(
      '-local-kube-config /l -target-kube-config /r -target-cluster-name c2 -listen-address 127.0.0.1:0 -encoding auto',
    );
  });

  it('is given several remotes in a file', async () => {
    const several = [...remotes, { name: 'c3', kubeconfig: '/s' }];
    const args = await ours('/dist/launcher', 'auto').command({ ...targets(), remotes: several });
    const file = args[args.indexOf('-config') + 1]!;
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ remotes: several.map(({ name, kubeconfig }) => ({ name, kubeConfigPath: kubeconfig })) });
    expect(args).not.toContain('-target-cluster-name');
  });

  it('says so when it is to speak JSON', () => {
    expect(ours('/dist/launcher', 'json').name).toBe('ours, JSON');
  });
});

describe('peer', () => {
  it('replaces the shell that reads its command', async () => {
    const { command } = peer('./other -l {local} -r {remote} -n {cluster} -again {local}');
    expect(await command(targets())).toEqual(['/bin/sh', '-c', 'exec ./other -l /l -r /r -n c2 -again /l']);
  });

  it.each([
    { template: '/opt/bin/other -l {local}', name: 'other' },
    { template: 'env GOGC=50 ./other', name: 'other' },
  ])('is called by its program: $template', ({ template, name }) => {
    expect(peer(template).name).toBe(name);
  });
});
