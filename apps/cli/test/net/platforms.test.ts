import { eventually } from '@kube-semaphore/eventually';
import { startCoreDns } from '@kube-semaphore/testkit';
import { type NetworkNode, startNetwork } from '@kube-semaphore/testnet';
import { onTestFinished, test } from 'vitest';
import { ownCorefile } from '../../src/corefile/edit.ts';
import type { DnsConfig } from '../../src/dns/config.ts';
import { edited, editsWith, sentZones } from '../../src/dns/edits.ts';
import { aks, corefiles, k3s, nodeLocal, openShift } from '../support/corefiles.ts';
import { dnsConfig } from '../support/dns-config.ts';
import { answersOf, startMirrors } from '../support/mirrors.ts';

/** `dns` has the cluster's DNS server, `node` a cache and Pods, `own` our own CoreDNS. */
const it = test
  .extend('network', { scope: 'file' }, () => startNetwork(['dns', 'node', 'own']))
  .extend('lab', { scope: 'file' }, async ({ network }, { onCleanup }) => {
    const cluster = await startMirrors();
    onCleanup(async () => void (await Promise.all([network.stop(), cluster.stop()])));
    const [dns, node, own] = [network.node('dns'), network.node('node'), network.node('own')];
    await dns.forward(Number(new URL(cluster.url).port));
    await node.run('ip', ['-batch', '-'], {
      input: 'address add 169.254.20.10/32 dev lo\naddress add 10.96.0.10/32 dev lo\n',
    });
    /** Starts CoreDNS, which ends with the test at the latest. */
    const start = async (on: NetworkNode, corefile: string, resolver?: string) => {
      const coreDns = await startCoreDns({
        cluster,
        node: on,
        corefile,
        ...(resolver === undefined ? {} : { resolver }),
      });
      onTestFinished(() => coreDns.stop());
      return coreDns;
    };
    return { dns, node, own, start };
  });

const wanted = { remotes: ['c2'], mcs: false };
const cache = { configMap: 'kube-system/node-local-dns', text: nodeLocal };

function linked(config: DnsConfig, names = wanted): DnsConfig {
  const edits = editsWith(config, names);
  if (!edits.ok) throw new Error(edits.reason);
  return edited(config, edits.value);
}

const NAME = 'web.shop.svc.cluster.c2';
const resolved = {
  [NAME]: '10.96.7.1',
  'db-0.db.shop.svc.cluster.c2': '10.4.0.1',
  'other.shop.svc.cluster.c2': 'ENOTFOUND',
  'web.shop.svc.cluster.global': '10.96.8.1',
  'own.default.svc.cluster.local': '10.96.7.9',
};

/** As node-cache fills in the addresses of its upstreams. */
const filled = (text: string, server: string): string =>
  text.replaceAll('__PILLAR__CLUSTER__DNS__', server).replaceAll('__PILLAR__UPSTREAM__SERVERS__', '/etc/resolv.conf');

it('resolves names behind NodeLocal DNSCache once that sends them to the DNS server of the cluster', async ({
  lab,
}) => {
  const { dns, node, start } = lab;
  const after = linked(dnsConfig(corefiles.kubeadm, { nodeCache: cache }));
  await start(dns, after.corefile!.text);
  const before = await start(node, filled(nodeLocal, dns.ipv4));
  await eventually(() => answersOf(node, [NAME], '169.254.20.10'), { [NAME]: 'ESERVFAIL' });
  await before.stop();
  await start(node, filled(after.nodeCache!.text, dns.ipv4));
  for (const server of ['169.254.20.10', '10.96.0.10'])
    await eventually(() => answersOf(node, Object.keys(resolved), server), resolved);
});

it.for([
  ['k3s', k3s],
  ['AKS', aks],
] as const)(
  'resolves names by a file that the Corefile of %s imports, as soon as it is there',
  async ([, corefile], { lab }) => {
    const { dns, start } = lab;
    const folder = '/run/custom';
    await dns.run('sh', ['-c', `rm -rf ${folder} && mkdir ${folder}`]);
    // /etc is that of the machine.
    await start(dns, corefile.replaceAll(/(?:\/etc\/coredns\/)?custom/g, folder));
    await eventually(() => answersOf(dns, ['own.default.svc.cluster.local', NAME]), {
      'own.default.svc.cluster.local': '10.96.7.9',
      [NAME]: 'ESERVFAIL',
    });
    for (const [file, text] of linked(dnsConfig(corefile)).custom!)
      await dns.run('tee', [`${folder}/${file}`], { input: text });
    // Answers are in its cache for 30 s, but the reload empties that.
    await eventually(() => answersOf(dns, Object.keys(resolved)), resolved);
  },
);

it.for([
  {
    name: "OpenShift's",
    // Its Service leads port 53 to 5353.
    corefileFor: (zones: readonly string[], address: string) =>
      openShift(zones.map((zone) => `${zone}:53`).join(' '), [address], 53),
  },
  {
    name: 'one that has stub domains',
    corefileFor: (zones: readonly string[], address: string) =>
      corefiles.kubeadm + zones.map((zone) => `${zone}:53 {\n    forward . ${address}\n}\n`).join(''),
  },
])('resolves names by our own CoreDNS, to which the DNS server sends them: $name', async ({ corefileFor }, { lab }) => {
  const { dns, own, start } = lab;
  const names = { ...wanted, mcs: true };
  await start(dns, corefileFor(sentZones(names), `${own.ipv4}:5353`));
  await start(own, ownCorefile(names), dns.ipv4);
  const all = { ...resolved, 'web.shop.svc.clusterset.local': '10.96.9.1' };
  await eventually(() => answersOf(dns, Object.keys(all)), all);
});

it('resolves names by the stub domains of kube-dns that NodeLocal DNSCache takes for its own', async ({ lab }) => {
  const { dns, node, own, start } = lab;
  const config = linked(
    dnsConfig(undefined, { hasKubeDns: true, nodeCache: cache, ownAddresses: [`${own.ipv4}:5353`] }),
  );
  await start(dns, corefiles.kubeadm);
  await start(own, ownCorefile(wanted), dns.ipv4);
  // As updateCorefile of cmd/node-cache/app/configmap.go adds them.
  const stubs = Object.entries(JSON.parse(config.stubDomains!) as Record<string, string[]>).map(
    ([zone, servers]) => `${zone}:53 {
    errors
    cache 30
    bind 169.254.20.10 10.96.0.10
    forward . ${servers.join(' ')}
}
`,
  );
  await start(node, filled(nodeLocal, dns.ipv4) + stubs.join(''));
  await eventually(() => answersOf(node, Object.keys(resolved), '169.254.20.10'), resolved);
});
