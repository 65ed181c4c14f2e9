import {
  type ClusterReference,
  contextOf,
  type ContextReference,
  loadKubeconfigs,
  type MergedKubeconfig,
} from '@kube-semaphore/cluster-auth';
import { printable } from '@kube-semaphore/text';
import type { Terminal } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';

/** A context of the kubeconfig. */
export type Context = {
  readonly name: string;
  readonly server: string;
  readonly user: string;
  /** As whom the user acts, if not as itself. */
  readonly actsAs?: string | undefined;
  readonly reference: ContextReference | Extract<ClusterReference, { kind: 'in-cluster' }>;
  /** When nothing more is asked of it; monotonic ms. Default: never. */
  readonly untilMs?: number;
};

/** How long all that a command reads of one cluster may take. A slow or hostile one must not delay what others say. */
const READING_MS = 60_000;

/** A context whose answers end in time, or when they did before: what it says later is not known. */
export const inTime = (context: Context, readingMs = READING_MS): Context => ({
  ...context,
  untilMs: Math.min(context.untilMs ?? Infinity, performance.now() + readingMs),
});

export type ContextChoice = {
  /** Default: what KUBECONFIG says, or `~/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  /** Default: the current one. */
  readonly context?: readonly string[] | undefined;
};

/**
 * The chosen contexts, each once, in their order. As with kubectl, a Pod without a kubeconfig has its own cluster.
 *
 * @throws {UsageError} if one is missing or can't be used, or the kubeconfig
 */
export async function contextsOf({ kubeconfig, context: names = [] }: ContextChoice): Promise<readonly Context[]> {
  const config = await loadKubeconfigs(kubeconfig, process.env).catch((error: Error) => {
    throw new UsageError(printable(`${error.message}: set --kubeconfig or KUBECONFIG to another file`));
  });
  if (config.path === undefined) {
    const own = ownCluster();
    if (own === undefined) throw new UsageError('no kubeconfig was found: set --kubeconfig or KUBECONFIG');
    if (names.every((name) => name === own.name)) return [own];
  }
  const chosen = names.length > 0 ? [...new Set(names)] : [config.currentContext];
  return chosen.map((name) => chosenOf(config, name));
}

function chosenOf(config: MergedKubeconfig, name: string | undefined): Context {
  const known = [...config.contexts.keys()];
  const advice = known.length === 0 ? 'it has none' : `use --context with one of ${known.join(', ')}`;
  if (!name) throw new UsageError(printable(`the kubeconfig has no current context: ${advice}`));
  if (!config.contexts.has(name))
    throw new UsageError(printable(`there is no context "${name}" in the kubeconfig: ${advice}`));
  try {
    const context = contextOf(config, name);
    const { cluster, from } = context;
    const reference = { kind: 'context', context } as const;
    return { name, server: cluster.server, user: from.user.name, actsAs: context.user.as, reference };
  } catch (error) {
    throw new UsageError(printable((error as Error).message));
  }
}

/** The cluster of this Pod; undefined elsewhere. */
function ownCluster(): Context | undefined {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = process.env;
  if (host === '' || port === '') return undefined;
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { name: 'inClusterContext', server, user: 'inClusterUser', reference: { kind: 'in-cluster' } };
}

/** Names what a command is going to change, before it does. What it prints as JSON stays JSON. */
export function nameContexts(contexts: readonly Context[], { complain }: Pick<Terminal, 'complain'>): void {
  for (const { name, server, user, actsAs } of contexts) {
    const role = actsAs === undefined ? '' : `, who acts as "${actsAs}"`;
    complain(`${printable(`context ${name}: ${server}, as the user "${user}"${role}`)}\n`);
  }
}
