import { KubeClient } from '@kube-semaphore/kube-client';
import packageJson from '../../package.json' with { type: 'json' };
import { connectionOf } from './access.ts';
import type { Context } from './contexts.ts';

/** The client that the apps use, with the connection of a context. */
export async function kubeClientOf(context: Context): Promise<KubeClient> {
  return new KubeClient({
    userAgent: `semaphore/${packageJson.version}`,
    connection: await connectionOf(context),
  });
}
