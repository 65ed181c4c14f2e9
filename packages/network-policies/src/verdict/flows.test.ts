import { Codec, networkPolicyWithTimesKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { writtenCompanion } from '../companions/companion.ts';
import type { ReadPolicy } from './flow.ts';
import { type EndPod, type FlowCluster, type FlowEnd, flowsOf } from './flows.ts';

const K = 'cluster.clusterset.k8s.io';
const codec = new Codec(networkPolicyWithTimesKind);

const policy = (namespace: string, spec: object, metadata: object = {}): ReadPolicy =>
  codec.objectFromJson({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace, name: 'db', uid: 'db', generation: 1, ...metadata },
    spec: { podSelector: {}, policyTypes: ['Ingress'], ...spec },
  });

const companion = (ips: readonly string[], shard = ''): ReadPolicy => {
  const cidrs = ips.map((ip) => (ip.includes(':') ? `${ip}/128` : `${ip}/32`));
  const podSelector = { matchLabels: {}, matchExpressions: [] };
  const { metadata, spec } = writtenCompanion(
    { namespace: 'alpha', name: 'db', uid: 'db', generation: 1, podSelector },
    { name: `db-c2${shard}`, remote: 'c2', direction: 'ingress', rules: [{ text: 'x', ports: [], cidrs }] },
  );
  return policy('alpha', spec, metadata);
};

const fromC2 = policy('alpha', { ingress: [{ from: [{ namespaceSelector: { matchLabels: { [K]: 'c2' } } }] }] });

const c1: FlowCluster = {
  name: 'c1',
  id: 'c1',
  labels: {},
  refusalOf: () => undefined,
  limits: { remotePodSelector: 'shared=yes', maxAddressesPerSource: 5_000 },
};

const c2: FlowCluster = {
  ...c1,
  name: 'c2',
  id: 'c2',
  refusalOf: (ip) => (ip.startsWith('fd00:bad:') ? `${ip} is outside of allowedPodCIDRs` : undefined),
  limits: undefined,
};

const pod = (
  namespace: string,
  name: string,
  ips: readonly string[],
  { labels = {}, isExcluded = false } = {},
): EndPod => ({
  pod: { namespace, name, labels, namespaceLabels: {}, namedPorts: [], hostNetwork: false, finished: false },
  ips,
  isExcluded,
});

const webs = (ips: readonly (readonly string[])[]) => ips.map((of, i) => pod('beta', `web-${i}`, of));

const end = (cluster: FlowCluster, pods: readonly EndPod[], ...policies: readonly ReadPolicy[]): FlowEnd => ({
  kind: 'pods',
  cluster,
  pods,
  late: [],
  policies: { ok: true, value: policies },
});

const db = (...policies: readonly ReadPolicy[]) => end(c1, [pod('alpha', 'db', ['10.2.0.1'])], ...policies);
const dualDb = (...policies: readonly ReadPolicy[]) =>
  end(c1, [pod('alpha', 'db', ['10.2.0.1', 'fd00:1::1'])], ...policies);

/** `from (pods) -> to (pods): verdict`, and what the last side misses. */
const textsOf = (from: FlowEnd, to: FlowEnd) =>
  flowsOf(from, to, { port: { port: 5432, protocol: 'TCP' }, key: K }).map((flow) => {
    const side = flow.sides.at(-1);
    const why = side?.known === true ? side.misses.map(({ detail }) => detail) : [side?.failure];
    return [`${flow.from} (${flow.pods.from}) -> ${flow.to} (${flow.pods.to}): ${flow.verdict}`, ...why].join('; ');
  });

describe('flowsOf', () => {
  it('counts every Pod, also the one whose address a companion lacks', () => {
    const ips = Array.from({ length: 10 }, (_, i) => `10.4.0.${i}`);
    const policies = [fromC2, companion(ips.filter((ip) => ip !== '10.4.0.7'))];
    expect(textsOf(end(c2, webs(ips.map((ip) => [ip]))), db(...policies))).toEqual([
      'c2/beta/web-0 10.4.0.0 (9) -> c1/alpha/db 10.2.0.1 (1): allowed',
      'c2/beta/web-7 10.4.0.7 (1) -> c1/alpha/db 10.2.0.1 (1): denied; ' +
        'rule 1, peer 1: it allows this, but its companion for c2 does not have 10.4.0.7 yet',
    ]);
  });

  it('tells addresses apart that a remote may not bring in', () => {
    const from = end(c2, webs([['fd00::1'], ['fd00:bad::1'], ['fd00:bad::2']]));
    expect(textsOf(from, dualDb(fromC2))).toEqual([
      expect.stringMatching(/^c2\/beta\/web-0 fd00::1 \(1\) .* has no companion for c2: /),
      expect.stringMatching(/^c2\/beta\/web-1 fd00:bad::1 \(2\) .* not the address: fd00:bad::1 is outside /),
    ]);
  });

  it('counts addresses of both families, and compares those of one', () => {
    const from = end(c2, webs([['10.4.0.1', 'fd00:bad::1'], ['10.4.0.2'], ['10.4.0.3', 'fd00:bad::3']]));
    const policies = [fromC2, companion(['10.4.0.1', '10.4.0.2', '10.4.0.3'])];
    expect(textsOf(from, dualDb(...policies))).toEqual([
      'c2/beta/web-0 10.4.0.1 (3) -> c1/alpha/db 10.2.0.1 (1): allowed',
      'c2/beta/web-0 fd00:bad::1 (2) -> c1/alpha/db fd00:1::1 (1): denied; ' +
        'rule 1, peer 1: it allows this, but not the address: fd00:bad::1 is outside of allowedPodCIDRs',
    ]);
    expect(textsOf(from, db(...policies))).toHaveLength(1);
  });

  it('is one flow for addresses in several shards', () => {
    const policies = [fromC2, companion(['10.4.0.1']), companion(['10.4.0.2', 'fd00::2'], '-s1')];
    expect(textsOf(end(c2, webs([['10.4.0.1'], ['10.4.0.2', 'fd00::2']])), dualDb(...policies))).toEqual([
      'c2/beta/web-0 10.4.0.1 (2) -> c1/alpha/db 10.2.0.1 (1): allowed',
    ]);
  });

  it('tells local Pods apart by the ipBlocks and selectors of policies', () => {
    const from = end(c1, [
      pod('beta', 'a', ['10.2.1.1'], { labels: { app: 'a', id: '1' } }),
      pod('beta', 'b', ['10.2.1.2'], { labels: { app: 'a', id: '2' } }),
      pod('beta', 'c', ['10.2.2.1'], { labels: { app: 'a' } }),
      pod('beta', 'd', ['10.2.2.2'], { labels: { app: 'd' } }),
    ]);
    const selector = { namespaceSelector: {}, podSelector: { matchLabels: { app: 'd' } } };
    const ingress = [{ from: [{ ipBlock: { cidr: '10.2.1.0/24', except: ['10.2.1.2/32'] } }, selector] }];
    expect(textsOf(from, db(policy('alpha', { ingress })))).toEqual([
      'c1/beta/a 10.2.1.1 (1) -> c1/alpha/db 10.2.0.1 (1): allowed',
      'c1/beta/b 10.2.1.2 (2) -> c1/alpha/db 10.2.0.1 (1): denied; rule 1, peer 2: the labels of the Pod do not match app=d',
      'c1/beta/d 10.2.2.2 (1) -> c1/alpha/db 10.2.0.1 (1): allowed',
    ]);
  });

  it('tells Pods apart by which policies isolate them', () => {
    const pods = ['a', 'b', 'c'].map((app, i) => pod('beta', app, [`10.4.0.${i}`], { labels: { app } }));
    const isolated = policy('beta', { policyTypes: ['Egress'], podSelector: { matchLabels: { app: 'b' } } });
    expect(textsOf(end(c2, pods, isolated), db())).toEqual([
      'c2/beta/a 10.4.0.0 (2) -> c1/alpha/db 10.2.0.1 (1): allowed',
      'c2/beta/b 10.4.0.1 (1) -> c1/alpha/db 10.2.0.1 (1): denied',
    ]);
  });

  it('has few pairs between workloads of any size, each Pod with a label of its own', () => {
    const many = (namespace: string, net: string) =>
      Array.from({ length: 1_000 }, (_, i) =>
        pod(namespace, `web-${i}`, [`${net}.${i >> 8}.${i & 255}`], { labels: { app: 'web', pod: `web-${i}` } }),
      );
    const from = many('beta', '10.4');
    const policies = [fromC2, companion(from.slice(1).flatMap(({ ips }) => ips))];
    expect(textsOf(end(c2, from), end(c1, many('alpha', '10.2'), ...policies))).toEqual([
      expect.stringMatching(/^c2\/beta\/web-0 10\.4\.0\.0 \(1\) -> c1\/alpha\/web-0 10\.2\.0\.0 \(1000\): denied; /),
      'c2/beta/web-1 10.4.0.1 (999) -> c1/alpha/web-0 10.2.0.0 (1000): allowed',
    ]);
  });

  it('excludes Pods of other clusters by -remote-pod-selector of the cluster that is asked', () => {
    const excluded = [pod('beta', 'web', ['10.4.0.1']), pod('beta', 'x', ['10.4.0.2'], { isExcluded: true })];
    expect(textsOf(end(c2, excluded), db(fromC2))).toEqual([
      expect.stringContaining('it allows this, but has no companion for c2'),
      'c2/beta/x 10.4.0.2 (1) -> c1/alpha/db 10.2.0.1 (1): denied; ' +
        'rule 1, peer 1: the Pod does not match -remote-pod-selector shared=yes',
    ]);
  });

  it('knows the limit of a source in the cluster that is asked', () => {
    const full = { ...c1, limits: { remotePodSelector: undefined, maxAddressesPerSource: 1 } };
    const to = end(full, [pod('alpha', 'db', ['10.2.0.1'])], fromC2, companion(['10.4.0.9']));
    expect(textsOf(end(c2, webs([['10.4.0.1'], ['10.4.0.2']])), to)).toEqual([
      expect.stringMatching(/^c2\/beta\/web-0 10\.4\.0\.1 \(2\) .* it has 1, and -max-addresses-per-source is 1$/),
    ]);
  });

  it('leaves Pods without an address out, unless none has one', () => {
    const to = db(fromC2, companion(['10.4.0.1']));
    expect(textsOf(end(c2, webs([[], ['10.4.0.1']])), to)).toEqual([
      'c2/beta/web-1 10.4.0.1 (1) -> c1/alpha/db 10.2.0.1 (1): allowed',
    ]);
    expect(textsOf(end(c2, webs([[], []])), to)).toEqual([
      'c2/beta/web-0 without an address (2) -> c1/alpha/db 10.2.0.1 (1): denied; ' +
        'rule 1, peer 1: it allows this, but the Pod has no address',
    ]);
  });

  it('does not know what addresses of two families do', () => {
    expect(textsOf(end(c2, webs([['fd00::1'], ['fd00::2']])), db())).toEqual([
      'c2/beta/web-0 fd00::1 (2) -> c1/alpha/db 10.2.0.1 (1): unknown; the ends have no addresses of one family',
    ]);
  });

  it('says which end has no side', () => {
    const outside: FlowEnd = { kind: 'address', ip: '10.9.0.1', detail: '10.9.0.1 is no Pod' };
    const [flow, ...more] = flowsOf(db(), outside, { port: { port: 443, protocol: 'TCP' }, key: K });
    expect(flow).toMatchObject({ to: '10.9.0.1', pods: { from: 1, to: 0 }, outside: '10.9.0.1 is no Pod' });
    expect(flow?.sides.map(({ direction }) => direction)).toEqual(['egress']);
    expect(more).toEqual([]);
  });

  it('does not know about an end that is not known, nor about policies that are not', () => {
    const unknown: FlowEnd = { kind: 'unknown', cluster: 'c2', word: '10.4.0.1', failure: 'no answer' };
    expect(textsOf(unknown, db())).toEqual([
      '10.4.0.1 (0) -> c1/alpha/db 10.2.0.1 (1): unknown; the other end is not known',
    ]);
    const unread: FlowEnd = { ...db(), policies: { ok: false, failure: 'forbidden' } } as FlowEnd;
    expect(textsOf(end(c2, webs([['10.4.0.1'], ['10.4.0.2']])), unread)).toEqual([
      'c2/beta/web-0 10.4.0.1 (2) -> c1/alpha/db 10.2.0.1 (1): unknown; forbidden',
    ]);
  });

  it('says that an address of a Pod that should be gone has a new owner', () => {
    const detail = 'beta/web should be gone, and gamma/other has its address 10.4.0.1 now';
    const loss = { lost: ['10.4.0.1'], skipped: [{ kind: 'problem', reason: 'address-reused', detail } as const] };
    const web = { ...pod('beta', 'web', ['10.4.0.1']), loss };
    expect(textsOf(end(c2, [web]), db(fromC2))).toEqual([
      `c2/beta/web 10.4.0.1 (1) -> c1/alpha/db 10.2.0.1 (1): denied; rule 1, peer 1: it allows this, but not the address: ${detail}`,
    ]);
  });
});
