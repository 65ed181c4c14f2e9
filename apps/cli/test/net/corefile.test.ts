import { execFileSync } from 'node:child_process';
import { eventually } from '@kube-semaphore/eventually';
import { builtBinary, startCoreDns } from '@kube-semaphore/testkit';
import { startNetwork } from '@kube-semaphore/testnet';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isCurrent } from '../../src/check/facts/dns.ts';
import { corefileWith, corefileWithout } from '../../src/corefile/edit.ts';
import { parseCorefile } from '../../src/corefile/parse.ts';
import { coreDnsOf, faultOf, sampleOf } from '../../src/corefile/faults.ts';
import { corefiles } from '../support/corefiles.ts';
import { answersOf, LONGEST, NAMESPACE, startMirrors } from '../support/mirrors.ts';

const it = test
  .extend('network', { scope: 'file' }, () => startNetwork(['dns']))
  .extend('lab', { scope: 'file' }, async ({ network }, { onCleanup }) => {
    const cluster = await startMirrors();
    onCleanup(async () => void (await Promise.all([network.stop(), cluster.stop()])));
    const node = network.node('dns');
    await node.forward(Number(new URL(cluster.url).port));
    return { cluster, node };
  })
  .extend(
    'resolve',
    { scope: 'file' },
    ({ lab: { cluster, node } }) =>
      async (corefile: string, asked: Record<string, string>) => {
        const coreDns = await startCoreDns({ cluster, node, corefile });
        try {
          // It may listen before it has read the cluster.
          await eventually(() => answersOf(node, Object.keys(asked)), asked);
        } finally {
          await coreDns.stop();
        }
      },
  );

const zone = 'svc.cluster.c2';

/** With rules. A name that went to the forwarder would be SERVFAIL: that isn't reached. */
const resolved = {
  [`web.shop.${zone}`]: '10.96.7.1',
  [`${LONGEST}.shop.${zone}`]: '10.96.7.2',
  [`${LONGEST}w.shop.${zone}`]: 'ENOTFOUND',
  [`${'w'.repeat(63)}.${'s'.repeat(63)}.${zone}`]: 'ENOTFOUND',
  [`${`${'y'.repeat(39)}.`.repeat(5)}web.shop.${zone}`]: 'ENOTFOUND',
  [`${`${'y'.repeat(29)}.`.repeat(7)}web.shop.${zone}`]: 'ENOTFOUND',
  [`other.shop.${zone}`]: 'ENOTFOUND',
  [`db.shop.${zone}`]: '10.4.0.1',
  [`db-0.db.shop.${zone}`]: '10.4.0.1',
  'web.shop.svc.cluster.global': '10.96.8.1',
  'own.default.svc.cluster.local': '10.96.7.9',
};

/** As `kubeadm upgrade`. */
function migrated(corefile: string): string {
  const program = builtBinary('corefile-migration');
  return execFileSync(program, ['1.9.3', '1.12.1'], { input: corefile, encoding: 'utf8' });
}

const linked = (corefile: string): string => {
  const result = corefileWith(corefile, { remotes: ['c2'] });
  if (!result.ok) throw new Error(result.reason);
  return result.value;
};

const unlinked = (corefile: string) => corefileWithout(corefile, { removed: ['c2'], remaining: [] });

function faultIn(corefile: string) {
  const parsed = parseCorefile(corefile);
  return parsed.ok
    ? faultOf([coreDnsOf(parsed.value)], sampleOf({ name: 'c2', prefix: 'c2' }, NAMESPACE))?.severity
    : parsed.reason;
}

describe.for(Object.entries(corefiles))('the Corefile with %s', ([, corefile]) => {
  it('resolves names of a remote after a link, and after a migration', async ({ resolve }) => {
    expect(faultIn(corefile)).toBe('problem');
    await resolve(linked(corefile), resolved);
    expect(faultIn(linked(corefile))).toBeUndefined();
    const after = migrated(linked(corefile));
    expect(after).not.toContain('# semaphore link');
    await resolve(after, resolved);
    expect(faultIn(after)).toBeUndefined();
    // Another link adds nothing, and the unlink leaves what the migration did.
    expect(linked(after)).toBe(after);
    expect(unlinked(after)).toEqual({ ok: true, value: migrated(corefile) });
    expect(unlinked(linked(corefile))).toEqual({ ok: true, value: corefile });
  });
});

it('has the hash by which CoreDNS calls it', async ({ lab: { cluster, node } }) => {
  const { snippets } = corefiles;
  const corefile = linked(snippets).replace('ready #', 'prometheus\n    reload\n    ready #');
  const coreDns = await startCoreDns({ cluster, node, corefile });
  onTestFinished(() => coreDns.stop());
  const read = `fetch('http://127.0.0.1:9153/metrics').then((page) => page.text()).then(console.log)`;
  const metrics = await node.run(process.execPath, ['-e', read]);
  expect(isCurrent(metrics, { text: corefile, changedMs: 0 })).toBe(true);
});

describe('a fault that check finds', () => {
  const { 'a zone in each server block': zones, kubeadm } = corefiles;
  const rules = /^ *# semaphore link: begin\n[^]*# semaphore link: end\n/m.exec(linked(kubeadm))![0];
  const local = { 'own.default.svc.cluster.local': '10.96.7.9' };
  const option = (line: string) => linked(kubeadm).replace('ttl 30', line);

  it.for([
    {
      name: 'rules in a server block that gets no such names',
      corefile: zones.replace(/^ {4}kubernetes/m, `${rules}$&`),
      want: { ...local, [`web.shop.${zone}`]: 'ESERVFAIL' },
    },
    {
      name: 'no rules',
      corefile: zones,
      want: { ...local, [`web.shop.${zone}`]: 'ESERVFAIL' },
    },
    {
      name: 'namespaces',
      corefile: option('namespaces default'),
      want: { ...local, [`web.shop.${zone}`]: 'ENOTFOUND' },
    },
    {
      name: 'noendpoints',
      corefile: option('noendpoints'),
      severity: 'warning',
      want: { ...local, [`web.shop.${zone}`]: '10.96.7.1', [`db.shop.${zone}`]: 'ENOTFOUND' },
    },
  ])('is one of CoreDNS: $name', async ({ corefile, severity = 'problem', want }, { resolve }) => {
    expect(faultIn(corefile)).toBe(severity);
    await resolve(corefile, want);
  });

  it('is one of CoreDNS: namespace_labels', async ({ resolve }) => {
    const parsed = parseCorefile(option('namespace_labels mirrors=no'));
    if (!parsed.ok) throw new Error(parsed.reason);
    const asked = sampleOf({ name: 'c2', prefix: 'c2' }, NAMESPACE);
    expect(faultOf([coreDnsOf(parsed.value)], asked, () => [])?.severity).toBe('problem');
    expect(faultOf([coreDnsOf(parsed.value)], asked, () => [NAMESPACE])).toBeUndefined();
    await resolve(option('namespace_labels mirrors=no'), { [`web.shop.${zone}`]: 'ENOTFOUND' });
    await resolve(option('namespace_labels mirrors=yes'), { [`web.shop.${zone}`]: '10.96.7.1' });
  });
});
