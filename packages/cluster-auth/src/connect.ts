import { Secrets } from '@kube-semaphore/text';
import type { Tunnel } from './agent.ts';
import type { Connection } from './connection.ts';
import { basic, bearer, openToken, secretsOf } from './credentials.ts';
import { type Clock, type Dependencies, type Environment, type Logger, systemClock } from './dependencies.ts';
import { loginOf, parseServer } from './endpoint.ts';
import { ClusterAuthError } from './errors.ts';
import { inCluster, SERVICE_ACCOUNT_DIR } from './in-cluster.ts';
import { openKubeconfig } from './kubeconfig/access.ts';
import { type Access, LiveConnection } from './live-connection.ts';
import { proxyFor } from './proxy/environment.ts';
import { tunnelThrough } from './proxy/tunnel.ts';
import type { ClusterReference } from './reference.ts';
import { fixed } from './rotating.ts';
import { openCaUrl } from './trust/certificate-authority.ts';
import { openProxyRoots } from './trust/system-roots.ts';

/** What `connect` needs of its process. */
export type ConnectOptions = {
  /** Of this process: names proxies, roots and the pod's API server, and is what exec plugins inherit. */
  readonly env: Environment;
  readonly log: Logger;
  /** Is told of every credential before it is sent: what is printed goes through it. Default: nobody is. */
  readonly secrets?: Pick<Secrets, 'hold'>;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Default: where kubelet mounts it. */
  readonly serviceAccountDir?: string;
};

/**
 * Makes a connection to the API server that a reference names. Reads local files, so that what is wrong on this
 * side is told at once; touches no network and runs no plugin, so that a dead remote holds nothing back: that is
 * left to the first `authorize`.
 *
 * The caller closes the connection.
 *
 * @throws {ClusterAuthError} that names the file, URL or field that is wrong
 */
export async function connect(reference: ClusterReference, options: ConnectOptions): Promise<Connection> {
  const { env, log, secrets = new Secrets(), clock = systemClock, serviceAccountDir = SERVICE_ACCOUNT_DIR } = options;
  const lifetime = new AbortController();
  const deps: Dependencies = { env, log, clock, secrets, lifetime: lifetime.signal };
  const opened = await open(reference, serviceAccountDir, deps);
  const access = opened.server.protocol === 'http:' ? withoutTls(opened, deps) : opened;
  return new LiveConnection(access, await openTunnel(access, deps), { lifetime, secrets });
}

async function open(reference: ClusterReference, serviceAccountDir: string, deps: Dependencies): Promise<Access> {
  switch (reference.kind) {
    case 'in-cluster':
      return inCluster(serviceAccountDir, deps);
    case 'kubeconfig':
      return openKubeconfig(reference.path, deps);
    case 'api-server': {
      const { apiUrl, caUrl, caHashes, token } = reference;
      return {
        server: parseServer(apiUrl, 'the API URL'),
        ca: await openCaUrl(caUrl, caHashes, deps),
        credentials:
          'path' in token
            ? await openToken(token.path, deps)
            : fixed({ authorization: bearer(token.value, 'the service account token') }),
      };
    }
  }
}

/** An API server on this machine, as `kubectl proxy` is one: nothing verifies it, so its CA is never asked for. */
function withoutTls(access: Access, { log }: Dependencies): Access {
  const server = access.server.origin;
  if (access.proxy !== undefined) {
    throw new ClusterAuthError(
      'CLUSTER_ADDRESS',
      `${server} is on this machine and without TLS: it is not reached through a proxy, leave out proxy-url`,
    );
  }
  log.warn({ server }, 'API server is reached without TLS: who can listen at its address can answer for it');
  return { ...access, ca: fixed(undefined) };
}

async function openTunnel({ server, ca, proxy }: Access, deps: Dependencies): Promise<Tunnel | undefined> {
  const through = proxy ?? proxyFor(server, deps.env);
  if (through === undefined) return undefined;
  const { username = '', password = '' } = loginOf(through) ?? {};
  deps.secrets.hold(through, secretsOf({ authorization: basic(username, password) }));
  return tunnelThrough(through, through.protocol === 'https:' ? await openProxyRoots(ca, deps) : undefined);
}
