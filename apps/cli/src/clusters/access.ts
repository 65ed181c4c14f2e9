import { connect, type Connection } from '@kube-semaphore/cluster-auth';
import { Secrets } from '@kube-semaphore/text';
import type { Context } from './contexts.ts';

/** Of each context that was asked for something. */
const opened = new WeakMap<Context['reference'], { readonly secrets: Secrets; connection?: Promise<Connection> }>();

function openedOf({ reference }: Pick<Context, 'reference'>) {
  const known = opened.get(reference) ?? { secrets: new Secrets() };
  opened.set(reference, known);
  return known;
}

/**
 * The connection of a context, the same for all requests. A file that it needs may come later, so a failure isn't kept.
 *
 * @throws {ClusterAuthError} if a certificate, a token's file or a proxy can't be used
 */
export async function connectionOf(context: Pick<Context, 'reference'>): Promise<Connection> {
  const own = openedOf(context);
  const options = { env: process.env, log: { info: () => {}, warn: () => {} }, secrets: own.secrets };
  own.connection ??= connect(context.reference, options);
  try {
    return await own.connection;
  } catch (error) {
    delete own.connection;
    throw error;
  }
}

/** The credentials that were sent to a context, to strip them from what it answers. */
export const secretsOf = (context: Pick<Context, 'reference'>): Secrets => openedOf(context).secrets;
