import type { Agent } from 'node:https';
import { createAgent } from './agent.ts';
import { type Environment, systemClock } from './dependencies.ts';
import { proxyOf } from './proxy/environment.ts';
import { tunnelThrough } from './proxy/tunnel.ts';
import { fixed } from './rotating.ts';
import { type KeyPair, readCertificates } from './trust/pem.ts';
import { openProxyRoots, openSystemRoots } from './trust/system-roots.ts';

/** What another reader of a kubeconfig has found. */
export type ClientAgentOptions = {
  readonly server: URL;
  /** PEM; default: the roots of this machine. */
  readonly ca?: string | undefined;
  readonly keyPair?: KeyPair | undefined;
  readonly tlsServerName?: string | undefined;
  /** Default: the proxy of the environment. */
  readonly proxyUrl?: string | undefined;
  /** `insecure-skip-tls-verify`, which `connect` refuses. */
  readonly insecure: boolean;
};

/**
 * The agent of `connect`, for a program that a person runs with kubeconfigs of any kind: it reaches what kubectl reaches.
 *
 * @throws {ClusterAuthError} for a certificate or a proxy that can't be used
 */
export async function openClientAgent(
  { server, ca, keyPair, tlsServerName, proxyUrl, insecure }: ClientAgentOptions,
  env: Environment,
): Promise<Agent> {
  const deps = {
    env,
    clock: systemClock,
    // Files are read once, so nothing changes later.
    log: { info: () => {}, warn: () => {} },
    secrets: { hold: () => {} },
    lifetime: new AbortController().signal,
  };
  const own = ca === undefined ? undefined : readCertificates({ text: ca, where: 'the certificate-authority' });
  const proxy = proxyOf({ server, proxyUrl }, env);
  return createAgent({
    ca: own ?? (await (await openSystemRoots(deps)).current()),
    keyPair,
    tlsServerName,
    tunnel: proxy && tunnelThrough(proxy, await openProxyRoots(fixed(own), deps)),
    insecure,
  });
}
