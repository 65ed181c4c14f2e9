import { KubeClient } from '@kube-semaphore/kube-client';
import packageJson from '../../package.json' with { type: 'json' };
import { accessOf } from './access.ts';
import type { Context } from './contexts.ts';

/** The client that the apps use, with the credentials of a context. Credentials that end are not renewed. */
export async function kubeClientOf(context: Context): Promise<KubeClient> {
  const server = new URL(context.server);
  const authorization = { server, ...(await accessOf(context)) };
  return new KubeClient({
    userAgent: `semaphore/${packageJson.version}`,
    connection: {
      server,
      authorize: () => Promise.resolve(authorization),
      unauthorized: () => Promise.resolve(false),
      connectionFailed: () => Promise.resolve(false),
      close: () => undefined,
    },
  });
}
