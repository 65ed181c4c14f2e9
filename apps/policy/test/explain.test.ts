import { eventually } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { describe, expect } from 'vitest';
import { aMinuteAhead } from './support/clock.ts';
import type { PolicyFlags } from './support/command-line.ts';
import { Pods } from './support/pods.ts';
import { it as itOnClusters } from './support/it-with-network-policies.ts';
import { fromApp, peer } from './support/user-policies.ts';

const WEB = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };
const DB = { name: 'db', namespace: 'alpha', labels: { app: 'db' }, ips: ['10.2.0.10'] };
const LOCAL_WEB = { name: 'web', namespace: 'alpha', ips: ['10.2.0.11', 'fd00::11'] };
const WORDS = ['explain', 'c2/beta/pod/web', 'alpha/pod/db', '5432'];

/** Every Pod of its own namespace reaches the Pod. */
const fromNamespace = { podSelector: { matchLabels: { app: 'db' } }, ingress: [{ from: [{ podSelector: {} }] }] };

/** A test with a Pod on each side. */
const it = itOnClusters
  .extend('localPods', ({ local }, { onCleanup }) => {
    const pods = new Pods(local);
    onCleanup(() => pods.clear());
    return pods;
  })
  /** The controller's account may not read all of this: an administrator's may. */
  .extend('readers', { scope: 'file' }, async ({ clusters: { local, remote } }) => {
    const rules = [
      { apiGroups: [''], resources: ['pods', 'namespaces'], verbs: ['list'] },
      { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['list'] },
    ];
    const [here, there] = await Promise.all([local.account('reader', rules), remote.account('reader', rules)]);
    return { 'local-kube-config': here.kubeconfig, 'target-kube-config': there.kubeconfig };
  })
  .extend(
    'ask',
    ({ readers, ask }) =>
      (words: readonly string[], flags?: PolicyFlags, env?: Readonly<Record<string, string>>) =>
        ask(words, { ...readers, ...flags }, env),
  )
  .extend('ends', { auto: true }, async ({ pods, localPods }) => {
    await Promise.all([pods.add(WEB), localPods.add(DB)]);
  });

describe('explain', () => {
  it('names the rule on both sides that allows a flow, and its companion', async ({ policies, start, ask }) => {
    await policies.add('db', fromApp('c2'));
    await policies.add('deny', { podSelector: {}, policyTypes: ['Ingress'] });
    const before = await ask(WORDS);
    expect(before.stdout).toContain(
      [
        'c2/beta/web 10.4.0.20 -> local/alpha/db 10.2.0.10, 5432/TCP: denied',
        'out of c2: allowed: no NetworkPolicy selects the Pod for egress',
        'into local: denied: isolated by alpha/db, alpha/deny',
        '  alpha/db: rule 1, peer 1: it allows this, but has no companion for c2: is -network-policies on?',
        '  alpha/deny: it has no rule for ingress',
        '',
      ].join('\n'),
    );
    expect(before.code).toBe(1);
    await start();
    await policies.open('db c2 ingress 5432: 10.4.0.20/32');
    const { code, stdout } = await ask(WORDS, { 'local-cluster-name': 'c1' });
    expect(stdout).toContain('-> c1/alpha/db 10.2.0.10, 5432/TCP: allowed\n');
    expect(stdout).toContain(
      '\ninto c1: allowed by alpha/db, rule 1, peer 1\n  the Pod is isolated by alpha/db, alpha/deny\n  its companion ',
    );
    expect(stdout).toMatch(/^ {2}its companion alpha\/db-c2-ingress-\S+ has the address: generation 1 of 1$/m);
    expect(stdout).toMatch(/^not considered: other kinds of policies \(c1 has crd\.projectcalico\.org\), /m);
    expect(stdout).toContain('\nsemaphore explain also considers policies of crd.projectcalico.org\n');
    expect(code).toBe(0);
    const other = await ask([...WORDS.slice(0, 3), '5433/TCP'], { o: 'json' });
    expect(other.code).toBe(1);
    expect(JSON.parse(other.stdout)).toMatchObject({
      flows: [{ verdict: 'denied', sides: [{ allowed: true }, { misses: [{ networkPolicy: 'alpha/db' }, {}] }] }],
    });
  });

  it('asks the policies of the remote, too', async ({ remote, ask }) => {
    const path = '/apis/networking.k8s.io/v1/namespaces/beta/networkpolicies';
    const spec = { podSelector: {}, policyTypes: ['Egress'], egress: [{ to: [peer('c9')] }] };
    await remote.admin.create(path, { metadata: { name: 'out', namespace: 'beta' }, spec });
    try {
      const { code, stdout } = await ask(WORDS, { 'local-cluster-name': 'c1' });
      expect(stdout).toMatch(
        /^out of c2: denied: isolated by beta\/out\n {2}beta\/out: rule 1, peer 1: it names other clusters than c1$/m,
      );
      expect(code).toBe(1);
    } finally {
      await remote.admin.delete(`${path}/out`);
    }
  });

  it('takes workloads and addresses', async ({ localPods, ask }) => {
    const owner = (kind: string, name: string) => [{ apiVersion: 'apps/v1', kind, name, uid: 'u' }];
    await localPods.own('alpha/db', owner('ReplicaSet', 'db-5f6b7'));
    const outside = await ask(['explain', 'alpha/deployment/db', '10.9.0.1', '443']);
    expect(outside.stdout).toContain('local/alpha/db 10.2.0.10 -> 10.9.0.1, 443/TCP: allowed\nout of local: ');
    expect(outside.code).toBe(0);
    expect((await ask(['explain', 'namespace/alpha', 'c2/namespace/beta', '443'])).code).toBe(0);
    const none = await ask(['explain', 'alpha/statefulset/db', '10.9.0.1', '443']);
    expect(none.stdout).toContain('out of local: unknown: there is no such Pod\n');
    expect(none.code).toBe(3);
  });

  it('looks an address up', async ({ policies, pods, localPods, ask }) => {
    await policies.add('db', fromNamespace);
    await localPods.add(LOCAL_WEB);
    // Not the address of a Pod alone, or any more.
    await pods.add({ ...WEB, name: 'done', ips: ['10.4.0.30'], phase: 'Succeeded' });
    await pods.add({ ...WEB, name: 'node', ips: ['10.4.0.30'], hostNetwork: true });
    const flags = { 'allowed-pod-cidrs': '10.4.0.0/16' };
    const [here, there, nobody, outside] = await Promise.all(
      ['10.2.0.11', '10.4.0.20', '10.4.0.30', '10.9.0.1'].map((ip) => ask(['explain', ip, ...WORDS.slice(2)], flags)),
    );
    expect(here?.stdout).toContain(
      [
        'local/alpha/web 10.2.0.11 -> local/alpha/db 10.2.0.10, 5432/TCP: allowed',
        'out of local: allowed: no NetworkPolicy selects the Pod for egress',
        'into local: allowed by alpha/db, rule 1, peer 1',
        '',
      ].join('\n'),
    );
    expect(there?.stdout).toMatch(/^c2\/beta\/web 10\.4\.0\.20 -> local\/alpha\/db .*: denied\nout of c2: allowed: /m);
    expect(nobody?.stdout).toContain(
      [
        '10.4.0.30 -> local/alpha/db 10.2.0.10, 5432/TCP: denied',
        'into local: denied: isolated by alpha/db',
        '  alpha/db: rule 1, peer 1: it selects Pods, and 10.4.0.30 is no known Pod',
        '10.4.0.30 is in allowedPodCIDRs of c2, but no Pod there has it, so only the other side is asked',
        '',
      ].join('\n'),
    );
    expect(outside?.stdout).toContain('\n10.9.0.1 is no Pod of a known cluster, so only the other side is asked\n');
    expect([here?.code, there?.code, nobody?.code, outside?.code]).toEqual([0, 1, 1, 1]);
  });

  it('knows who has the address of a Pod of a lost node', async ({ policies, pods, ask }) => {
    const lost = { ...WEB, name: 'lost', ips: ['10.4.0.30'], nodeName: 'n1' };
    await pods.add(lost, { ...lost, name: 'other', namespace: 'gamma' });
    await policies.add('db', fromApp('c2'));
    await pods.lose('beta/lost');
    const words = (from: string) => ['explain', from, ...WORDS.slice(2)];
    const flags = { 'allowed-pod-cidrs': '10.4.0.0/16' };
    const why = /beta\/lost should be gone since \S+, and gamma\/other has its address 10\.4\.0\.30 now/;
    await eventually(async () => {
      const { stdout } = await ask(words('c2/beta/pod/lost'), flags, aMinuteAhead);
      return new RegExp(`it allows this, but not the address: ${why.source}\n[^]*\nnote: ${why.source}\n`).test(stdout);
    }, true);
    const { stdout } = await ask(words('10.4.0.30'), flags, aMinuteAhead);
    expect(stdout).toContain('c2/gamma/other 10.4.0.30 -> local/alpha/db ');
    expect(stdout).toMatch(new RegExp(`^note: ${why.source}$`, 'm'));
    const inTime = await ask(words('c2/beta/pod/lost'), flags);
    expect(inTime.stdout).not.toContain('should be gone');
  });

  it('looks an address of -local-cidrs up here, whatever a remote may have', async ({ pods, localPods, ask }) => {
    await Promise.all([localPods.add(LOCAL_WEB), pods.add({ ...WEB, name: 'other', ips: ['10.2.0.11'] })]);
    const words = ['explain', '10.2.0.11', ...WORDS.slice(2)];
    expect((await ask(words, { 'local-cidrs': '10.2.0.0/16' })).stdout).toContain('local/alpha/web 10.2.0.11 -> ');
    expect((await ask(words)).stdout).toContain('c2/beta/other 10.2.0.11 -> ');
  });

  it('does not take an address for one outside if the Pods are not listed', async ({ remote, ask }) => {
    const { kubeconfig } = await remote.account('policies-only', [
      { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['list'] },
    ]);
    const words = ['explain', 'alpha/pod/db', '10.4.0.20', '5432'];
    const { code, stdout } = await ask(words, { 'target-kube-config': kubeconfig });
    expect(stdout).toMatch(
      /\nout of local: unknown: the other end is not known\ninto c2: unknown: which Pod has 10\.4\.0\.20 is not known: .* is forbidden/,
    );
    expect(code).toBe(3);
  });

  it('counts every Pod of a workload, and names one for all that are alike', async ({ policies, pods, start, ask }) => {
    await pods.add({ ...WEB, name: 'web-2', ips: ['10.4.0.21'] }, { ...WEB, name: 'web-3', ips: ['10.5.0.22'] });
    await policies.add('db', fromApp('c2'));
    const flags = { 'allowed-pod-cidrs': '10.4.0.0/16' };
    await start(flags);
    await policies.open('db c2 ingress 5432: 10.4.0.20/32 10.4.0.21/32');
    const words = ['explain', 'c2/namespace/beta', 'alpha/pod/db', '5432'];
    const { code, stdout } = await ask(words, flags);
    expect(stdout).toContain('c2/beta/web 10.4.0.20 (and 1 more) -> local/alpha/db 10.2.0.10, 5432/TCP: allowed\n');
    expect(stdout).toContain('c2/beta/web-3 10.5.0.22 -> local/alpha/db 10.2.0.10, 5432/TCP: denied\n');
    expect(code).toBe(1);
    const json = await ask(words, { ...flags, o: 'json' });
    expect(JSON.parse(json.stdout)).toMatchObject({
      flows: [{ pods: { from: 2, to: 1 } }, { pods: { from: 1, to: 1 } }],
    });
  });

  it('knows -remote-pod-selector and -max-addresses-per-source', async ({ policies, pods, start, ask }) => {
    await pods.add({ ...WEB, name: 'shared', labels: { app: 'web', shared: 'yes' }, ips: ['10.4.0.21'] });
    await policies.add('db', fromApp('c2'));
    const flags = { 'remote-pod-selector': 'shared in (yes)', 'max-addresses-per-source': 1 };
    await start(flags);
    await policies.open('db c2 ingress 5432: 10.4.0.21/32');
    const excluded = await ask(WORDS, flags);
    expect(excluded.stdout).toContain(
      '\n  alpha/db: rule 1, peer 1: the Pod does not match -remote-pod-selector shared in (yes)\n',
    );
    const full = await ask(WORDS, { 'max-addresses-per-source': 1 });
    expect(full.stdout).toContain(
      ': it allows this, but gets no more addresses of other clusters: it has 1, and -max-addresses-per-source is 1\n',
    );
    const shared = await ask(['explain', 'c2/beta/pod/shared', ...WORDS.slice(2)], flags);
    expect([excluded.code, full.code, shared.code]).toEqual([1, 1, 0]);
  });

  it('does not know what a remote does not say', async ({ remote, accounts, ask }) => {
    await using proxy = await startFaultProxy(remote);
    await proxy.set({ kind: 'refuse' });
    const away = await ask(WORDS, { 'target-kube-config': await proxy.kubeconfig(accounts.remote) });
    expect(away.stdout).toMatch(
      /, 5432\/TCP: unknown\nout of c2: unknown: .+\ninto local: unknown: the other end is not known\n/,
    );
    const { kubeconfig } = await remote.account('pods-only', [
      { apiGroups: [''], resources: ['pods', 'namespaces'], verbs: ['list'] },
    ]);
    const forbidden = await ask(WORDS, { 'target-kube-config': kubeconfig });
    expect(forbidden.stdout).toMatch(/^out of c2: unknown: .*networkpolicies.* is forbidden/m);
    expect(forbidden.stdout).toMatch(/^into local: allowed: /m);
    expect([away.code, forbidden.code]).toEqual([3, 3]);
  });

  it('refuses words that it does not understand', async ({ ask }) => {
    const wrong = await ask(['explain', 'web', 'alpha/pod/db', 'http']);
    expect(wrong.stderr.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(/^semaphore-policy: "web" is not an address, /),
      expect.stringMatching(/^semaphore-policy: "http" is not a port, /),
    ]);
    const unknown = await ask(['explain', 'c9/beta/pod/web', 'alpha/pod/db', '80']);
    expect(unknown.stderr).toContain('c9 is not a remote in the config');
    const few = await ask(['explain', 'alpha/pod/db']);
    expect(few.stderr).toContain('explain needs <from> <to> <port>');
    const addresses = await ask(['explain', '10.0.0.1', '10.0.0.2', '80']);
    expect(addresses.stderr).toContain('10.0.0.1 and 10.0.0.2 are both addresses: name at least one end as a Pod');
    expect([wrong.code, unknown.code, few.code, addresses.code]).toEqual([2, 2, 2, 2]);
  });
});
