import { KubeConfig } from '@kubernetes/client-node';
import { printable } from '@kube-semaphore/text';
import { UsageError } from '../usage-error.ts';

/** A context of the kubeconfig. */
export type Context = {
  readonly name: string;
  readonly server: string;
  readonly user: string;
  readonly kube: KubeConfig;
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

/** The chosen contexts, each once, in their order. @throws {UsageError} if one is missing, or the kubeconfig */
export function contextsOf({ kubeconfig, context: names = [] }: ContextChoice): readonly Context[] {
  const loaded = load(kubeconfig);
  const chosen = names.length > 0 ? [...new Set(names)] : [loaded.getCurrentContext()];
  return chosen.map((name) => contextOf(loaded, name));
}

function load(path: string | undefined): KubeConfig {
  const kube = new KubeConfig();
  try {
    if (path === undefined) kube.loadFromDefault();
    else kube.loadFromFile(path);
  } catch (error) {
    // Only the code: the message of a YAML error quotes the file, which has credentials.
    const reason = (error as NodeJS.ErrnoException).code ?? 'it is not valid';
    throw new UsageError(`the kubeconfig can't be read (${reason}): set --kubeconfig or KUBECONFIG to another file`);
  }
  // Without a file, the library makes up a cluster on this machine.
  if (kube.getCurrentCluster()?.server === 'http://localhost:8080')
    throw new UsageError('no kubeconfig was found: set --kubeconfig or KUBECONFIG');
  return kube;
}

function contextOf(loaded: KubeConfig, name: string): Context {
  const known = loaded.getContexts().map((context) => context.name);
  const advice = known.length === 0 ? 'it has none' : `use --context with one of ${known.join(', ')}`;
  if (!name) throw new UsageError(printable(`the kubeconfig has no current context: ${advice}`));
  const context = loaded.getContextObject(name);
  if (context === null) throw new UsageError(printable(`there is no context "${name}" in the kubeconfig: ${advice}`));
  const kube = new KubeConfig();
  const { clusters, users, contexts } = loaded;
  kube.loadFromOptions({ clusters, users, contexts, currentContext: name });
  const server = kube.getCurrentCluster()?.server;
  if (server === undefined)
    throw new UsageError(
      printable(
        `the context "${name}" names the cluster "${context.cluster}", which the kubeconfig doesn't have: add it there`,
      ),
    );
  return { name, server, user: context.user, kube };
}
