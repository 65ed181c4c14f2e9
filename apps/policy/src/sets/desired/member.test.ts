import { type Pod, podIPsAnnotation } from '@kube-semaphore/kube-objects';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mustParseCidr } from '@kube-semaphore/net';
import { isSameMember, type Member, membershipOf, type MembershipRules } from './member.ts';

const rules: MembershipRules = {
  nameLabel: 'semaphore.uw.systems/name',
  addresses: {
    allowed: [mustParseCidr('10.0.0.0/8'), mustParseCidr('fd00::/8')],
    local: [mustParseCidr('10.2.0.0/16')],
  },
  intern: (text) => text,
};

type PodParts = {
  namespace?: string;
  app?: string;
  phase?: string;
  hostNetwork?: boolean;
  ips?: readonly string[];
  annotations?: Readonly<Record<string, string>>;
};

function pod(parts: PodParts): Pod {
  const { namespace = 'ns', app = 'app', phase = 'Running', hostNetwork = false, ips = ['10.4.1.38'] } = parts;
  const { annotations = {} } = parts;
  const labels = { 'app.kubernetes.io/name': 'web', [rules.nameLabel]: app };
  const times = { creationTimestamp: 0, deletionTimestamp: 0 };
  return {
    metadata: { name: 'pod-1', namespace, uid: 'u1', resourceVersion: '7', ...times, labels, annotations },
    spec: { hostNetwork },
    status: { phase, podIPs: ips.map((ip) => ({ ip })) },
  };
}

const member: Member = {
  uid: 'u1',
  namespace: 'ns',
  name: 'pod-1',
  app: 'app',
  ips: ['10.4.1.38'],
  hostNetwork: false,
};

describe('membershipOf', () => {
  it.each<{ name: string; of: PodParts; want: Member }>([
    { name: 'accepts a running Pod', of: {}, want: member },
    { name: 'accepts a starting Pod with an address', of: { phase: 'Pending' }, want: member },
    { name: 'accepts a Pod on an unknown node', of: { phase: 'Unknown' }, want: member },
    {
      name: 'accepts every family (Go used the first address, as /32)',
      of: { ips: ['10.4.1.38', 'FD00:0::26'] },
      want: { ...member, ips: ['10.4.1.38', 'fd00::26'] },
    },
    {
      name: 'accepts a label that is not a valid object name',
      of: { app: 'My_App' },
      want: { ...member, app: 'My_App' },
    },
    { name: 'accepts an empty label', of: { app: '' }, want: { ...member, app: '' } },
    {
      name: 'accepts a Pod that Calico gave an address',
      of: { annotations: { [podIPsAnnotation]: '10.4.1.38/32' } },
      want: member,
    },
    { name: "marks a Pod on its node's network", of: { hostNetwork: true }, want: { ...member, hostNetwork: true } },
  ])('$name', ({ of, want }) => {
    expect(membershipOf(pod(of), rules)).toEqual({ member: want, skipped: [] });
  });

  it.each<{ name: string; of: PodParts; want: readonly string[] }>([
    {
      name: 'skips a Pod that succeeded (Go kept its address)',
      of: { phase: 'Succeeded' },
      want: ['expected finished'],
    },
    { name: 'skips a Pod that failed (Go kept its address)', of: { phase: 'Failed' }, want: ['expected finished'] },
    {
      name: 'skips a Pod whose address Calico took back',
      of: { annotations: { [podIPsAnnotation]: '' } },
      want: ['expected address-released'],
    },
    { name: 'skips a Pod without an address', of: { ips: [] }, want: ['expected no-address'] },
    { name: 'skips a Pod without a valid address', of: { ips: ['10.4.1.999'] }, want: ['problem bad-address'] },
    { name: 'skips a label of 64 characters', of: { app: 'a'.repeat(64) }, want: ['problem bad-label'] },
    { name: 'skips an invalid label value', of: { app: '../x' }, want: ['problem bad-label'] },
    { name: 'skips an invalid namespace', of: { namespace: 'Ns' }, want: ['problem bad-namespace'] },
    {
      name: 'skips an address that is not allowed',
      of: { ips: ['192.168.0.1'] },
      want: ['problem address-not-allowed'],
    },
    { name: 'skips an address of the local cluster', of: { ips: ['10.2.0.1'] }, want: ['problem address-not-allowed'] },
    {
      name: 'skips the address of a node that is not allowed, as expected',
      of: { ips: ['192.168.0.1'], hostNetwork: true },
      want: ['expected address-not-allowed'],
    },
  ])('$name', ({ of, want }) => {
    const { member: none, skipped } = membershipOf(pod(of), rules);
    expect(none).toBe(undefined);
    expect(skipped.map(({ kind, reason }) => `${kind} ${reason}`)).toEqual(want);
  });

  it.each([
    '127.0.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '224.0.1.1',
    '255.255.255.255',
    '::a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    'fd00:ec2::254',
    'ff05::1',
  ])('never accepts %s, in the network of a Pod or of its node', (ip) => {
    for (const hostNetwork of [false, true]) {
      const { member: taken, skipped } = membershipOf(pod({ ips: [ip, '10.4.1.38'], hostNetwork }), rules);
      expect(taken?.ips).toEqual(['10.4.1.38']);
      expect(skipped).toMatchObject([{ kind: 'problem', reason: 'bad-address' }]);
    }
  });

  it('accepts a reserved address only if a block with it is allowed', () => {
    const named = { ...rules, addresses: { allowed: [mustParseCidr('240.4.0.0/16')], local: [] } };
    expect(membershipOf(pod({ ips: ['240.4.0.1'] }), rules).skipped).toMatchObject([
      { kind: 'problem', reason: 'address-not-allowed' },
    ]);
    expect(membershipOf(pod({ ips: ['240.4.0.1'] }), named).member?.ips).toEqual(['240.4.0.1']);
  });

  it('accepts the valid addresses of a Pod with invalid ones', () => {
    expect(membershipOf(pod({ ips: ['x', '10.4.1.38', '192.168.0.1'] }), rules)).toEqual({
      member,
      skipped: [
        { kind: 'problem', reason: 'bad-address', detail: '"x" is not a valid IP address' },
        { kind: 'problem', reason: 'address-not-allowed', detail: '192.168.0.1 is outside of allowedPodCIDRs' },
      ],
    });
  });

  it('reports nothing about a Pod without the label', () => {
    const { metadata, ...rest } = pod({});
    expect(membershipOf({ ...rest, metadata: { ...metadata, labels: {} } }, rules)).toEqual({
      member: undefined,
      skipped: [],
    });
  });

  it('repeats only an excerpt of what the remote wrote', () => {
    const { skipped } = membershipOf(pod({ app: 'x\n'.repeat(1_000_000) }), rules);
    expect(skipped[0]?.detail.length).toBeLessThan(200);
    expect(skipped[0]?.detail).not.toContain('\n');
  });

  it('never throws, with any input', () => {
    const anyPart = { namespace: fc.string(), app: fc.string(), phase: fc.string(), ips: fc.array(fc.string()) };
    fc.assert(
      fc.property(fc.record(anyPart, { requiredKeys: [] }), (parts) => {
        expect(() => membershipOf(pod(parts), rules)).not.toThrow();
      }),
    );
  });
});

describe('isSameMember', () => {
  it.each([
    { name: 'is true for equal addresses', other: { ...member, ips: ['10.4.1.38'] }, want: true },
    { name: 'sees a new address', other: { ...member, ips: ['10.4.1.39'] }, want: false },
    { name: 'sees a second address', other: { ...member, ips: ['10.4.1.38', 'fd00::26'] }, want: false },
    { name: 'sees a changed label (Go did not)', other: { ...member, app: 'other' }, want: false },
    { name: 'sees the network change', other: { ...member, hostNetwork: true }, want: false },
  ])('$name', ({ other, want }) => {
    expect(isSameMember(member, other)).toBe(want);
  });
});

describe('membershipOf with families', () => {
  const addresses = {
    families: [6],
    allowed: [mustParseCidr('fd00::/8')],
    local: [mustParseCidr('10.4.0.0/16')],
  } as const;

  it.each([
    { name: 'has only their addresses', ips: ['10.4.1.38', 'fd00::26'], want: ['fd00::26'], reasons: [] },
    {
      name: 'is none without such an address',
      ips: ['10.4.1.38'],
      want: undefined,
      reasons: ['expected other-family'],
    },
    {
      name: 'still checks them',
      ips: ['10.4.1.38', 'fc00::26'],
      want: undefined,
      reasons: ['problem address-not-allowed'],
    },
  ])('a member $name', ({ ips, want, reasons }) => {
    const { member: read, skipped } = membershipOf(pod({ ips }), { ...rules, addresses });
    expect(read?.ips).toEqual(want);
    expect(skipped.map(({ kind, reason }) => `${kind} ${reason}`)).toEqual(reasons);
  });
});
