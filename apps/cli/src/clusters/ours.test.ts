import { Codec, type ClusterRoleBinding, clusterRoleBindingKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { type Claimant, sortOut } from './ours.ts';

const claim = (namespace: string, serviceAccountName?: string): Claimant => ({
  metadata: { namespace, name: 'x', labels: { app: 'semaphore-policy' } },
  spec: { serviceAccountName },
});

const binding = ({
  labels = {},
  roleRef = { kind: 'ClusterRole', name: 'any' },
  subject = {},
}: {
  readonly labels?: object;
  readonly roleRef?: object;
  readonly subject?: object;
}): ClusterRoleBinding =>
  new Codec(clusterRoleBindingKind).objectFromJson({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'b', labels },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...roleRef },
    subjects: [{ kind: 'ServiceAccount', name: 'account', namespace: 'elsewhere', ...subject }],
  });

const role = (name: string, kind = 'ClusterRole') => ({ roleRef: { kind, name } });
const ofOverlay = { 'semaphore.uw.io/account': 'semaphore-policy' };

const ours = (found: Claimant, ...bindings: readonly ClusterRoleBinding[]): boolean =>
  sortOut([found], { known: true, value: bindings }).ours.length === 1;

describe('a Pod with the label of an app', () => {
  it.each([
    { where: 'where deploy/ has semaphore-policy and semaphore-wireguard', pod: claim('kube-system'), bindings: [] },
    { where: 'where deploy/ has semaphore-service-mirror', pod: claim('sys-semaphore'), bindings: [] },
    {
      where: 'with an account that an overlay moved and renamed',
      pod: claim('elsewhere', 'account'),
      bindings: [binding({ subject: { name: 'other' } }), binding({ labels: ofOverlay })],
    },
    {
      where: 'with an account that manifests of a Go program gave the role of its app',
      pod: claim('elsewhere', 'account'),
      bindings: [binding(role('semaphore-policy'))],
    },
    {
      where: 'with the default account of its namespace',
      pod: claim('elsewhere'),
      bindings: [binding({ labels: ofOverlay, subject: { name: 'default' } })],
    },
  ])('is ours $where', ({ pod, bindings }) => {
    expect(ours(pod, ...bindings)).toBe(true);
  });

  it.each([
    { what: 'nothing else', bindings: [] },
    { what: 'a role of its own', bindings: [binding(role('view'))] },
    { what: 'the role that other clusters use', bindings: [binding(role('semaphore-policy-watcher'))] },
    { what: 'a role of that name in one namespace', bindings: [binding(role('semaphore-policy', 'Role'))] },
    {
      what: 'the account of another app',
      bindings: [
        binding(role('semaphore-wireguard')),
        binding({ labels: { 'semaphore.uw.io/account': 'semaphore-wireguard' } }),
      ],
    },
    { what: 'another account of our namespace', bindings: [binding({ labels: ofOverlay, subject: { name: 'a' } })] },
    {
      what: 'the name of our account in another namespace',
      bindings: [binding({ labels: ofOverlay, subject: { namespace: 'kube-system' } })],
    },
    {
      what: 'the name of a user who has our role',
      bindings: [binding({ labels: ofOverlay, subject: { kind: 'User' } })],
    },
  ])('is not ours with $what', ({ bindings }) => {
    expect(ours(claim('elsewhere', 'account'), ...bindings)).toBe(false);
  });

  it('is skipped, as one line says, with a few others by name, in one line, whatever the names are', () => {
    const names = ['d', 'c', 'b\u001b[2J', 'a'.repeat(100)];
    const pods = names.map((name) => ({ ...claim('t'), metadata: { ...claim('t').metadata, name } }));
    expect(sortOut([claim('kube-system'), ...pods], { known: true, value: [] })).toEqual({
      ours: [claim('kube-system')],
      skipped:
        `these Pods have the label of an app, but are not ours: "t/${'a'.repeat(62)}"…, "t/b\\u001b[2J", "t/c" and 1 more. ` +
        'They are skipped.',
    });
  });

  it('is skipped elsewhere if bindings can not be read, and those of deploy/ are not', () => {
    const found = [claim('kube-system'), claim('elsewhere', 'account')];
    expect(sortOut(found, { known: false, why: 'c1: the user "joe" lacks a right' })).toEqual({
      ours: [claim('kube-system')],
      skipped:
        'these Pods have the label of an app, but nothing shows that they are ours: "elsewhere/x". ' +
        'They are skipped: c1: the user "joe" lacks a right',
    });
  });
});
