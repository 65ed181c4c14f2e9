import { Secrets } from '@kube-semaphore/text';
import type { Tunnel } from './transport/agent.ts';
import type { Connection } from './connection.ts';
import { basic, openToken, secretsOf, tokenCredentials } from './credentials/credentials.ts';
import { type Clock, type Dependencies, type Environment, type Logger, systemClock } from './dependencies.ts';
import { loginOf, parseServer } from './transport/endpoint.ts';
import { ClusterAuthError } from './errors.ts';
import { inCluster, SERVICE_ACCOUNT_DIR } from './in-cluster.ts';
import { accessOf, openKubeconfig } from './kubeconfig/access.ts';
import { type Access, isSameServer, LiveConnection, type Route } from './live-connection.ts';
import { proxyFor } from './proxy/environment.ts';
import { tunnelThrough } from './proxy/tunnel.ts';
import type { ClusterReference, ContextReference } from './reference.ts';
import { fixed } from './credentials/rotating.ts';
import { openCaUrl } from './trust/certificate-authority.ts';
import { openProxyRoots } from './trust/system-roots.ts';

/** What `connect` needs from its process. */
export type ConnectOptions = {
  /** The environment of this process: names proxies, roots and the Pod's API server. Exec plugins inherit it. */
  readonly env: Environment;
  readonly log: Logger;
  /** Gets every credential before it is sent, to strip it from all output. */
  readonly secrets?: Pick<Secrets, 'hold'>;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: where kubelet mounts it. */
  readonly serviceAccountDir?: string;
  /**
   * Called when a kubeconfig names another server or proxy, before that is used; if it throws, the last content of the kubeconfig
   * stays in use. The connection to the other server is closed afterwards. Default: any server is used.
   */
  readonly confirmServer?: (other: Connection) => Promise<void>;
};

/**
 * Makes a connection to the API server that a reference names. It reads local files, so that local mistakes show at
 * once, and a kubeconfig again when it changes. It uses no network and runs no plugin, so that a dead remote doesn't delay
 * the start: the first `authorize` does.
 *
 * The caller closes the connection.
 *
 * @throws {ClusterAuthError} with the name of the file, URL or field that is wrong
 */
export async function connect(
  reference: ClusterReference | ContextReference,
  options: ConnectOptions,
): Promise<Connection> {
  const { env, log, secrets = new Secrets(), clock = systemClock, serviceAccountDir = SERVICE_ACCOUNT_DIR } = options;
  const lifetime = new AbortController();
  const deps: Dependencies = { env, log, clock, secrets, lifetime: lifetime.signal };
  const candidate = {};
  const routeOf = async (access: Access, replaced?: Route): Promise<Route> => {
    const safe = access.server.protocol === 'http:' ? withoutTls(access, deps) : access;
    const route = { ...safe, tunnel: await openTunnel(safe, deps) };
    if (replaced === undefined || isSameServer(route, replaced)) return route;
    const parts = {
      lifetime: new AbortController(),
      secrets: { hold: (_: object, all: readonly string[]) => secrets.hold(candidate, all) },
    };
    const other = new LiveConnection(route, fixed(route), parts);
    try {
      await options.confirmServer?.(other);
    } finally {
      other.close();
    }
    return route;
  };
  const routes =
    reference.kind === 'kubeconfig'
      ? await openKubeconfig(reference.path, deps, routeOf)
      : fixed(await routeOf(await open(reference, serviceAccountDir, deps)));
  return new LiveConnection(await routes.current(), routes, { lifetime, secrets });
}

async function open(
  reference: Exclude<ClusterReference, { kind: 'kubeconfig' }> | ContextReference,
  serviceAccountDir: string,
  deps: Dependencies,
): Promise<Access> {
  switch (reference.kind) {
    case 'in-cluster':
      return inCluster(serviceAccountDir, deps);
    case 'context':
      return accessOf(reference.context, deps);
    case 'api-server': {
      const { apiUrl, caUrl, caHashes, token } = reference;
      return {
        server: parseServer(apiUrl, 'the API URL'),
        ca: await openCaUrl(caUrl, caHashes, deps),
        credentials:
          'path' in token
            ? await openToken(token.path, deps)
            : fixed(tokenCredentials(token.value, 'the service account token')),
      };
    }
  }
}

/** An API server on this machine, such as `kubectl proxy`: without TLS nothing verifies it, so it needs no CA. */
function withoutTls(access: Access, { log }: Dependencies): Access {
  const server = access.server.origin;
  if (access.proxy !== undefined) {
    throw new ClusterAuthError(
      'CLUSTER_ADDRESS',
      `${server} is on this machine and has no TLS, so no proxy can be used: remove proxy-url`,
    );
  }
  log.warn({ server }, 'API server is used without TLS; any local process on its port can impersonate it');
  return { ...access, ca: fixed(undefined) };
}

async function openTunnel({ server, ca, proxy }: Access, deps: Dependencies): Promise<Tunnel | undefined> {
  const through = proxy ?? proxyFor(server, deps.env);
  if (through === undefined) return undefined;
  const { username = '', password = '' } = loginOf(through) ?? {};
  deps.secrets.hold(deps.lifetime, secretsOf({ authorization: basic(username, password) }));
  return tunnelThrough(through, through.protocol === 'https:' ? await openProxyRoots(ca, deps) : undefined);
}
