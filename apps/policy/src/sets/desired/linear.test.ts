import { type Diagnostic, DiagnosticRegister } from '@kube-semaphore/multicluster';
import type { Pod } from '@kube-semaphore/kube-objects';
import { superlinearAt } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { membershipOf, type MembershipRules } from './member.ts';

const rules: MembershipRules = {
  nameLabel: 'semaphore.uw.systems/name',
  addresses: { allowed: undefined, local: [] },
  intern: (text) => text,
};

const pod = ({
  ips = [],
  app = 'app',
  namespace = 'ns',
}: {
  ips?: readonly string[];
  app?: string;
  namespace?: string;
}): Pod => ({
  metadata: {
    name: 'pod-1',
    namespace,
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: 0,
    deletionTimestamp: 0,
    labels: { [rules.nameLabel]: app },
    annotations: {},
  },
  spec: { hostNetwork: false },
  status: { phase: 'Running', podIPs: ips.map((ip) => ({ ip })) },
});

const addresses = (bytes: number, prefix = ''): readonly string[] =>
  Array.from({ length: bytes / 16 }, (_, i) => `${prefix}10.${i >>> 16}.${(i >>> 8) & 255}.${i & 255}`);

it.each([
  { name: 'addresses', input: (bytes: number) => [pod({ ips: addresses(bytes) })] },
  { name: 'invalid addresses', input: (bytes: number) => [pod({ ips: addresses(bytes, '0') })] },
  ...['1', 'a', '.', ':', '1.', 'f:', '::', '-', 'a-', '\n'].map((unit) => ({
    name: `texts of ${JSON.stringify(unit)}`,
    input: (bytes: number) => {
      const text = unit.repeat(bytes / unit.length);
      return [pod({ ips: [text] }), pod({ app: text }), pod({ namespace: text })];
    },
  })),
])('a Pod with $name takes linear time, up to 1 MB', ({ input }) => {
  expect(superlinearAt({ input, work: (pods) => pods.map((one) => membershipOf(one, rules)) })).toBeUndefined();
});

it('what is skipped of one Pod takes linear time, up to 1 MB', () => {
  const input = (bytes: number): readonly Diagnostic[] =>
    addresses(bytes).map((detail) => ({ kind: 'problem', reason: 'bad-address', detail }));
  const work = (skipped: readonly Diagnostic[]): void => {
    const register = new DiagnosticRegister({ onCount: () => undefined, onNew: () => undefined });
    register.replace('pod', skipped);
    register.replace('pod', skipped);
  };
  expect(superlinearAt({ input, work })).toBeUndefined();
});
