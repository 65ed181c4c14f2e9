import { Codec, podWithPortsKind } from '@kube-semaphore/kube-objects';
import { mustParseCidr, parseCidr } from '@kube-semaphore/net';
import { describe, expect, it } from 'vitest';
import { isAllowedHost, peerPodOf, podIdentity } from './peer-pod.ts';

const codec = new Codec(podWithPortsKind);
const ALLOWED = parseCidr('10.2.0.0/16');

type PodJson = { metadata?: object; spec?: object; status?: object };

const podOf = ({ metadata, spec, status }: PodJson) =>
  codec.objectFromJson({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-1', namespace: 'beta', uid: 'u1', labels: { app: 'web' }, ...metadata },
    spec: { ...spec },
    status: { phase: 'Running', podIPs: [{ ip: '10.2.0.20' }], ...status },
  });

function read(pod: PodJson, ...selectorKeys: string[]) {
  const allowed = ALLOWED.ok ? [ALLOWED.value] : [];
  return peerPodOf(podOf(pod), {
    addresses: { allowed, local: [] },
    selectorKeys: new Set(selectorKeys),
    intern: (identity) => identity,
  });
}

describe('peerPodOf', () => {
  it('reads the identity and the addresses of a Pod', () => {
    expect(read({})).toEqual({
      pod: { identity: podIdentity('beta', { app: 'web' }, []), cidrs: ['10.2.0.20/32'] },
      skipped: [],
    });
  });

  it.each([
    { name: 'on the network of its host', pod: { spec: { hostNetwork: true } } },
    { name: 'that succeeded', pod: { status: { phase: 'Succeeded' } } },
    { name: 'that failed', pod: { status: { phase: 'Failed' } } },
    {
      name: 'whose address Calico took back',
      pod: { metadata: { annotations: { 'cni.projectcalico.org/podIPs': '' } } },
    },
    { name: 'without an address', pod: { status: { podIPs: [] } } },
  ])('takes no Pod $name, and calls it no problem', ({ pod }) => {
    expect(read(pod)).toEqual({ pod: undefined, skipped: [] });
  });

  it.each(['Pending', 'Running', 'Unknown'])('takes a Pod in phase %s once it has an address', (phase) => {
    expect(read({ status: { phase } }).pod).toBeDefined();
  });

  it('skips an address that the remote may not bring in, and keeps the others', () => {
    const { pod, skipped } = read({ status: { podIPs: [{ ip: '10.1.0.10' }, { ip: '10.2.0.20' }] } });
    expect(pod?.cidrs).toEqual(['10.2.0.20/32']);
    expect(skipped).toMatchObject([{ kind: 'problem', reason: 'address-not-allowed' }]);
  });

  it.each([
    { ips: ['10.2.0.20', 'fd00:4::20'], want: ['fd00:4::20/128'] },
    { ips: ['10.2.0.20'], want: undefined },
  ])('takes the addresses of the families alone, and calls the others no problem: $ips', ({ ips, want }) => {
    const { pod, skipped } = peerPodOf(podOf({ status: { podIPs: ips.map((ip) => ({ ip })) } }), {
      addresses: { families: [6], allowed: [mustParseCidr('fd00:4::/48')], local: [mustParseCidr('10.2.0.0/16')] },
      selectorKeys: new Set(),
      intern: (identity) => identity,
    });
    expect({ cidrs: pod?.cidrs, skipped }).toEqual({ cidrs: want, skipped: [] });
  });

  it('skips a Pod of a namespace that no cluster can have', () => {
    expect(read({ metadata: { namespace: '../kube-system' } })).toMatchObject({
      pod: undefined,
      skipped: [{ reason: 'bad-namespace' }],
    });
  });

  it('forgets labels that one Pod has alone, unless a podSelector names them', () => {
    const pod = { metadata: { labels: { app: 'web', 'job-name': 'j1', 'controller-uid': 'u2' } } };
    expect(read(pod).pod?.identity.labels).toEqual({ app: 'web' });
    expect(read(pod, 'job-name').pod?.identity.labels).toEqual({ app: 'web', 'job-name': 'j1' });
  });

  it('reads the named ports of containers and sidecars, and of no other init container', () => {
    const spec = {
      containers: [{ ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }, { containerPort: 1 }] }],
      initContainers: [
        { restartPolicy: 'Always', ports: [{ name: 'metrics', containerPort: 9090 }] },
        { ports: [{ name: 'once', containerPort: 1 }] },
      ],
    };
    expect(read({ spec }).pod?.identity.namedPorts).toEqual([
      { name: 'http', protocol: 'TCP', port: 8080 },
      { name: 'metrics', protocol: 'TCP', port: 9090 },
    ]);
  });
});

describe('isAllowedHost', () => {
  const allowed = ['10.2.0.0/16', 'fd00:2::/48'].map(mustParseCidr);
  const local = [mustParseCidr('10.2.9.0/24')];

  it.each(['10.2.0.20/32', 'fd00:2::1/128'])('takes %s', (cidr) => {
    expect(isAllowedHost(cidr, { allowed, local })).toBe(true);
  });

  it.each([
    { name: 'a range', cidr: '10.2.0.0/24' },
    { name: 'another address', cidr: '10.3.0.1/32' },
    { name: 'a local address', cidr: '10.2.9.1/32' },
    { name: 'another spelling', cidr: 'fd00:2:0::1/128' },
    { name: 'an address alone', cidr: '10.2.0.20' },
    { name: 'nothing', cidr: '' },
  ])('refuses $name', ({ cidr }) => {
    expect(isAllowedHost(cidr, { allowed, local })).toBe(false);
  });
});
