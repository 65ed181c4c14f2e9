import { durationOf, overriddenAddresses, remoteReference } from '@kube-semaphore/multicluster';
import { bad, good, type Parsed } from '@kube-semaphore/net';
import { oneOf, text } from '@kube-semaphore/options';
import type { RemoteEntry } from './file.ts';
import type { Findings } from './problems.ts';
import { clusterName, servicePrefix } from './option-types.ts';
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
  for (const name of repeated(remotes.map((remote) => remote.name)))
    findings.problems.push(`remoteClusters: name ${name} is used twice`);
  for (const prefix of repeated(remotes.map((remote) => remote.prefix)))
    findings.problems.push(`remoteClusters: servicePrefix ${prefix} is used twice`);
  if (remotes.some(({ name }) => name === localName))
    findings.problems.push(`remoteClusters: name ${localName} is that of the local cluster`);
  return remotes;
}

function remoteOf(entry: RemoteEntry, at: string, findings: Findings): RemoteSettings {
  const { staleAction: action = '', allowedPodCIDRs } = entry;
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
    allowedPodCidrs: allowedPodCIDRs && findings.cidrs(`${at}.allowedPodCIDRs`, allowedPodCIDRs),
    resyncPeriodMs: findings.check(`${at}.resyncPeriod`, periodOf(entry.resyncPeriod), 0),
    staleAfterMs: findings.check(`${at}.staleAfter`, periodOf(entry.staleAfter), 0),
    staleAction: action === '' ? 'unready' : findings.check(`${at}.staleAction`, staleAction.parse(action), 'unready'),
  };
}

function periodOf(value: string | number | undefined): Parsed<number> {
  if (value === undefined) return good(0);
  const parsed = durationOf(value);
  return parsed.ok && parsed.value < 0 ? bad('it must not be negative') : parsed;
}

/** Texts that occur more than once; empty ones are reported elsewhere. */
const repeated = (texts: readonly string[]): readonly string[] => [
  ...new Set(texts.filter((each, i) => each !== '' && texts.indexOf(each) !== i)),
];
