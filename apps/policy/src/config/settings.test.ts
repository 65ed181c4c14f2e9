import { describe, expect, it } from 'vitest';
import type { RemoteEntry } from './file.ts';
import { settingsOfFile } from './settings.ts';

const defaults = {
  localKubeConfig: undefined,
  localCidrs: undefined,
  podResyncPeriodMs: 3_600_000,
  networkPolicies: false,
  localClusterName: undefined,
};
const direct = {
  remoteAPIURL: 'https://c3',
  remoteCAURL: 'file:///ca',
  remoteCACertHash: ['sha256:aa'],
  remoteSATokenPath: '/token',
};

const problems = (...remotes: RemoteEntry[]) => {
  const settings = settingsOfFile({ remotes }, defaults);
  return settings.ok ? [] : settings.problems;
};

describe('settingsOfFile', () => {
  it('reads the reference, the limits and the period of each remote', () => {
    const settings = settingsOfFile(
      {
        local: { kubeConfigPath: '/local', cidrs: ['10.2.0.0/16', 'fd00:2::/48'] },
        remotes: [
          { name: 'c2', kubeConfigPath: '/c2', podResyncPeriod: '10m' },
          { name: 'c3', kubeConfigPath: '', ...direct, allowedPodCIDRs: ['10.4.0.0/16'] },
        ],
      },
      defaults,
    );
    expect(settings).toEqual({
      ok: true,
      value: {
        local: { kind: 'kubeconfig', path: '/local' },
        localCidrs: [
          expect.objectContaining({ text: '10.2.0.0/16' }),
          expect.objectContaining({ text: 'fd00:2::/48' }),
        ],
        remotes: [
          {
            name: 'c2',
            clusterSetId: 'c2',
            labels: {},
            reference: { kind: 'kubeconfig', path: '/c2' },
            allowedPodCidrs: undefined,
            podResyncPeriodMs: 600_000,
          },
          {
            name: 'c3',
            clusterSetId: 'c3',
            labels: {},
            reference: {
              kind: 'api-server',
              apiUrl: 'https://c3',
              caUrl: 'file:///ca',
              caHashes: ['sha256:aa'],
              token: { path: '/token' },
            },
            allowedPodCidrs: [expect.objectContaining({ text: '10.4.0.0/16' })],
            podResyncPeriodMs: 3_600_000,
          },
        ],
      },
    });
  });

  it.each([
    { name: 'a flag', localKubeConfig: '/flag', file: '/file', want: { kind: 'kubeconfig', path: '/flag' } },
    { name: 'the file', localKubeConfig: undefined, file: '/file', want: { kind: 'kubeconfig', path: '/file' } },
    { name: 'the pod', localKubeConfig: undefined, file: '', want: { kind: 'in-cluster' } },
  ])('reads the local cluster from $name', ({ localKubeConfig, file, want }) => {
    const settings = settingsOfFile(
      { local: { kubeConfigPath: file }, remotes: [{ name: 'c2', kubeConfigPath: '/c2' }] },
      { ...defaults, localKubeConfig },
    );
    expect(settings.ok && settings.value.local).toEqual(want);
  });

  it('prefers a flag to the local CIDRs of the file', () => {
    const file = { local: { cidrs: ['10.2.0.0/16'] }, remotes: [{ name: 'c2', kubeConfigPath: '/c2' }] };
    expect(settingsOfFile(file, { ...defaults, localCidrs: [] })).toMatchObject({
      ok: true,
      value: { localCidrs: [] },
    });
  });

  it('names the field of a bad local CIDR', () => {
    const settings = settingsOfFile(
      { local: { cidrs: ['10.2.0.0/99'] }, remotes: [{ name: 'c2', kubeConfigPath: '/c2' }] },
      defaults,
    );
    expect(settings).toEqual({ ok: false, problems: [expect.stringMatching(/^local\.cidrs\[0\]: /)] });
  });

  it.each([
    { allowedPodCIDRs: ['0.0.0.0/0'], want: '[0]: 0.0.0.0/0 is too wide' },
    { allowedPodCIDRs: ['10.4.0.0/16', '169.254.0.0/16'], want: '[1]: 169.254.0.0/16 is link-local' },
    { allowedPodCIDRs: ['10.0.0.0/8', '11.0.0.0/8', '12.0.0.0/8'], want: ': the ranges of IPv4 together are too wide' },
  ])('refuses what no remote may have: $want', ({ allowedPodCIDRs, want }) => {
    expect(problems({ name: 'c2', kubeConfigPath: '/c2', allowedPodCIDRs })).toEqual([
      expect.stringContaining(`remotes[0].allowedPodCIDRs${want}`),
    ]);
  });

  it.each([
    { families: ['ipv6'], want: 'allowedPodCIDRs has no range of ipv6' },
    { families: ['6'], want: '"6" is not one of ipv4, ipv6' },
    { families: [], want: 'it must have ipv4, ipv6 or both' },
  ])('refuses families that can not be used: $families', ({ families, want }) => {
    expect(problems({ name: 'c2', kubeConfigPath: '/c2', families, allowedPodCIDRs: ['10.4.0.0/16'] })).toEqual([
      expect.stringContaining(`remotes[0].families: ${want}`),
    ]);
  });

  it('reports every problem with its field', () => {
    expect(
      problems(
        { name: 'C2', kubeConfigPath: '/c2', allowedPodCIDRs: ['10.0.0.0/8', '10.0.0.0/99'], podResyncPeriod: '-1s' },
        { name: 'c3', remoteAPIURL: 'https://c3' },
        { name: 'c4', kubeConfigPath: '/c4' },
        { name: 'c4', kubeConfigPath: '/c5' },
      ),
    ).toEqual([
      expect.stringMatching(/^remotes\[0\]\.name: "C2" is not a name/),
      expect.stringMatching(/^remotes\[0\]\.allowedPodCIDRs\[1\]: /),
      'remotes[0].podResyncPeriod: it must not be negative',
      'remotes[1].kubeConfigPath: it is required, or remoteAPIURL, remoteCAURL and remoteSATokenPath together',
      'remotes: name c4 is used twice',
    ]);
  });
});

describe('with -network-policies', () => {
  const at = (path: string, ...allowedPodCIDRs: string[]) => ({ kubeConfigPath: path, allowedPodCIDRs });
  const options = { ...defaults, networkPolicies: true, localClusterName: 'c1' };
  const settingsOf = (...remotes: RemoteEntry[]) => settingsOfFile({ remotes }, options);
  const problemsOf = (...remotes: RemoteEntry[]) => {
    const settings = settingsOf(...remotes);
    return settings.ok ? [] : settings.problems;
  };

  it('takes an id in the ClusterSet, by default the name', () => {
    const settings = settingsOf(
      { name: 'c2', ...at('/c2', '10.4.0.0/16') },
      { name: 'c3', clusterSetID: 'prod.eu', ...at('/c3', '10.5.0.0/16') },
    );
    expect(settings.ok && settings.value.remotes.map(({ clusterSetId }) => clusterSetId)).toEqual(['c2', 'prod.eu']);
  });

  it('takes labels of a cluster, and refuses those that no namespace can have', () => {
    const labels = { region: 'eu', environment: 'prod' };
    const settings = settingsOf({ name: 'c2', labels, ...at('/c2', '10.4.0.0/16') });
    expect(settings.ok && settings.value.remotes[0]?.labels).toEqual({
      'labels.policy.semaphore.uw.io/region': 'eu',
      'labels.policy.semaphore.uw.io/environment': 'prod',
    });
    expect(problemsOf({ name: 'c2', labels: { 'a/b': 'x', region: 'e u' }, ...at('/c2', '10.4.0.0/16') })).toEqual([
      expect.stringMatching(/^remotes\[0\]\.labels: "labels\.policy\.semaphore\.uw\.io\/a\/b" is not a label key/),
      expect.stringMatching(/^remotes\[0\]\.labels\.region: "e u" is not a label value/),
    ]);
  });

  it('demands the CIDRs of each remote', () => {
    expect(problemsOf({ name: 'c2', ...at('/c2', '10.4.0.0/16') }, { name: 'c3', kubeConfigPath: '/c3' })).toEqual([
      'remotes[1].allowedPodCIDRs: it is required with -network-policies',
    ]);
    expect(problems({ name: 'c3', kubeConfigPath: '/c3' })).toEqual([]);
  });

  it('refuses CIDRs that two remotes share', () => {
    const remotes = [
      { name: 'c2', ...at('/c2', '10.4.0.0/16', 'fd00:4::/48') },
      { name: 'c3', ...at('/c3', '10.5.0.0/16', '10.4.7.0/24') },
    ];
    expect(problemsOf(...remotes)).toEqual([
      'remotes[1].allowedPodCIDRs: 10.4.7.0/24 overlaps 10.4.0.0/16 of c2; -network-policies needs distinct ones',
    ]);
    expect(problems(...remotes)).toEqual([]);
  });

  it('compares only CIDRs of the families that are used, as Pods of the others are not', () => {
    const dual = (name: string, ipv6: string, ...families: string[]) => ({
      name,
      families,
      ...at(`/${name}`, '10.4.0.0/16', ipv6),
    });
    const settings = settingsOf(dual('c2', 'fd00:4::/48', 'ipv6'), dual('c3', 'fd00:5::/48', 'ipv4'));
    expect(settings).toMatchObject({
      ok: true,
      value: {
        remotes: [
          { families: [6], allowedPodCidrs: [{ text: 'fd00:4::/48' }] },
          { families: [4], allowedPodCidrs: [{ text: '10.4.0.0/16' }] },
        ],
      },
    });
  });

  it('refuses an id that two clusters have, or that is not valid', () => {
    expect(problemsOf({ name: 'c2', clusterSetID: 'c1', ...at('/c2', '10.4.0.0/16') })).toEqual([
      'remotes[0].clusterSetID: c1 is -local-cluster-name',
    ]);
    expect(
      problemsOf(
        { name: 'c2', ...at('/c2', '10.4.0.0/16') },
        { name: 'c3', clusterSetID: 'c2', ...at('/c3', '10.5.0.0/16') },
      ),
    ).toEqual(['remotes: clusterSetID c2 is used twice']);
    expect(problemsOf({ name: 'c2', clusterSetID: 'C_2', ...at('/c2', '10.4.0.0/16') })).toEqual([
      expect.stringMatching(/^remotes\[0\]\.clusterSetID: "C_2" is not a name/),
    ]);
  });
});
