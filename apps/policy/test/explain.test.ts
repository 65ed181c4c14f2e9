import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { describe, expect } from 'vitest';
import type { PolicyFlags } from './support/command-line.ts';
import { Pods } from './support/pods.ts';
import { it as itOnClusters } from './support/it-with-network-policies.ts';
import { fromApp, peer } from './support/user-policies.ts';

const WEB = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };
const DB = { name: 'db', namespace: 'alpha', labels: { app: 'db' }, ips: ['10.2.0.10'] };
const WORDS = ['explain', 'c2/beta/pod/web', 'alpha/pod/db', '5432'];

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
      (words: readonly string[], flags?: PolicyFlags) =>
        ask(words, { ...readers, ...flags }),
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
    expect(stdout).toMatch(
      /^into c1: allowed by alpha\/db, rule 1, peer 1\n {2}the Pod is isolated by alpha\/db, alpha\/deny\n {2}its companion alpha\/db-c2-ingress-\S+ has the address: generation 1 of 1$/m,
    );
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
    expect((await ask(['explain', 'alpha/deployment/db', '10.9.0.1', '443'])).stdout).toContain(
      'local/alpha/db 10.2.0.10 -> 10.9.0.1, ',
    );
    expect((await ask(['explain', 'namespace/alpha', 'c2/namespace/beta', '443'])).code).toBe(0);
    const none = await ask(['explain', 'alpha/statefulset/db', '10.9.0.1', '443']);
    expect(none.stdout).toContain('out of local: unknown: there is no such Pod\n');
    expect(none.code).toBe(3);
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
    expect([wrong.code, unknown.code, few.code]).toEqual([2, 2, 2]);
  });
});
