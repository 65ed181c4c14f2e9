import { durationOf, overriddenAddresses, remoteReference } from '@kube-semaphore/multicluster';
import { oneOf, text } from '@kube-semaphore/options';
import { propertiesOf } from './cluster-order.ts';
import type { RemoteEntry } from './file.ts';
import type { Findings } from './problems.ts';
import { clusterName, namespace, servicePrefix } from './option-types.ts';
import type { RemoteSettings } from './settings.ts';

const staleAction = oneOf(['unready', 'remove', 'keep']);

/**
 * Settings of the remote clusters in a file.
 *
 * @param localName the local cluster's name, if it has one; no remote may have it
 * @param findings collects the problems of each remote, and of all together
 */
export function remotesOf(
  entries: readonly RemoteEntry[],
  { localName, findings }: { localName: string | undefined; findings: Findings },
): readonly RemoteSettings[] {
  const remotes = entries.map((entry, i) => remoteOf(entry, `remoteClusters[${i}]`, findings));
  findings.warnings.push(...overriddenAddresses(entries, 'remoteClusters'));
  findings.unique(remotes, {
    'remoteClusters: name': ({ name }) => name,
    'remoteClusters: servicePrefix': ({ prefix }) => prefix,
  });
  if (remotes.some(({ name }) => name === localName))
    findings.problems.push(`remoteClusters: name ${localName} is that of the local cluster`);
  return remotes;
}

function remoteOf(entry: RemoteEntry, at: string, findings: Findings): RemoteSettings {
  const { staleAction: action = '' } = entry;
  const tokenPath = findings.first(
    [
      { at: `${at}.remoteSATokenPath`, value: entry.remoteSATokenPath },
      { at: `${at}.remoteSATokenPiath`, value: entry.remoteSATokenPiath, newer: 'remoteSATokenPath' },
    ],
    text('file'),
  );
  return {
    name: findings.required([{ at: `${at}.name`, value: entry.name }], clusterName),
    prefix: findings.required([{ at: `${at}.servicePrefix`, value: entry.servicePrefix }], servicePrefix),
    reference: findings.check(`${at}.kubeConfigPath`, remoteReference({ ...entry, remoteSATokenPath: tokenPath }), {
      kind: 'in-cluster',
    }),
    mirrorNamespaces: namespacesOf(entry, at, findings),
    ...findings.podAddresses(at, entry),
    properties: propertiesOf(entry.properties, `${at}.properties`, findings),
    resyncPeriodMs: findings.check(`${at}.resyncPeriod`, durationOf(entry.resyncPeriod, 0), 0),
    staleAfterMs: findings.check(`${at}.staleAfter`, durationOf(entry.staleAfter, 0), 0),
    staleAction: action === '' ? 'unready' : findings.check(`${at}.staleAction`, staleAction.parse(action), 'unready'),
    gateByTunnel: entry.gateByTunnel ?? false,
  };
}

function namespacesOf(
  { mirrorNamespaces }: RemoteEntry,
  at: string,
  findings: Findings,
): readonly string[] | undefined {
  if (mirrorNamespaces?.length === 0)
    findings.problems.push(`${at}.mirrorNamespaces: must name at least one namespace`);
  return mirrorNamespaces?.map((name, i) =>
    findings.check(`${at}.mirrorNamespaces[${i}]`, namespace.parse(name), name),
  );
}
