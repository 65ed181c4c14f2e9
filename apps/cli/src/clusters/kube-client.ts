import type { Agent, RequestOptions } from 'node:https';
import { KubeClient } from '@kube-semaphore/kube-client';
import packageJson from '../../package.json' with { type: 'json' };
import type { Context } from './contexts.ts';

/** The client that the apps use, with the credentials of a context. Credentials that end are not renewed. */
export async function kubeClientOf({ kube, server }: Context): Promise<KubeClient> {
  const options: RequestOptions = {};
  await kube.applyToHTTPSOptions(options);
  const { agent, auth, headers } = options;
  const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  const url = new URL(server);
  const own = { ...(headers as Record<string, string>), ...basic };
  const authorization = { server: url, agent: agent as Agent, headers: own };
  return new KubeClient({
    userAgent: `semaphore/${packageJson.version}`,
    connection: {
      server: url,
      authorize: () => Promise.resolve(authorization),
      unauthorized: () => Promise.resolve(false),
      connectionFailed: () => Promise.resolve(false),
      close: () => undefined,
    },
  });
}
