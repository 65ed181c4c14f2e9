import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '@kube-semaphore/kube-client';
import { removalsOf as policyRemovals } from '@kube-semaphore/policy/cleanup';
import { importRemovalsOf, removalsOf as mirrorRemovals } from '@kube-semaphore/service-mirror/cleanup';
import { clusterOfAnnotation } from '@kube-semaphore/wireguard/names';
import * as z from 'zod/mini';
import type { Context } from '../clusters/contexts.ts';
import { allPages, mapRead, PAGE, readAs, readNodes, request, type Run, valueOf } from '../clusters/objects.ts';
import { readBindings, type Sorted, sortOut } from '../clusters/ours.ts';
import { labelSelector } from '../clusters/report.ts';

/** A cluster that loses remotes. */
export type Leaver = {
  readonly name: string;
  readonly context: Context;
  /** The remotes that it loses. */
  readonly removed: readonly string[];
  /** The remotes that it still has. Without any, the apps go, too. */
  readonly remaining: readonly string[];
  readonly mirrorNamespace: string;
  /** Gets a sentence on each change. */
  readonly report: (sentence: string) => void;
};

const AGENTS = '/apis/apps/v1/namespaces/kube-system/daemonsets/semaphore-wireguard';
const PODS = `/api/v1/pods?limit=${PAGE}&labelSelector=${encodeURIComponent(labelSelector)}`;

const TIMEOUT_MS = 300_000;
const POLL_MS = 2_000;

/** The agents remove annotations, devices and routes of all remotes, instead of keeping their tunnels. */
export async function stopTunnels({ context, report }: Leaver, run: Run): Promise<void> {
  const container = {
    name: 'semaphore-wireguard',
    args: ['cleanup', '-yes'],
    livenessProbe: null,
    readinessProbe: null,
  };
  const body = {
    spec: {
      updateStrategy: { rollingUpdate: { maxUnavailable: '100%' } },
      template: { spec: { containers: [container] } },
    },
  };
  const contentType = 'application/strategic-merge-patch+json';
  const patched = valueOf(await request(context, AGENTS, run, { method: 'PATCH', body, contentType }));
  if (patched !== undefined) report('DaemonSet kube-system/semaphore-wireguard cleans up its nodes');
}

const ended = z.nullish(z.object({ terminated: z.nullish(z.object({ exitCode: z.number() })) }));
const podSchema = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string(), labels: z.record(z.string(), z.string()) }),
  spec: z.object({
    serviceAccountName: z.optional(z.string()),
    containers: z.array(z.object({ args: z.nullish(z.array(z.string())) })),
    volumes: z.nullish(z.array(z.object({ secret: z.nullish(z.object({ secretName: z.nullish(z.string()) })) }))),
  }),
  status: z.object({
    conditions: z.nullish(z.array(z.object({ type: z.string(), status: z.string() }))),
    containerStatuses: z.nullish(z.array(z.object({ state: ended, lastState: ended }))),
  }),
});
const podList = z.object({
  metadata: z.object({ continue: z.optional(z.string()) }),
  items: z.array(podSchema),
});
const daemonSet = z.object({ status: z.object({ desiredNumberScheduled: z.nullish(z.number()) }) });

type Pod = z.infer<typeof podSchema>;

async function readPods(context: Context, run: Run): Promise<Sorted<Pod>> {
  const read = await allPages(context, { plural: 'pods' }, async (from, token) =>
    mapRead(
      await readAs(from, `${PODS}&continue=${encodeURIComponent(token)}`, podList, run),
      (page) => page && { items: page.items, continue: page.metadata.continue ?? '' },
    ),
  );
  const found = valueOf(read);
  // One of ours that doesn't seem so would not be waited for.
  return sortOut(found, { known: true, value: valueOf(await readBindings(context, found, run)) });
}

/**
 * Waits until no Pod of an app works for the remotes any more, then withdraws what Nodes without an agent still announce.
 *
 * @throws {Error} that names the Pods, after five minutes
 */
export async function awaitApps(leaver: Leaver, run: Run): Promise<void> {
  const { context, report } = leaver;
  const until = performance.now() + TIMEOUT_MS;
  for (let isFirst = true; ; isFirst = false) {
    const { ours: pods, skipped } = await readPods(context, run);
    if (isFirst && skipped !== undefined) report(skipped);
    const agents = valueOf(await readAs(context, AGENTS, daemonSet, run))?.status.desiredNumberScheduled ?? 0;
    const busy = pods
      .filter((pod) => isBusy(pod, leaver))
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    const missing = agents - pods.filter(isAgent).length;
    if (busy.length === 0 && missing <= 0) return withdraw(leaver, run);
    if (performance.now() > until) {
      const who =
        busy.length === 0
          ? `${missing} Pods of semaphore-wireguard are missing`
          : `these Pods still have old remotes: ${busy.join(', ')}`;
      throw new Error(`${context.name}: after five minutes, ${who}: look at them with kubectl, then run this again`);
    }
    await delay(POLL_MS, undefined, run);
  }
}

const isAgent = ({ metadata }: Pod): boolean => metadata.labels['app'] === 'semaphore-wireguard';

function isBusy(pod: Pod, { removed, remaining }: Leaver): boolean {
  const { metadata, spec, status } = pod;
  if (remaining.length > 0) {
    const secrets = removed.map((name) => `${metadata.labels['app']}-${name}`);
    const isReady = status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
    return !isReady || spec.volumes?.some(({ secret }) => secrets.includes(secret?.secretName ?? '')) === true;
  }
  // It is started again and again, so it may be over for the second time.
  const codes = status.containerStatuses?.flatMap(({ state, lastState }) => [state, lastState]) ?? [];
  const isClean = spec.containers.some(({ args }) => args?.includes('cleanup') === true);
  return !isAgent(pod) || !isClean || !codes.some((each) => each?.terminated?.exitCode === 0);
}

async function withdraw({ context, removed, remaining, report }: Leaver, run: Run): Promise<void> {
  for (const { name, annotations } of valueOf(await readNodes(context, run))) {
    const keys = Object.keys(annotations).filter((key) => {
      const cluster = clusterOfAnnotation(key);
      return cluster !== undefined && (remaining.length === 0 || removed.includes(cluster));
    });
    if (keys.length === 0) continue;
    const body = { metadata: { annotations: Object.fromEntries(keys.map((key) => [key, null])) } };
    const contentType = 'application/merge-patch+json';
    valueOf(await request(context, `/api/v1/nodes/${name}`, run, { method: 'PATCH', body, contentType }));
    report(`Node ${name} announces nothing more; no agent ran there, so its devices stay until it restarts`);
  }
}

/** Removes what the apps wrote for the remotes, as their own `cleanup` does. @throws {Error} */
export async function removeObjects(leaver: Leaver, client: KubeClient, run: Run): Promise<void> {
  const { name, context, removed, remaining, mirrorNamespace: namespace, report } = leaver;
  const isLast = remaining.length === 0;
  // Its own part in global Services goes with the app.
  const clusters = isLast ? [...removed, name] : removed;
  const served = isLast ? [] : [...remaining, name];
  const options = {
    calicoApi: 'auto',
    labelDomain: 'auto',
    managedBy: 'auto',
    networkPolicies: true,
    networkPolicySink: 'networkpolicy',
  } as const;
  const log = { info: () => report('companions of another kind stay: you may not list them') };
  const steps = clusters.flatMap((cluster) => [
    () => policyRemovals({ cluster, client, options, log }, run),
    () => mirrorRemovals({ client, namespace, cluster, served }, run),
    () => importRemovalsOf({ client, cluster }, run),
  ]);
  // And with it our conditions on ServiceExports.
  if (isLast) steps.push(() => importRemovalsOf({ client, cluster: undefined }, run));
  try {
    for (const step of steps)
      for (const { line, carryOut } of await step()) {
        await carryOut(run);
        report(line);
      }
  } catch (error) {
    run.signal.throwIfAborted();
    throw new Error(`${context.name}: ${(error as Error).message}`, { cause: error });
  }
}
