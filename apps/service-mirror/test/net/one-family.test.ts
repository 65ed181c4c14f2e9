import { eventually } from '@kube-semaphore/eventually';
import { node as nodeObject, startCoreDns, startKubeProxy } from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';
import { expect } from 'vitest';
import { documentedCorefile } from '../support/net/corefile.ts';
import { globalLabels, it as itOnNetwork } from '../support/net/it.ts';
import { ask, whoAnswers } from '../support/net/programs.ts';
import { type Machine, runPod } from '../support/net/workload.ts';

/** Nodes of two clusters, whose Pods have one range of IPv4, so the nodes have routes of IPv6 alone to each other's Pods. */
const it = itOnNetwork
  .extend('here', { scope: 'file' }, async ({ network, realClusters: { local } }): Promise<Machine> => {
    const node = await network.addNode('here');
    await node.forward(Number(new URL(local.url).port));
    await local.admin.create('/api/v1/nodes', nodeObject({ name: 'here', internalIPs: [node.ipv4, node.ipv6] }));
    return { cluster: local, node };
  })
  .extend('there', { scope: 'file' }, async ({ network, realClusters: { remote }, here }): Promise<Machine> => {
    const node = await network.addNode('there');
    await remote.admin.create('/api/v1/nodes', nodeObject({ name: 'there', internalIPs: [node.ipv4, node.ipv6] }));
    await here.node.run('ip', ['route', 'add', 'fd04::/32', 'via', node.ipv6]);
    await node.run('ip', ['route', 'add', 'fd03::/32', 'via', here.node.ipv6]);
    return { cluster: remote, node };
  })
  .extend('client', { scope: 'file' }, async ({ here }, { onCleanup }): Promise<Place> => {
    const kubeProxy = await startKubeProxy({ ...here, clusterCidr: '10.4.0.0/16,fd03::/32' });
    onCleanup(() => kubeProxy.stop());
    return here.node.addPod(['10.4.0.99', 'fd03::99']);
  })
  .extend('dns', { scope: 'file' }, async ({ network, realClusters: { local } }, { onCleanup }): Promise<Place> => {
    const node = await network.addNode('dns');
    await node.forward(Number(new URL(local.url).port));
    const coreDns = await startCoreDns({ cluster: local, node, corefile: documentedCorefile() });
    onCleanup(() => coreDns.stop());
    return node;
  });

const dualStack = { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] };

it('calls a Service of a cluster with the same range of IPv4 by its name, over IPv6 alone', async ({
  client,
  dns,
  here,
  there,
  sources,
  localSources,
  mirrors,
  startGlobal,
}) => {
  const selector = { app: 'web' };
  await runPod({ ...here, name: 'web-here', ips: ['10.4.0.1', 'fd03::1'], labels: selector });
  await runPod({ ...there, name: 'web-there', ips: ['10.4.0.1', 'fd04::1'], labels: selector });
  await sources.add({ name: 'web', selector, spec: dualStack });
  for (const each of [sources, localSources])
    await each.add({ name: 'shop', labels: globalLabels, selector, spec: dualStack });
  await startGlobal({ ofRemote: { families: ['ipv6'] } });
  const [mirror, global] = ['c2-default-73736d-web', 'gl-default-73736d-shop'];
  await mirrors.become({ [mirror!]: ['fd04::1'], [global!]: ['10.4.0.1', 'fd03::1', 'fd04::1'] });

  /** Who answers at the addresses that a name has in each family. */
  const answersTo = async (name: string) => {
    const addresses = async (type: 'A' | 'AAAA') =>
      (await ask(dns, name, type)).answers.map((record) => record.split(' ').at(-1)!);
    const [ipv4, ipv6] = [await addresses('A'), await addresses('AAAA')];
    const calls = (all: readonly string[]) => Promise.all(all.map((address) => whoAnswers(client, address, 80)));
    return { ipv4: await calls(ipv4), ipv6: await calls(ipv6) };
  };
  await eventually(() => answersTo('web.default.svc.cluster.c2'), { ipv4: [], ipv6: [['web-there']] });
  await eventually(() => answersTo('shop.default.svc.cluster.global'), {
    ipv4: [['web-here']],
    ipv6: [['web-here', 'web-there']],
  });
  expect((await mirrors.service(mirror!))['spec']).toMatchObject({ ipFamilies: ['IPv6'] });
});
