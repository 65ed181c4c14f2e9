import { describe, expect, it } from 'vitest';
import type { RemoteEntry } from './file.ts';
import { Findings } from './problems.ts';
import { remotesOf } from './remote-entries.ts';

const c2 = { name: 'c2', servicePrefix: 'c2', kubeConfigPath: '/c2' };

function read(...entries: RemoteEntry[]) {
  const findings = new Findings();
  return {
    remotes: remotesOf(entries, { localName: 'c1', findings }),
    problems: findings.problems,
    warnings: findings.warnings,
  };
}

describe('remotesOf', () => {
  it('has the documented defaults', () => {
    const remote = {
      name: 'c2',
      prefix: 'c2',
      reference: { kind: 'kubeconfig', path: '/c2' },
      allowedPodCidrs: undefined,
      properties: new Map(),
      resyncPeriodMs: 0,
      staleAfterMs: 0,
      staleAction: 'unready',
      gateByTunnel: false,
    };
    expect(read(c2)).toEqual({ remotes: [remote], problems: [], warnings: [] });
  });

  it('refuses names that no namespace has, and a list without one', () => {
    expect(read({ ...c2, mirrorNamespaces: ['shop', 'Not one'] }).problems).toEqual([
      expect.stringMatching(/^remoteClusters\[0\]\.mirrorNamespaces\[1\]: /),
    ]);
    expect(read({ ...c2, mirrorNamespaces: [] }).problems).toEqual([
      'remoteClusters[0].mirrorNamespaces: must name at least one namespace',
    ]);
  });

  it('reads every field of a remote', () => {
    const direct = {
      remoteAPIURL: 'https://c2',
      remoteCAURL: 'file:///ca',
      remoteCACertHash: ['sha256:aa'],
      remoteSATokenPath: '/t',
    };
    const limits = {
      allowedPodCIDRs: ['10.4.0.0/16'],
      properties: { region: 'eu' },
      mirrorNamespaces: ['shop'],
      resyncPeriod: 1_500_000_000,
      staleAfter: '10m',
      staleAction: 'keep',
      gateByTunnel: true,
    };
    expect(read({ name: 'clusterB', servicePrefix: 'b', kubeConfigPath: '', ...direct, ...limits })).toEqual({
      remotes: [
        {
          name: 'clusterB',
          prefix: 'b',
          reference: {
            kind: 'api-server',
            apiUrl: 'https://c2',
            caUrl: 'file:///ca',
            caHashes: ['sha256:aa'],
            token: { path: '/t' },
          },
          allowedPodCidrs: [expect.objectContaining({ text: '10.4.0.0/16' })],
          properties: new Map([['region', 'eu']]),
          mirrorNamespaces: ['shop'],
          resyncPeriodMs: 1_500,
          staleAfterMs: 600_000,
          staleAction: 'keep',
          gateByTunnel: true,
        },
      ],
      problems: [],
      warnings: [],
    });
  });

  it('reads the path of the token under its misspelled name, with a warning', () => {
    const { remotes, warnings } = read({
      ...c2,
      kubeConfigPath: '',
      remoteAPIURL: 'https://c2',
      remoteCAURL: 'file:///ca',
      remoteSATokenPiath: '/t',
    });
    expect(remotes).toMatchObject([{ reference: { token: { path: '/t' } } }]);
    expect(warnings).toEqual(['remoteClusters[0].remoteSATokenPiath is an older spelling: use remoteSATokenPath']);
  });

  it('lets the kubeconfig override all else, and warns of ignored fields', () => {
    const { remotes, warnings } = read({ ...c2, kubeConfigPath: '/c2', remoteAPIURL: 'https://c2' });
    expect(remotes).toMatchObject([{ reference: { kind: 'kubeconfig', path: '/c2' } }]);
    expect(warnings).toEqual(['remoteClusters[0].remoteAPIURL is ignored: kubeConfigPath overrides it']);
  });

  it.each([
    { allowedPodCIDRs: ['0.0.0.0/0'], want: '[0]: 0.0.0.0/0 is too wide' },
    { allowedPodCIDRs: ['10.4.0.0/16', '169.254.0.0/16'], want: '[1]: 169.254.0.0/16 is link-local' },
    { allowedPodCIDRs: ['10.0.0.0/8', '11.0.0.0/8', '12.0.0.0/8'], want: ': the ranges of IPv4 together are too wide' },
  ])('refuses what no remote may have: $want', ({ allowedPodCIDRs, want }) => {
    expect(read({ ...c2, allowedPodCIDRs }).problems).toEqual([
      expect.stringContaining(`remoteClusters[0].allowedPodCIDRs${want}`),
    ]);
  });

  it('reads the families that are used, and the ranges of these alone', () => {
    const allowedPodCIDRs = ['10.4.0.0/16', 'fd00:4::/48'];
    expect(read({ ...c2, allowedPodCIDRs, families: ['ipv6'] }).remotes).toMatchObject([
      { families: [6], allowedPodCidrs: [{ text: 'fd00:4::/48' }] },
    ]);
    expect(read({ ...c2, allowedPodCIDRs: ['10.4.0.0/16'], families: ['ipv6'] }).problems).toEqual([
      'remoteClusters[0].families: allowedPodCIDRs has no range of ipv6',
    ]);
  });

  it('names the field of each problem, all at once', () => {
    const bad = {
      allowedPodCIDRs: ['10.0.0.0/8', '10.0.0.0/99'],
      resyncPeriod: '-1s',
      staleAfter: '1',
      staleAction: 'delete',
    };
    expect(read({ name: 'global', servicePrefix: 'gl-a', ...bad }, {}).problems).toEqual([
      expect.stringMatching(/^remoteClusters\[0\]\.name: "global" /),
      expect.stringMatching(/^remoteClusters\[0\]\.servicePrefix: "gl-a" is reserved for global services$/),
      expect.stringMatching(/^remoteClusters\[0\]\.kubeConfigPath: it is required, or remoteAPIURL/),
      expect.stringMatching(/^remoteClusters\[0\]\.allowedPodCIDRs\[1\]: /),
      'remoteClusters[0].resyncPeriod: it must not be negative',
      expect.stringMatching(/^remoteClusters\[0\]\.staleAfter: "1" is not a duration/),
      'remoteClusters[0].staleAction: "delete" is not one of unready, remove, keep',
      'remoteClusters[1].name is required',
      'remoteClusters[1].servicePrefix is required',
      expect.stringMatching(/^remoteClusters\[1\]\.kubeConfigPath: it is required/),
    ]);
  });

  it('refuses duplicate names and prefixes, and the name of the local cluster', () => {
    expect(read(c2, c2, { ...c2, name: 'c1', servicePrefix: 'c3' }, {}, {}).problems.slice(-3)).toEqual([
      'remoteClusters: name c2 is used twice',
      'remoteClusters: servicePrefix c2 is used twice',
      'remoteClusters: name c1 is that of the local cluster',
    ]);
  });
});
