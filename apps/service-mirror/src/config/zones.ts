import { isLabelValue } from '@kube-semaphore/naming';
import type { Findings } from './problems.ts';
import { MAX_ZONES, REMOTE_ZONE } from '../endpoints/desired/routing/routing-hints.ts';

/** The zones of the local cluster's Nodes in the file, each once. */
export function zonesOf(zones: readonly string[], findings: Findings): readonly string[] {
  const unique = [...new Set(zones)];
  if (unique.length > MAX_ZONES)
    findings.problems.push(
      `localCluster.zones: ${unique.length} zones are too many: an endpoint can have at most ${MAX_ZONES} hints`,
    );
  for (const [i, zone] of zones.entries()) {
    const problem = problemOf(zone);
    if (problem !== undefined) findings.problems.push(`localCluster.zones[${i}]: ${JSON.stringify(zone)} ${problem}`);
  }
  return unique;
}

function problemOf(zone: string): string | undefined {
  if (zone === REMOTE_ZONE) return 'is reserved for endpoints of other clusters';
  return zone === '' || !isLabelValue(zone) ? 'is not a valid zone: it must be a label value' : undefined;
}
