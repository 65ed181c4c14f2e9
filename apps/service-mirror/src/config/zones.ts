import { isLabelValue } from '@kube-semaphore/naming';
import type { Findings } from './problems.ts';
import { MAX_ZONES, REMOTE_ZONE } from '../desired/global/routing-hints.ts';

/** The zones of the local cluster's nodes as the file has them, each once. Nodes tell theirs by a label. */
export function zonesOf(zones: readonly string[], findings: Findings): readonly string[] {
  const unique = [...new Set(zones)];
  if (unique.length > MAX_ZONES)
    findings.problems.push(
      `localCluster.zones: there are ${unique.length}, an endpoint can have hints of ${MAX_ZONES}`,
    );
  for (const [i, zone] of zones.entries()) {
    const problem = problemOf(zone);
    if (problem !== undefined) findings.problems.push(`localCluster.zones[${i}]: ${JSON.stringify(zone)} ${problem}`);
  }
  return unique;
}

function problemOf(zone: string): string | undefined {
  if (zone === REMOTE_ZONE) return 'is what endpoints of other clusters have for a zone';
  return zone === '' || !isLabelValue(zone) ? 'is no zone: a label has to hold it' : undefined;
}
