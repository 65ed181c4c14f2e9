import { Codec, namespaceKind, networkPolicyKind, podWithPortsKind } from '@kube-semaphore/kube-objects';
import { mustParseCidr } from '@kube-semaphore/net';
import { describe, expect, it } from 'vitest';
import { calicoSink } from '../sinks/calico-sink.ts';
import { type CheckedRemote, checkOf } from './check.ts';

const K = 'cluster.clusterset.k8s.io';
const codecs = {
  policy: new Codec(networkPolicyKind),
  namespace: new Codec(namespaceKind),
  pod: new Codec(podWithPortsKind),
};

const namespace = (name: string, labels: Record<string, string> = {}) =>
  codecs.namespace.objectFromJson({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });

type PodParts = { labels?: object; hostNetwork?: boolean; deletionTimestamp?: string };

const pod = (name: string, ip: string, { labels = {}, deletionTimestamp, ...spec }: PodParts = {}) =>
  codecs.pod.objectFromJson({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'beta', name, labels, deletionTimestamp },
    spec: { containers: [{ ports: [{ name: 'http', containerPort: 8080 }] }], ...spec },
    status: { phase: 'Running', podIPs: [{ ip }] },
  });

const policy = (spec: object, metadata: object = {}) =>
  codecs.policy.objectFromJson({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace: 'alpha', name: 'db', ...metadata },
    spec: { podSelector: {}, policyTypes: ['Ingress'], ...spec },
  });

const remote = (name: string, octet: number, isRead = true): CheckedRemote => ({
  name,
  id: name,
  labels: {},
  addresses: { allowed: [mustParseCidr(`10.${octet}.0.0/16`)], local: [] },
  objects: isRead
    ? {
        // It says that it is another cluster, which doesn't count.
        namespaces: [namespace('beta', { [K]: 'c9', tier: 'shop' })],
        pods: [
          pod('web', `10.${octet}.0.1`, { labels: { app: 'web' } }),
          pod('db', `10.${octet}.0.2`, { labels: { app: 'db' } }),
          pod('node', `10.${octet}.0.3`, { labels: { app: 'web' }, hostNetwork: true }),
          pod('foreign', '10.9.0.1', { labels: { app: 'web' } }),
        ],
      }
    : undefined,
});

const inputOf = (spec: object, { labelled = false, local = [] as ReturnType<typeof namespace>[] } = {}) => ({
  ids: { key: K, remotes: new Set(['c2', 'c3']), local: 'c1' },
  sink: calicoSink('crd.projectcalico.org/v1'),
  policies: [policy(spec)],
  namespaces: [namespace('alpha', labelled ? { [K]: 'c1' } : {}), ...local],
  remotes: [remote('c2', 2), remote('c3', 3)],
  isLabelledOnly: false,
  nowMs: Date.parse('2026-01-01T00:10:00Z'),
  maxAddressesPerPolicy: 500,
  maxAddressesPerSource: 5000,
});

const from = (namespaceSelector: object, podSelector: object = { matchLabels: { app: 'web' } }) => ({
  ingress: [{ from: [{ namespaceSelector, podSelector }], ports: [{ protocol: 'TCP', port: 5432 }] }],
});

const names = (operator: string, ...values: string[]) => ({ matchExpressions: [{ key: K, operator, values }] });

describe('checkOf', () => {
  it.each([
    { name: 'no cluster', selector: { matchLabels: { tier: 'shop' } }, want: [], open: false, bare: [] },
    { name: 'one remote', selector: names('In', 'c2'), want: ['c2'], open: false, bare: [] },
    {
      name: 'this cluster and a remote',
      selector: names('In', 'c1', 'c2'),
      want: ['c2'],
      open: false,
      bare: ['expected local-namespaces-unlabelled'],
    },
    {
      name: 'this cluster',
      selector: names('In', 'c1'),
      want: [],
      open: false,
      bare: ['expected local-namespaces-unlabelled'],
    },
    {
      name: 'a cluster that is not in the config',
      selector: names('In', 'c9'),
      want: [],
      open: false,
      bare: ['expected unknown-cluster'],
    },
    {
      name: 'any cluster',
      selector: names('Exists'),
      want: ['c2', 'c3'],
      open: true,
      bare: ['expected local-namespaces-unlabelled'],
    },
    { name: 'all but a remote', selector: names('NotIn', 'c2'), want: ['c3'], open: true, openHere: true, bare: [] },
    {
      name: 'all but this cluster',
      selector: names('NotIn', 'c1'),
      want: ['c2', 'c3'],
      open: true,
      bare: ['problem local-namespaces-unlabelled'],
    },
    { name: 'no label', selector: names('DoesNotExist'), want: [], open: false, bare: [] },
    {
      name: 'several requirements',
      selector: { matchLabels: { [K]: 'c2', tier: 'other' } },
      want: ['c2'],
      pods: [],
      open: false,
      bare: [],
    },
  ])(
    'says whom a peer lets in that names $name',
    ({ selector, want, open, openHere = false, bare, pods = ['beta/web'] }) => {
      const found = checkOf(inputOf(from(selector)));
      const reached = found.rules.flatMap(({ remotes }) => remotes.map(({ cluster }) => cluster));
      expect(reached).toEqual(want);
      expect(found.rules.some(({ isOpen }) => isOpen)).toBe(open);
      expect(found.rules.some(({ isOpenHere }) => isOpenHere)).toBe(openHere);
      for (const { remotes, ports } of found.rules) {
        expect(ports).toBe('5432/TCP');
        for (const each of remotes) expect(each.pods).toEqual(pods);
      }
      const reasons = ({ diagnostics }: typeof found) => diagnostics.map(({ kind, reason }) => `${kind} ${reason}`);
      expect(reasons(found)).toEqual(bare);
      const labelled = reasons(checkOf(inputOf(from(selector), { labelled: true })));
      expect(labelled).toEqual(bare.filter((each) => !each.endsWith('local-namespaces-unlabelled')));
    },
  );

  it('names a podSelector that selects nothing', () => {
    const { rules, diagnostics } = checkOf(inputOf(from({}, { matchLabels: { [K]: 'c2' } })));
    expect(rules).toEqual([]);
    expect(diagnostics).toMatchObject([{ subject: 'NetworkPolicy alpha/db', reason: 'cluster-label-in-pod-selector' }]);
  });

  it('has what a companion would lack', () => {
    const egress = [{ to: [{ namespaceSelector: names('In', 'c2') }], ports: [{ protocol: 'TCP', port: 'grpc' }] }];
    const { diagnostics } = checkOf(inputOf({ policyTypes: ['Egress'], egress }));
    expect(diagnostics).toMatchObject([{ reason: 'no-such-port', detail: expect.stringMatching(/^c2: /) as string }]);
  });

  it('names a podSelector that Calico may refuse', () => {
    const values = Array.from({ length: 20 }, (_, i) => `${i}-${'x'.repeat(60)}`);
    const podSelector = { matchExpressions: [{ key: 'app', operator: 'In', values }] };
    const { diagnostics } = checkOf(inputOf({ podSelector, ...from(names('In', 'c2')) }));
    expect(diagnostics).toMatchObject([{ subject: 'NetworkPolicy alpha/db', reason: 'selector-too-long' }]);
    expect(checkOf(inputOf({ podSelector, ...from({}) })).diagnostics).toEqual([]);
  });

  it('does not take a remote that was not read for an empty one', () => {
    const input = { ...inputOf(from(names('In', 'c2', 'c3'))), remotes: [remote('c2', 2), remote('c3', 3, false)] };
    expect(checkOf(input).rules).toMatchObject([
      {
        remotes: [
          { cluster: 'c2', pods: ['beta/web'] },
          { cluster: 'c3', pods: undefined },
        ],
      },
    ]);
  });

  it.each([
    { name: 'another Pod has its address', isLabelledOnly: false, also: 'new', reason: 'address-reused' },
    { name: 'only labelled Pods are read', isLabelledOnly: true, also: 'other', reason: 'deletion-overdue' },
  ])('counts no Pod that should be gone if $name', ({ isLabelledOnly, also, reason }) => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const c2 = remote('c2', 2);
    const late = pod('late', '10.2.0.9', { labels: { app: 'web' }, deletionTimestamp });
    const newer = pod(also, also === 'new' ? '10.2.0.9' : '10.2.0.8', { labels: {} });
    const objects = { ...c2.objects!, pods: [...c2.objects!.pods, late, newer] };
    const input = { ...inputOf(from(names('In', 'c2'))), isLabelledOnly, remotes: [{ ...c2, objects }] };
    const { rules, diagnostics } = checkOf(input);
    expect(rules[0]?.remotes).toEqual([{ cluster: 'c2', pods: ['beta/web'] }]);
    expect(diagnostics).toMatchObject([
      {
        kind: 'problem',
        reason,
        subject: 'Pod beta/late of c2',
        detail: expect.stringMatching(/^beta\/late should be gone /) as string,
      },
    ]);
    const inTime = { ...input, nowMs: Date.parse(deletionTimestamp) + 59_000 };
    expect(checkOf(inTime).rules[0]?.remotes[0]?.pods).toEqual(['beta/late', 'beta/web']);
    expect(checkOf(inTime).diagnostics).toEqual([]);
  });

  it('names local namespaces without the label, and those of a remote', () => {
    const local = [namespace('wrong', { [K]: 'c2' }), namespace('aaa'), namespace('right', { [K]: 'c1' })];
    const found = checkOf(inputOf(from({}), { local }));
    expect(found.unlabelled).toEqual(['aaa', 'alpha']);
    expect(found.diagnostics).toMatchObject([{ subject: 'namespace wrong', reason: 'local-namespace-of-remote' }]);
  });

  it('finds remotes by the labels that the config gives them', () => {
    const key = 'labels.policy.semaphore.uw.io/region';
    const input = inputOf(from({ ...names('Exists'), matchLabels: { [key]: 'eu' } }));
    const [c2, c3] = input.remotes;
    const remotes = [
      { ...c2!, labels: { [key]: 'eu' } },
      { ...c3!, labels: { [key]: 'us' } },
    ];
    expect(checkOf({ ...input, remotes }).rules[0]?.remotes).toEqual([{ cluster: 'c2', pods: ['beta/web'] }]);
  });

  it('skips companions', () => {
    const ours = { name: 'ours', labels: { 'policy.semaphore.uw.io/managed-by': 'semaphore-policy' } };
    const input = { ...inputOf({}), policies: [policy(from(names('In', 'c2')), ours)] };
    expect(checkOf(input).rules).toEqual([]);
  });
});
