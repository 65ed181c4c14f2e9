import { describe, expect, it } from 'vitest';
import { kubeconfigOf, startApiServer } from './support/api-server.ts';
import { policyPage } from './support/pages.ts';
import { run } from './support/run.ts';

const pod = { app: 'semaphore-policy', name: 'policy-0' };
const lastError = { time: '2026-01-01T00:00:00.000Z', message: 'refused \u001b[2J' };

/** A kubeconfig of a cluster whose policy doesn't reach c2 when it is asked for the first time, or the first few times. */
async function lost(times: number): Promise<string> {
  let asked = 0;
  const status = (): string => policyPage((asked += 1) > times ? {} : { up: false, lastError });
  return kubeconfigOf({ c1: await startApiServer({ pods: [{ ...pod, status }] }) }, 'c1');
}

describe('check', () => {
  it('prints a line for each check, what to do after a problem, and ends with 1', async () => {
    const { code, stdout, stderr } = await run('check', '--kubeconfig', await lost(Infinity));
    expect([code, stderr]).toEqual([1, '']);
    const lines = stdout.split('\n');
    expect(lines).toContain('✓ one-leader');
    expect(lines).toContain('- handshakes');
    const at = lines.findIndex((line) => line.startsWith('✗'));
    expect(lines.slice(at, at + 2)).toEqual([
      '✗ remotes-reached: c2 is not reached: from c1 (policy), since 2026-01-01T00:00:00.000Z: refused \\u001b[2J',
      "  check the remote's API server, the network to it, and the token: docs/check.md#remotes-reached",
    ]);
  });

  it("reads the network's own objects, and names what replaces the addresses of Pods", async () => {
    const containers = [{ command: ['/opt/bin/flanneld'], args: ['--ip-masq', '--kube-subnet-mgr'] }];
    const volumes = [{ hostPath: { path: '/run/flannel' } }, { configMap: { name: 'kube-flannel-cfg' } }];
    const flannel = {
      metadata: { namespace: 'kube-flannel', name: 'kube-flannel-ds' },
      spec: { template: { spec: { containers, volumes } } },
    };
    const path = '/api/v1/namespaces/kube-flannel/configmaps/kube-flannel-cfg';
    const detailOf = async (network: string): Promise<unknown> => {
      const objects = {
        '/apis/apps/v1/namespaces/kube-flannel/daemonsets': { items: [flannel] },
        [path]: { metadata: {}, data: { 'net-conf.json': JSON.stringify({ Network: network }) } },
      };
      const server = await startApiServer({ pods: [{ ...pod, status: policyPage }], objects });
      const { stdout } = await run('check', '--kubeconfig', await kubeconfigOf({ c1: server }, 'c1'));
      return stdout.split('\n').find((line) => line.includes('sources-kept'));
    };
    expect(await detailOf('10.244.0.0/16')).toBe(
      '✗ sources-kept: c1: flannel replaces the address of Pods in packets to 10.4.0.0/16 of c2: ' +
        "Network in net-conf.json of the ConfigMap kube-flannel/kube-flannel-cfg doesn't have it",
    );
    expect(await detailOf('10.0.0.0/8')).toBe('✓ sources-kept');
  });

  it('says which names DNS answers otherwise to the Pod that asked, in foreign words that steer no terminal', async () => {
    const names = [
      { remote: 'c2', name: 'web.shop.svc.cluster.c2', address: '10.96.0.3', error: 'ESERVFAIL \u001b[2J' },
    ];
    const status = (): string => JSON.stringify({ ...(JSON.parse(policyPage()) as object), names });
    const server = await startApiServer({ pods: [{ app: 'semaphore-service-mirror', name: 'mirror-0', status }] });
    const { code, stdout } = await run('check', '--kubeconfig', await kubeconfigOf({ c1: server }, 'c1'));
    expect(code).toBe(1);
    const lines = stdout.split('\n');
    const at = lines.findIndex((line) => line.includes('names-resolved'));
    expect(lines.slice(at, at + 2)).toEqual([
      "✗ names-resolved: names of c2 don't resolve: in c1 (service-mirror): on node n1, " +
        'DNS says SERVFAIL \\u001b[2J for web.shop.svc.cluster.c2, not 10.96.0.3',
      '  wait half a minute; then look at what Pods of this node ask, such as NodeLocal DNSCache: docs/check.md#names-resolved',
    ]);
  });

  it('waits until there is no problem', async () => {
    const { code, stdout } = await run('check', '--kubeconfig', await lost(1), '--wait', '5m', '-o', 'json');
    expect(code).toBe(0);
    const reached = { name: 'remotes-reached', result: 'ok', findings: [] };
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: '1',
      ok: true,
      checks: expect.arrayContaining([expect.objectContaining(reached) as unknown]) as unknown,
    });
  });

  it('ends with 1 when the time is over', async () => {
    expect(await run('check', '--kubeconfig', await lost(Infinity), '--wait', '1s')).toMatchObject({ code: 1 });
  });

  it('ends with 2 if --wait is not a duration', async () => {
    expect(await run('check', '--wait', 'long')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('use a number with s, m or h, such as 5m') as unknown,
    });
  });
});
