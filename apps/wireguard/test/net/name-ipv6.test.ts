import { eventually } from '@kube-semaphore/eventually';
import { docBlocks, type RealCluster, startCoreDns } from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';
import { expect, onTestFinished } from 'vitest';
import { itWithAgents } from '../support/mesh-it.ts';
import { addService, clusterIpsOf, LOCAL_NAMES, startMirror } from '../support/mirrored-mesh.ts';

const families = ['ipv6'];

const it = itWithAgents
  .extend('realServers', { scope: 'file' }, () => ['c1'])
  .extend('ipv4', { scope: 'file' }, () => 'shared' as const)
  .extend('agentOptions', { scope: 'file' }, () => ({ remotes: { c1: { families }, c2: { families } } }));

/** The addresses that a DNS server has for a name, and what answers at port 80 of the first one. */
async function callByName(place: Place, server: string, name: string): Promise<unknown> {
  const script = `const [, server, name] = process.argv;
    const { Resolver } = require('node:dns/promises');
    const resolver = new Resolver();
    resolver.setServers([server]);
    const addresses = (type) => resolver.resolve(name, type).catch(({ code }) => code);
    (async () => {
      const [ipv4, ipv6] = [await addresses('A'), await addresses('AAAA')];
      const socket = require('node:net').connect(80, ipv6[0]).setEncoding('utf8');
      let answer = '';
      for await (const text of socket) answer += text;
      console.log(JSON.stringify({ ipv4, ipv6, answer }));
    })();`;
  return JSON.parse(await place.run(process.execPath, ['-e', script, server, name]));
}

it('carries a call by name between clusters with the same range of IPv4', async ({ mesh }) => {
  const [own, other] = [mesh.cluster('c1').nodes[0]!, mesh.cluster('c2').nodes[0]!];
  expect(own.podIps.v4).toBe(other.podIps.v4);
  await addService([other], { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] });
  await startMirror(mesh, own, { families });
  const [ipv6, ...more] = await clusterIpsOf(own.cluster.server, LOCAL_NAMES[0]);
  expect(more).toEqual([]);

  const [corefile] = docBlocks('service-mirror.md', 'Names in CoreDNS', '');
  const coreDns = await startCoreDns({
    cluster: own.cluster.server as RealCluster,
    node: own.machine,
    corefile: corefile!,
  });
  onTestFinished(() => coreDns.stop());
  const dns = `[${own.machine.ipv6}]`;
  await eventually(() => callByName(own.pod, dns, 'web.default.svc.cluster.c2').catch(String), {
    ipv4: 'ENODATA',
    ipv6: [ipv6],
    answer: 'c2-n1',
  });
});
