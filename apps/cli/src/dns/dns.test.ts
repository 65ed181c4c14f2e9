import { docBlocks } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { corefiles, k3s, nodeLocal, openShift } from '../../test/support/corefiles.ts';
import { dnsConfig } from '../../test/support/dns-config.ts';
import { ownCorefile } from '../corefile/edit.ts';
import type { Wanted } from '../corefile/rules.ts';
import { faultOf, importsFault, sampleOf } from '../corefile/faults.ts';
import { byHand } from './by-hand.ts';
import { type DnsConfig, dnsKindOf, serversOf } from './config.ts';
import { type DnsEdit, edited, editsWith, editsWithout, sentZones } from './edits.ts';

const { kubeadm } = corefiles;
const wanted: Wanted = { remotes: ['c2', 'c3'] };
const own = { own: ownCorefile(wanted), ownAddresses: ['10.96.0.53'] };
const kubeDns = { ...own, hasKubeDns: true };
const all = { removed: ['c2', 'c3'], remaining: [] };

function editsOf(edits: ReturnType<typeof editsWith>): readonly DnsEdit[] {
  if (!edits.ok) throw new Error(edits.reason);
  return edits.value;
}

const linked = (config: DnsConfig, names = wanted): DnsConfig => edited(config, editsOf(editsWith(config, names)));

/** Why names of c2 don't resolve. */
function faultIn(config: DnsConfig, name = 'c2'): string | undefined {
  const servers = serversOf(config);
  if (!servers.ok) return servers.reason;
  return faultOf(servers.value, sampleOf({ name, prefix: name }))?.sentence;
}

const cache = { configMap: 'kube-system/node-local-dns', text: nodeLocal };
const platforms: Readonly<Record<string, DnsConfig>> = {
  'CoreDNS, as kubeadm has it': dnsConfig(kubeadm),
  'CoreDNS with files of its own, as k3s has it': dnsConfig(k3s),
  'the same, with a file of somebody else': dnsConfig(k3s, {
    custom: new Map([['corp.server', 'corp.example:53 {\n    forward . 192.0.2.1\n}\n']]),
  }),
  'NodeLocal DNSCache before CoreDNS': dnsConfig(kubeadm, { nodeCache: cache }),
  'NodeLocal DNSCache of kubespray': dnsConfig(kubeadm, {
    nodeCache: { ...cache, configMap: 'kube-system/nodelocaldns' },
  }),
  'NodeLocal DNSCache that sends all to CoreDNS': dnsConfig(kubeadm, {
    nodeCache: { ...cache, text: '.:53 {\n    forward . __PILLAR__CLUSTER__DNS__\n}\n' },
  }),
  'NodeLocal DNSCache before k3s': dnsConfig(k3s, { nodeCache: cache }),
  'kube-dns': dnsConfig(undefined, { ...kubeDns, stubDomains: '{"corp.example":["192.0.2.1"]}' }),
  'NodeLocal DNSCache before kube-dns': dnsConfig(undefined, { ...kubeDns, nodeCache: cache }),
};

describe('the names of remotes', () => {
  it('of ServiceImports are sent to CoreDNS by a cache, too', () => {
    const config = dnsConfig(kubeadm, { nodeCache: cache });
    const after = linked(config, { remotes: ['c2'], mcs: true });
    expect(after.nodeCache?.text).toContain('\nsvc.cluster.c2:53 svc.clusterset.local:53 svc.cluster.global:53 {\n');
    const servers = serversOf(after);
    expect(servers.ok && importsFault(servers.value)).toBeUndefined();
    const before = serversOf({ ...after, nodeCache: cache });
    expect(before.ok && importsFault(before.value)).toBe(
      'NodeLocal DNSCache sends clusterset.local elsewhere than to the DNS server of the cluster',
    );
  });

  it.each(Object.entries(platforms))('resolve after a link, stay after another one, and go: %s', (_, config) => {
    expect(faultIn(config)).toBeDefined();
    const after = linked(config);
    for (const name of ['c2', 'c3']) expect(faultIn(after, name)).toBeUndefined();
    expect(editsWith(after, wanted)).toEqual({ ok: true, value: [] });
    const left = edited(after, editsOf(editsWithout(after, { removed: ['c3'], remaining: ['c2'] })));
    expect(faultIn(left)).toBeUndefined();
    expect(faultIn(left, 'c3')).toBeDefined();
    const gone = edited(after, editsOf(editsWithout(after, all)));
    expect({ ...gone, custom: gone.custom ?? new Map() }).toEqual({
      ...config,
      custom: config.custom ?? new Map(),
      stubDomains: config.stubDomains ?? gone.stubDomains,
    });
  });

  it('leave the Corefile of CoreDNS when they move to a file that it imports', () => {
    const before = linked(dnsConfig(k3s.replaceAll(/^ *import .*\n/gm, '')));
    const moved = dnsConfig(before.corefile!.text.replace(/\}\n$/, '}\nimport custom/*.server\n'));
    const after = linked(moved);
    expect(after.corefile!.text).not.toContain('73736d');
    expect(faultIn(after)).toBeUndefined();
  });

  it.each([
    {
      name: 'a cache that sends them elsewhere',
      config: { ...linked(dnsConfig(kubeadm)), nodeCache: cache },
      want:
        'the server block ".:53" of NodeLocal DNSCache sends NAME to "__PILLAR__UPSTREAM__SERVERS__", ' +
        'not to the DNS server of the cluster',
    },
    {
      name: 'CoreDNS behind a cache',
      config: { ...linked(dnsConfig(kubeadm, { nodeCache: cache })), corefile: dnsConfig(kubeadm).corefile },
      want: 'the server block ".:53" gets NAME, and has no rule for it',
    },
    {
      name: 'kube-dns',
      config: dnsConfig(undefined, { ...kubeDns, stubDomains: '{"svc.cluster.c3": ["10.96.0.53"]}' }),
      want: 'kube-dns has no stub domain for NAME',
    },
    {
      name: 'a stub domain that leads nowhere',
      config: dnsConfig(undefined, { ...kubeDns, stubDomains: '{"svc.cluster.c2": ["10.96.0.54"]}' }),
      want: 'kube-dns has no stub domain for NAME',
    },
    {
      name: 'our own CoreDNS',
      config: linked(dnsConfig(undefined, { ...kubeDns, own: ownCorefile({ remotes: ['c3'] }) })),
      want: 'no server block of the Corefile of semaphore-dns gets NAME',
    },
    {
      name: 'OpenShift',
      config: dnsConfig(undefined, { ...own, openShift: openShift() }),
      want: 'the server block ".:5353" of OpenShift gets NAME, and has no rule for it',
    },
  ])('do not resolve, and it says at which server: $name', ({ config, want }) => {
    expect(faultIn(config)).toBe(want.replace('NAME', '"service.namespace.svc.cluster.c2"'));
  });

  it('resolve where the DNS server was told by hand to send them to our own CoreDNS', () => {
    const zones = sentZones(wanted).map((zone) => `${zone}:5353`);
    const config = dnsConfig(undefined, { ...own, openShift: openShift(zones.join(' '), ['10.96.0.53']) });
    expect(dnsKindOf(config)).toBe('OpenShift');
    expect(faultIn(config)).toBeUndefined();
    expect(byHand(config, wanted)).toBeUndefined();
  });

  it('say what is left to do where the DNS server is not ours to change', () => {
    const openShifts = dnsConfig(undefined, { ...own, openShift: openShift() });
    const servers =
      '{"name":"semaphore","zones":["svc.cluster.c2","svc.cluster.c3","svc.cluster.global"],"forwardPlugin":{"upstreams":["10.96.0.53"]}}';
    expect(byHand(openShifts, wanted)).toBe(`add to spec.servers of dns.operator/default: ${servers}`);
    const unknown = dnsConfig(undefined);
    expect(byHand(unknown, { remotes: ['c2'], mcs: true })).toBe(
      'let the DNS server of the cluster send svc.cluster.c2, svc.cluster.global, svc.clusterset.local to ADDRESS, ' +
        'where ADDRESS is that of the Service sys-semaphore/semaphore-dns: docs/dns.md',
    );
    expect(serversOf(unknown)).toEqual({ ok: true, value: [] });
  });
});

it.each([
  {
    name: 'another server block in a file that has a zone of ours',
    config: dnsConfig(k3s, { custom: new Map([['x.server', 'svc.cluster.c2:53 {\n    whoami\n}\n']]) }),
    want:
      'ConfigMap kube-system/coredns: the server block "svc.cluster.c2:53" has the same zone as our rules, ' +
      'and no "kubernetes" for the cluster',
  },
  {
    name: 'a cache without a server block for the cluster',
    config: dnsConfig(kubeadm, { nodeCache: { ...cache, text: 'example:53 {\n    forward . 192.0.2.1\n}\n' } }),
    want: 'ConfigMap kube-system/node-local-dns: no server block gets names in cluster.local.',
  },
  {
    name: 'a cache that asks another server for the names of the cluster',
    config: dnsConfig(kubeadm, {
      nodeCache: { ...cache, text: nodeLocal.replace('__PILLAR__CLUSTER__DNS__', '10.96.0.11') },
    }),
    want:
      'ConfigMap kube-system/node-local-dns: the server block "svc.cluster.c2:53 svc.cluster.c3:53 svc.cluster.global:53" ' +
      'of NodeLocal DNSCache sends "service.namespace.svc.cluster.c2" to "10.96.0.11", not to the DNS server of the cluster',
  },
  {
    name: 'stub domains that are no JSON',
    config: dnsConfig(undefined, { ...kubeDns, stubDomains: '[' }),
    want: 'ConfigMap kube-system/kube-dns: stubDomains is no JSON of zones with addresses',
  },
])('refuses to change what it can not read: $name', ({ config, want }) => {
  expect(editsWith(config, wanted)).toEqual({ ok: false, reason: want });
});

it('has the block that docs/dns.md shows for a cache', () => {
  const after = linked(dnsConfig(kubeadm, { nodeCache: cache }), { remotes: ['c2'] });
  expect(after.nodeCache?.text).toContain(docBlocks('dns.md', 'NodeLocal DNSCache', '')[0]);
});
