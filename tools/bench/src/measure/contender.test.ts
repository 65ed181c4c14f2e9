import { describe, expect, it } from 'vitest';
import { ours, peer } from './contender.ts';

const targets = { local: '/l', remote: '/r', cluster: 'c2' };

describe('ours', () => {
  it('is started by its launcher, with the flags of the Go program', () => {
    const [file, ...args] = ours('/dist/launcher', 'auto').command(targets);
    expect(file).toBe('/dist/launcher');
    expect(args.join(' ')).toBe(
      '-local-kube-config /l -target-kube-config /r -target-cluster-name c2 -listen-address 127.0.0.1:0 -encoding auto',
    );
  });

  it('says so when it is to speak JSON', () => {
    expect(ours('/dist/launcher', 'json').name).toBe('ours, JSON');
  });
});

describe('peer', () => {
  it('replaces the shell that reads its command', () => {
    const { command } = peer('./other -l {local} -r {remote} -n {cluster} -again {local}');
    expect(command(targets)).toEqual(['/bin/sh', '-c', 'exec ./other -l /l -r /r -n c2 -again /l']);
  });

  it.each([
    { template: '/opt/bin/other -l {local}', name: 'other' },
    { template: 'env GOGC=50 ./other', name: 'other' },
  ])('is called by its program: $template', ({ template, name }) => {
    expect(peer(template).name).toBe(name);
  });
});
