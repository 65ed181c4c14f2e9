import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { localServiceRanges } from '@kube-semaphore/multicluster';
import { ConfigError } from '@kube-semaphore/runtime';
import { parseFlowEnd, parseFlowPort } from './config/flow.ts';
import { type ExplainedFlow, type FlowEnd, flowsOf } from '@kube-semaphore/network-policies';
import { clustersOf, type ExplainInput, readEnds } from './explain-ends.ts';
import { servedGroups } from './local/api-groups.ts';
import { readInTime } from './remote/snapshot.ts';

export type Explanation = {
  readonly flows: readonly ExplainedFlow[];
  /** What late Pods lost. */
  readonly late: readonly string[];
  /** Per cluster the API groups of other policies, which aren't considered. */
  readonly otherPolicies: readonly { readonly cluster: string; readonly groups: readonly string[] }[];
};

/**
 * Says whether NetworkPolicies let one end talk to another, on both sides. Where an end is a workload, all its Pods count;
 * those about which both sides say the same are one.
 *
 * @param words from, to and port
 * @throws {ConfigError} with what is wrong with the words
 */
export async function explain(input: ExplainInput, words: readonly string[], run: RunOptions): Promise<Explanation> {
  const { from, to, port } = parseWords(words);
  const { options, local, log } = input;
  const inTime = { ...run, timeoutMs: options.timeoutMs };
  const services = await readInTime((running) => localServiceRanges(local, { ...running, log }), inTime);
  const clusters = clustersOf(input, services.ok ? services.value : []);
  const ends = await Promise.all([readEnds(from, clusters, input, run), readEnds(to, clusters, input, run)]);
  const context = { port, key: options.clusterSetKey };
  const flows = flowsOf(...ends, context);
  const names = new Set(ends.map(clusterOf));
  const otherPolicies = await Promise.all(
    clusters
      .filter(({ name }) => names.has(name))
      .map(async ({ name, client }) => ({ cluster: name, groups: await otherGroups(client, input, run) })),
  );
  const late = ends.flatMap((end) => (end.kind === 'pods' ? end.late : []));
  return { flows, late: [...new Set(late)], otherPolicies: otherPolicies.filter(({ groups }) => groups.length > 0) };
}

/** 0: allowed; 1: some flow is denied; 3: none is, but some is unknown. */
export function explainExitCode({ flows }: Explanation): 0 | 1 | 3 {
  if (flows.some(({ verdict }) => verdict === 'denied')) return 1;
  return flows.every(({ verdict }) => verdict === 'allowed') ? 0 : 3;
}

function parseWords([from = '', to = '', port = '']: readonly string[]) {
  const parsed = { from: parseFlowEnd(from), to: parseFlowEnd(to), port: parseFlowPort(port) };
  const problems = Object.values(parsed).flatMap((each) => (each.ok ? [] : [each.reason]));
  if (!parsed.from.ok || !parsed.to.ok || !parsed.port.ok) throw new ConfigError(problems);
  const words = { from: parsed.from.value, to: parsed.to.value, port: parsed.port.value };
  if (words.from.kind === 'address' && words.to.kind === 'address')
    throw new ConfigError(
      `${words.from.ip} and ${words.to.ip} are both addresses: name at least one end as a Pod or workload, such as alpha/pod/db`,
    );
  return words;
}

function clusterOf(end: FlowEnd): string | undefined {
  if (end.kind === 'address') return undefined;
  return end.kind === 'unknown' ? end.cluster : end.cluster.name;
}

/** API groups with policies that `explain` doesn't consider. */
const OTHER_POLICIES = [
  'cilium.io',
  'crd.antrea.io',
  'crd.projectcalico.org',
  'policy.networking.k8s.io',
  'projectcalico.org',
];

async function otherGroups(client: KubeClient, { options: { timeoutMs } }: ExplainInput, { signal }: RunOptions) {
  const reading = await readInTime((run) => servedGroups(client, run), { signal, timeoutMs });
  return OTHER_POLICIES.filter((group) => reading.ok && reading.value.has(group));
}
